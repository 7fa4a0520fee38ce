#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What `make check` runs: clang-format, tidy.py, every public header compiled alone, clang-tidy over
# the library and the compiler. All parts run even when one fails; the last line says how many did.
# With --format it applies clang-format instead and checks nothing; --list prints the files that it
# would look at.
set -uo pipefail
cd "$(dirname "$0")/.."

# In a source archive there is no git to ask. --others: a file not yet committed is held to the same
# rules.
all_files() {
    if [ -e .git ]; then
        git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cpp' '*.hh' '*.cc'
    else
        find . \( -path ./build -o -path './build-*' -o -path ./out -o -path ./dist \) -prune -o \
            -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.hh' -o -name '*.cc' \) \
            -printf '%P\0'
    fi
}

cxx_files() {
    all_files |
        while IFS= read -r -d '' file; do
            case "$file" in
            fuzz/corpus/* | */golden/*) ;;
            *) [ -f "$file" ] && printf '%s\0' "$file" ;;
            esac
        done
}

if [ "${1:-}" = --format ]; then
    cxx_files | xargs -0 -r clang-format-16 -i
    exit
elif [ "${1:-}" = --list ]; then
    cxx_files | tr '\0' '\n'
    exit
elif [ $# -gt 0 ]; then
    echo "usage: tools/check.sh [--format | --list]" >&2
    exit 2
fi

jobs=${JOBS:-$(nproc)}
passed=0
failed=0
part() { # part NAME command…
    local name=$1 start=$SECONDS
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok      $name ($((SECONDS - start)) s)"
    else
        failed=$((failed + 1))
        echo "FAILED  $name ($((SECONDS - start)) s)"
    fi
}

check_format() { cxx_files | xargs -0 -r clang-format-16 --dry-run -Werror; }

# A header set that leans on generated headers needs the generators built first: the preset's build
# knows, so it is asked for the whole target rather than file by file.
check_headers() {
    local log=build/check-headers.log
    mkdir -p build
    cmake --workflow --preset headers >"$log" 2>&1 && return
    cat "$log"
    return 1
}

# g++ wrote the compile commands; clang must not trip over the warnings only g++ knows.
check_clang_tidy() { tools/clang_tidy.py --build build/dev --jobs "$jobs"; }

part format check_format
part tidy tools/tidy.py
part headers check_headers
part clang-tidy check_clang_tidy

echo "check: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
