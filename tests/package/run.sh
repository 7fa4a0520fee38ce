#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The ctest `package`: installs the build tree into a prefix of its own, moves that prefix (an
# install tree must not remember where it was), and builds and runs examples/hello and
# examples/dynamic against it, outside both trees.
# Arguments: cmake, build tree, C++ compiler, build type, sanitizers (empty for none).
set -euo pipefail

cmake=$1
build=$2
compiler=$3
build_type=$4
sanitizers=$5
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" 2>/dev/null; } || true
    rm -rf "$work"
}
trap finish EXIT
say() { echo "package: $*"; }

say "installing"
"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log" || {
    cat "$work/install.log"
    exit 1
}
mv "$work/first" "$work/prefix"

# A library built with sanitizers needs them in the program that links it.
flags=${sanitizers:+-fsanitize=$sanitizers}
build_example() { # build_example NAME: into $work/NAME
    say "configuring and building examples/$1"
    cp -r "$here/../../examples/$1" "$work/$1-source"
    if ! { "$cmake" -S "$work/$1-source" -B "$work/$1" -G Ninja \
        -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" \
        -DCMAKE_BUILD_TYPE="$build_type" -DCMAKE_CXX_FLAGS="$flags" &&
        "$cmake" --build "$work/$1"; } >"$work/build.log" 2>&1; then
        cat "$work/build.log"
        exit 1
    fi
}
build_example hello
build_example dynamic
# Nothing may have come from our trees.
if grep -rlF -e "$build/" -e "$(dirname "$(dirname "$here")")/kairos" "$work/prefix/lib/cmake" \
    "$work/prefix/include" 2>/dev/null; then
    say "FAILED: these installed files name the build or source tree"
    exit 1
fi

say "running"
mkfifo "$work/reference"
"$work/hello/hello_server" -ORBListenEndpoints iiop://127.0.0.1 >"$work/reference" &
server=$!
# The open returns when the server has opened its end too; the read ends when it says so or dies.
read -r reference <"$work/reference" || reference="nothing: the server ended"
for client in hello/hello_client dynamic/dynamic_client; do
    greeting=$("$work/$client" "$reference") || greeting="nothing: the client failed"
    [ "$greeting" = "Hello, world!" ] || {
        say "FAILED: the server said '$reference', $client '$greeting'"
        exit 1
    }
done
say "ok"
