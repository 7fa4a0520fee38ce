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
set -- "$clang" "$@" -Wno-sign-conversion -Wno-shadow -gdwarf-4
case " $* " in
*" -x c++-header "*)
    exec "${0%/*}/precompile.sh" "$launcher" "$@"
    ;;
esac
exec "$launcher" "$@"
