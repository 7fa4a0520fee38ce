#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian 12 packages that are missing for the sets named on the command line (build,
# test, interop, check, packages, fuzz, modern), and nothing else. When nothing is missing it only
# asks dpkg, so every make target can afford to call it. On a system without dpkg it says what is
# needed and goes on. With modern, a cargo that is there fetches the crates of iceoryx2.
set -euo pipefail

declare -A sets=(
    [build]="g++ cmake ninja-build make git ccache python3 libcli11-dev libfmt-dev
             libsqlite3-dev libpq-dev libssl-dev nlohmann-json3-dev libtomlplusplus-dev gnuplot-nox
             libcpp-httplib-dev libnats-dev pkg-config"
    [test]="clang-16 lld-16 libgtest-dev libbenchmark-dev omniorb omniorb-nameserver omniidl
            omniorb-idl libomniorb4-dev omniorb-doc tshark valgrind strace util-linux
            iproute2 man-db nats-server"
    [interop]="default-jdk-headless maven postgresql pkg-config libglib2.0-dev qtbase5-dev
             clang-16 lld-16 libclang-rt-16-dev tango-test python3-tango chromium omnievents"
    [check]="clang-format-16 clang-tidy-16 python3"
    [packages]="lintian debootstrap dpkg-dev file man-db iproute2 systemd omniidl libomniorb4-dev"
    [fuzz]="clang-16 libclang-rt-16-dev lld-16 llvm-16"
    [modern]="libzeroc-ice-dev zeroc-ice-compilers libgrpc++-dev protobuf-compiler-grpc
             protobuf-compiler libprotobuf-dev libcapnp-dev capnproto libthrift-dev
             thrift-compiler libboost-dev libzmq3-dev cppzmq-dev cyclonedds-dev
             cyclonedds-tools libomniorb4-dev omniidl binutils"
)

if [ $# -eq 0 ]; then
    echo "usage: tools/install-packages.sh build|test|interop|check|packages|fuzz|modern …" >&2
    exit 2
fi

wanted=()
for set in "$@"; do
    if [ -z "${sets[$set]:-}" ]; then
        echo "install-packages: unknown set '$set' (known: ${!sets[*]})" >&2
        exit 2
    fi
    # shellcheck disable=SC2206  # the words of the set are the packages
    wanted+=(${sets[$set]})
done

# Debian has no iceoryx2. It is measured where somebody has a cargo that is new enough for it.
fetch_crates() {
    PATH=$PATH:$HOME/.cargo/bin
    local manifest
    manifest=$(dirname "$0")/../bench/modern/iceoryx2/Cargo.toml
    if ! command -v cargo >/dev/null; then
        echo "install-packages: no cargo: 'kairos bench modern' will not have iceoryx2" >&2
    elif ! cargo fetch --quiet --locked --offline --manifest-path "$manifest" 2>/dev/null; then
        cargo fetch --locked --manifest-path "$manifest" ||
            echo "install-packages: 'kairos bench modern' will not have iceoryx2" >&2
    fi
}
case " $* " in
*" modern "*) fetch_crates ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "install-packages: not a Debian system; these are needed: ${wanted[*]}" >&2
    exit 0
fi

# dpkg-query lists what it knows and fails for what it does not; only the list matters.
format='${Package}=${db:Status-Status}\n'
installed=" $({ dpkg-query -W -f "$format" "${wanted[@]}" 2>/dev/null || true; } |
    sed -n 's/=installed$//p' | tr '\n' ' ') "
missing=()
for package in "${wanted[@]}"; do
    case "$installed" in
    *" $package "*) ;;
    *) missing+=("$package") ;;
    esac
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "install-packages: as root, run: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "installing: ${missing[*]}"
# tshark asks whether ordinary users may capture; the answer no is what we want.
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
"${apt[@]}" update </dev/null
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null
