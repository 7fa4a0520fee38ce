#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#     by_clang.sh LAUNCHER CLANG COMPILER OPTION…
#
# A compiler launcher: has CLANG compile what the build tree's COMPILER (a g++) was asked to, by
# LAUNCHER (ccache, or env). Its -Wconversion and -Wshadow mean no more than g++'s, and valgrind
# reads what it says to debuggers.
launcher=$1 clang=$2
shift 3
case " $* " in
*" -x c++-header "*)
    # A header that was precompiled before would be read instead of the header.
    output=
    for argument; do
        [ "$output" = -o ] && rm -f -- "$argument"
        output=$argument
    done
    ;;
esac
exec "$launcher" "$clang" "$@" -Wno-sign-conversion -Wno-shadow -gdwarf-4
