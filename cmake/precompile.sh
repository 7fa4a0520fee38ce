#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#     precompile.sh LAUNCHER CLANG OPTION…
#
# A compiler launcher: has LAUNCHER (ccache, or env) compile by CLANG, and looks at headers that
# were precompiled. What a cache has kept of a build tree names that tree's files, and is of no use
# to another one when they are gone: then CLANG precompiles the header itself.
launcher=$1
shift
output=
case " $* " in
*" -x c++-header "*)
    before=
    for argument; do
        [ "$before" = -o ] && output=$argument
        before=$argument
    done
    # One of before would be read instead of the header.
    rm -f -- "$output"
    ;;
esac
[ "$output" ] || exec "$launcher" "$@"
"$launcher" "$@" || exit
"$1" -std=c++20 -Xclang -fno-validate-pch -include-pch "$output" -x c++ -fsyntax-only /dev/null \
    2>/dev/null && exit
rm -f -- "$output"
exec "$@"
