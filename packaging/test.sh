#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `make packages-test`: installs the packages of build/packages into a pristine Debian 12, made by
# debootstrap in a scratch folder from the mirror that this machine's apt uses; builds and runs
# README's hello there, runs the tools and the name server, and removes all again. As root.
#
# It takes minutes, so CI runs it only if `packaging/test.sh --changed` succeeds: when what packages
# are made by is not what packaging/tested has the digest of. A run that passes writes that file;
# it is committed with the change.
set -euo pipefail
cd "$(dirname "$0")/.."
suite=bookworm

digest() {
    find packaging cmake/Kairos{Config,Idl,Library,Package,Packages}.* cmake/kairos.pc.in \
        examples/hello -type f ! -path packaging/tested ! -name '*.pyc' -print0 | LC_ALL=C sort -z |
        xargs -0 sha256sum | sha256sum | cut -d' ' -f1
}
case "${1:-}" in
--changed)
    [ "$(digest)" != "$(cat packaging/tested 2>/dev/null)" ]
    exit
    ;;
"")
    # What is mounted and what is started ends with the script, whatever becomes of it.
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    mkdir -p build
    tree=$(mktemp -d "$PWD/build/pristine.XXXXXX")
    status=0
    "${as_root[@]}" unshare --mount --pid --fork --kill-child "$PWD/packaging/test.sh" \
        --in "$tree" || status=$?
    "${as_root[@]}" rm -rf --one-file-system "$tree"
    [ "$status" -eq 0 ] && digest >packaging/tested
    exit "$status"
    ;;
--in) tree=$2 ;;
*)
    echo "usage: packaging/test.sh [--changed]" >&2
    exit 2
    ;;
esac

passed=0
check() { # check WHAT command…: stops at the first that fails, and says which
    local what=$1 log=$tree/packages/check.log
    shift
    if ! "$@" >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "FAILED  $what"
        echo "check: $passed passed, 1 failed"
        exit 1
    fi
    passed=$((passed + 1))
    echo "ok      $what ($SECONDS s)"
}
in_tree() { chroot "$tree" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"; }
# Nothing that runs in there meets the machine's network, nor its ports.
inside() { unshare --net sh -c 'ip link set lo up && exec "$@"' sh \
    chroot "$tree" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    /bin/bash /packages/inside.sh "$@"; }

packages=(build/packages/packages/*.deb)
[ -f "${packages[0]}" ] || {
    echo "packaging/test.sh: there are no packages: make packages" >&2
    exit 1
}
names() { for package in "${packages[@]}"; do dpkg-deb --field "$package" Package; done; }
runtime=$(names | grep -x 'libkairos[0-9.]*')

# ---- a pristine Debian ------------------------------------------------------------------------

# apt's own words for where this machine gets Debian from: one "URI suite" for each.
mapfile -t mirrors < <(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' \
    'Created-By: Packages' 'Origin: Debian' 'Component: main' | sort -u | grep " $suite\\b")
main=$(printf '%s\n' "${mirrors[@]}" | sed -n "s/ $suite\$//p" | head -n 1)
http_proxy=$(apt-config shell proxy Acquire::http::Proxy | sed "s/^proxy='\\(.*\\)'\$/\\1/")
[ -n "$http_proxy" ] && export http_proxy
[ -n "$main" ] || {
    echo "packaging/test.sh: apt knows no mirror of Debian's $suite" >&2
    exit 1
}
chmod 755 "$tree" # others than root live there, too
mkdir "$tree/packages"
check "debootstrap" debootstrap --variant=minbase "$suite" "$tree" "$main"
printf 'deb %s main\n' "${mirrors[@]}" >"$tree/etc/apt/sources.list"
apt-config dump Acquire::http::Proxy Acquire::https::Proxy >"$tree/etc/apt/apt.conf.d/00host" ||
    true
cp /etc/resolv.conf /etc/hosts "$tree/etc/"
mount -t proc proc "$tree/proc"
cp "${packages[@]}" packaging/inside.sh "$tree/packages/"

# ---- install, use, remove ---------------------------------------------------------------------

debs=("${packages[@]/#*\//\/packages\/}")
apt=(apt-get -qq -y --no-install-recommends)
check "apt-get update" in_tree "${apt[@]}" update
check "compiler and CMake" in_tree "${apt[@]}" install g++ cmake make pkg-config man-db systemd
# What is there without Kairos, to be compared with what is there after it was removed: all but the
# books of apt and dpkg, and the copies that adduser makes of what it changes.
present() { (cd "$tree" && find . -xdev \( -path ./proc -o -path ./packages -o -path ./tmp \
    -o -path ./run -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache \
    -o -path ./var/log -o -path './etc/*-' \) -prune -o -print | LC_ALL=C sort); }
needed() { in_tree "${apt[@]}" -s install "${debs[@]}" | sed -n 's/^Inst \([^ ]*\) .*/\1/p' |
    grep -vxF "$(names)"; }
mapfile -t dependencies < <(needed)
check "what Kairos needs of Debian" in_tree "${apt[@]}" install "${dependencies[@]}" adduser
present >"$tree/packages/before"
check "install: dpkg -i" in_tree dpkg -i "${debs[@]}"
check "nothing is broken: apt-get check" in_tree apt-get -qq check
check "debsums: md5sums are right" in_tree sh -c \
    'cd / && for sums in /var/lib/dpkg/info/*kairos*.md5sums; do md5sum --quiet -c "$sums"; done'
check "kairos-idl and kairos run" inside programs
check "manual pages" inside manual
check "hello by CMake" inside hello_by_cmake
check "what a server has in memory" inside footprint
check "hello by pkg-config" inside hello_by_pkg_config
check "hello by CMake, static" inside hello_static
check "name server, as its own user" inside name_server
check "unit: systemd-analyze verify" inside unit
check "install again: an upgrade" in_tree dpkg -i "${debs[@]}"
mapfile -t others < <(names | grep -vx "$runtime")
check "purge all but $runtime" in_tree dpkg --purge "${others[@]}"
check "hello without the rest" inside run_hello /packages/cmake
check "purge $runtime" in_tree dpkg --purge "$runtime"
present >"$tree/packages/after"
check "nothing is left" diff "$tree/packages/before" "$tree/packages/after"
check "no user is left" in_tree sh -c '! grep kairos /etc/passwd /etc/group /etc/shadow'
echo "check: $passed passed, 0 failed"
