#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What `make demo` runs: the release build, then what the figures that matter need, two minutes of
# measuring; with --full, as `make bench` asks for, every experiment in full. One line says of each
# what it does and how long it took; tables, figures and pictures are left in out/. The end is one
# screen, and the same with everything else as a page: out/index.html.
set -euo pipefail
cd "$(dirname "$0")/.."

full=false
if [ "${1:-}" = --full ]; then
    full=true
elif [ $# -gt 0 ]; then
    echo "usage: tools/demo.sh [--full]" >&2
    exit 2
fi

mkdir -p build out
kairos=build/release/bin/kairos

# Once it takes minutes. On a terminal ninja says how far it is; elsewhere only errors are shown.
build() {
    local log=build/demo-build.log
    echo "Building the release (minutes, the first time)"
    if [ -t 1 ]; then
        build_release
    elif ! build_release >"$log" 2>&1; then
        cat "$log"
        return 1
    fi
}

# What is not measured is not built, either: a tenth of the time.
build_release() {
    if "$full"; then
        cmake --workflow --preset release
    else
        cmake --preset release &&
            cmake --build --preset release --target kairos kairos_demo_programs mib_agent
    fi
}

# measure EXPERIMENT [OPTION…]: what it finds goes into out/EXPERIMENT.…
measure() { measure_into "$1" "$@"; }

# measure_into NAME EXPERIMENT [OPTION…]: the same into out/NAME.…
measure_into() {
    local name=$1
    shift
    "$kairos" bench "$@" --into "out/$name"
}

# Few systems, types and sizes, but as many rounds as medians want.
measure_what_matters() {
    local systems=(--peers raw,kairos,omniorb)
    local calls=("${systems[@]}" --rounds 41 --calls 200 --types octet,BinStruct --units 1,32,1024)
    measure latency "${calls[@]}"
    measure_into latency-one-cpu latency --pin same "${calls[@]}"
    measure ttcp "${systems[@]}" --rounds 12 --megabytes 192 --queue default --buffers 8K,64K \
        --types octet,BinStruct,string32 --directions oneway
    measure counters "${systems[@]}" --quick
    measure interceptors --quick
    measure gateway --quick
}

measure_everything() {
    # Other systems' programs take longer to compile than what `make demo` measures to run.
    cmake --build build/release --target kairos_bench_modern_programs >build/modern-build.log
    measure latency
    measure_into latency-one-cpu latency --pin same
    measure ttcp
    measure counters
    measure interceptors
    measure gateway
    measure asynchronous
    measure events
    measure tls
    measure modern
    measure param
    measure marshal
    measure local
    measure spinning
    measure footprint
    measure demux
    measure naming
    measure whitebox
    # By themselves these two take an hour, and a night for all systems under all loads of paper 003
    # with its 4,000 calls each. Here they are what their bars need.
    measure concurrency --rounds 3 --threads 1,4,16,64,1000
    local systems=raw,raw-realtime,reactor-per-priority,reactor-per-priority-each,worker-pool
    measure priority --calls 400 --low 50 --flooding 20,50 \
        --peers "$systems,thread-per-connection,omniorb"
}

# The page of `kairos browse`, if there is a browser: seconds.
take_picture() {
    command -v chromium >/dev/null || return 0
    echo "The page of kairos browse: out/browse.png"
    python3 tests/browse/page_test.py --picture out/browse.png "$kairos" \
        build/release/examples/mib/mib_agent || echo "    without: the browser did not show it"
}

build
echo
if "$full"; then
    echo "Measuring everything (hours); nothing else should run meanwhile"
    measure_everything
else
    echo "Measuring what matters (two minutes); nothing else should run meanwhile"
    measure_what_matters
fi
take_picture
echo
"$kairos" report out
