#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What packaging/test.sh does within the pristine Debian, a function for each check.
set -euo pipefail
work=/packages

fail() {
    echo "$*" >&2
    return 1
}

programs() {
    kairos-idl --version
    kairos --version
    kairos --help | grep naming
    kairos-idl --check /usr/share/kairos/idl/CosNaming.idl
}

manual() {
    local page
    for page in kairos kairos-idl kairos-naming kairos-names kairos-bench; do
        man -w "$page"
    done
    man kairos-naming | grep -e --store
    test -s /usr/share/bash-completion/completions/kairos
    test -s /usr/share/kairos/browse/index.html
    test -s /usr/share/bash-completion/completions/kairos-idl
}

# start_hello FOLDER: its server, as $server, and what it says, as $reference.
start_hello() {
    rm -f "$work/reference"
    mkfifo "$work/reference"
    "$1/hello_server" -ORBListenEndpoints iiop://127.0.0.1 >"$work/reference" &
    server=$!
    read -r reference <"$work/reference"
}

# run_hello FOLDER: its server and its client.
run_hello() {
    local server reference greeting
    start_hello "$1"
    greeting=$("$1/hello_client" "$reference")
    kill "$server"
    [ "$greeting" = "Hello, world!" ] || fail "the client says '$greeting'"
}

example=/usr/share/doc/libkairos-dev/examples/hello

hello_by_cmake() {
    cmake -S "$example" -B "$work/cmake" -DCMAKE_BUILD_TYPE=Release
    cmake --build "$work/cmake"
    run_hello "$work/cmake"
    ldd "$work/cmake/hello_server" | grep '/lib/.*/libkairos.so'
}

# What a minimal server maps of ours, and what of it is in memory when it is idle.
footprint() {
    local server reference library code resident
    library=$(ldd "$work/cmake/hello_server" | sed -n 's/.*libkairos.so.*=> \([^ ]*\).*/\1/p')
    code=$(size -A "$library" |
        awk '$1 == ".text" || $1 == ".rodata" { sum += $2 } END { print sum }')
    start_hello "$work/cmake"
    sleep 1
    resident=$(awk '/^[0-9a-f]+-/ { ours = /libkairos/ } /^Rss:/ && ours { sum += $2 }
        END { print sum }' "/proc/$server/smaps")
    kill "$server"
    echo "code and constants: $code octets; resident: $resident KiB"
    # 22,000 of these are for large blocks in shared memory, which no option leaves out.
    [ "$code" -le 1024000 ] || fail "too much code"
    [ "$resident" -le 1200 ] || fail "too much in memory"
}

# by_pkg_config FOLDER OPTION…
by_pkg_config() {
    local folder=$1 side
    shift
    mkdir -p "$folder"
    cd "$folder"
    kairos-idl -o . "$example/hello.idl"
    for side in server client; do
        # shellcheck disable=SC2046  # pkg-config prints words
        g++ -std=c++20 -o hello_$side -I. "$example/$side.cpp" hello.cpp hello_skel.cpp \
            $(pkg-config "$@" kairos)
    done
    run_hello "$folder"
}

hello_by_pkg_config() { by_pkg_config "$work/pkg-config" --cflags --libs; }

hello_static() {
    cmake -S "$example" -B "$work/static" -DCMAKE_BUILD_TYPE=Release -DKairos_STATIC=ON
    cmake --build "$work/static"
    run_hello "$work/static"
    ldd "$work/static/hello_server" >"$work/libraries"
    ! grep libkairos "$work/libraries"
}

# start_name_server: as the unit says, whose words for variables are the shell's; what systemd makes
# of StateDirectory is made here.
start_name_server() {
    local command
    command=$(sed -n 's/^ExecStart=//p' /lib/systemd/system/kairos-naming.service)
    install -d -m 750 -o kairos-naming -g kairos-naming /var/lib/kairos-naming
    rm -f "$work/root"
    mkfifo "$work/root"
    (
        # shellcheck source=/dev/null
        . /etc/default/kairos-naming
        eval exec setpriv --reuid=kairos-naming --regid=kairos-naming --init-groups \
            --no-new-privs "$command"
    ) >"$work/root" &
    name_server=$!
    read -r root <"$work/root"
}

name_server() {
    local names=(kairos names --service corbaloc::localhost/NameService)
    start_name_server
    [ "$(stat -c %U "/proc/$name_server")" = kairos-naming ] || fail "it runs as somebody else"
    "${names[@]}" bind -p dev/root "$root"
    kill -KILL "$name_server"
    wait "$name_server" || true
    start_name_server
    [ "$("${names[@]}" resolve dev/root)" = "$root" ] || fail "the name is gone, or another"
    kill -TERM "$name_server"
    wait "$name_server" || fail "it ended with status $?"
    [ -s /var/lib/kairos-naming/names ]
}

unit() {
    systemd-analyze verify kairos-naming.service 2>&1 | tee "$work/unit.log"
    [ ! -s "$work/unit.log" ]
    # Of 100, which is what a unit gets that is not hardened at all.
    systemd-analyze security --offline=yes --threshold=20 kairos-naming.service
}

"$@"
