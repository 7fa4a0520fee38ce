#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What `make demo` runs: the release build, then the experiments in their quick form (in full with
# --full, as `make bench` asks for). Tables appear here; JSON and pictures are left in out/.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=(--quick)
if [ "${1:-}" = --full ]; then
    quick=()
elif [ $# -gt 0 ]; then
    echo "usage: tools/demo.sh [--full]" >&2
    exit 2
fi

mkdir -p build out
kairos=build/release/bin/kairos

show() { printf '\n== %s\n' "$*"; }

# Once it takes minutes. On a terminal ninja says how far it is; elsewhere only errors are shown.
build() {
    local log=build/demo-build.log
    if [ -t 1 ]; then
        cmake --workflow --preset release
    elif ! cmake --workflow --preset release >"$log" 2>&1; then
        cat "$log"
        return 1
    fi
}

# run TITLE EXPERIMENT [OPTION…]: its table here, the rest in out/EXPERIMENT.…
run() { run_into "$2" "$@"; }

# run_into NAME TITLE EXPERIMENT [OPTION…]: the same with the rest in out/NAME.…
run_into() {
    local name=$1 title=$2 experiment=$3
    shift 3
    show "$title"
    "$kairos" bench "$experiment" "$@" --json "out/$name.json" --plot "out/$name.svg"
}

show "Building (minutes, the first time)"
build
run "Latency of calls, beside raw sockets and other ORBs in the same run" latency "${quick[@]}"
run_into latency-one-cpu "The same with both processes on one CPU" latency --pin same "${quick[@]}"
run "Throughput by buffer size and payload (TTCP)" ttcp "${quick[@]}"
show "What one call costs: allocations, locks, system calls, instructions"
"$kairos" bench counters --json out/counters.json
run "Param_Test: compiled and interpretive stubs, calls and marshalling alone" param "${quick[@]}"
run "Marshalling sequences beside memcpy" marshal "${quick[@]}"
if [ ${#quick[@]} -eq 0 ]; then # each takes minutes
    run "Calls within one host: Unix sockets and shared memory" local
    run "How large stubs, skeletons and minimal programs are" footprint
    run "Finding objects and operations, alone and in calls" demux
    run "Resolving names, beside null calls of the same server" naming
    run "What a null call costs, by architecture" whitebox
    # By themselves these two take an hour, and a night for all systems under all loads of paper 003
    # with its 4,000 calls each. Here they are what their bars need.
    run "Calls of many clients, by architecture" concurrency --rounds 3 --threads 1,4,16,64,1000
    systems=raw,raw-realtime,reactor-per-priority,reactor-per-priority-each,worker-pool
    run "A client of high priority among others" priority --calls 400 --low 50 --flooding 20,50 \
        --peers "$systems,thread-per-connection,omniorb"
fi

show "Where it is"
for file in out/*.svg out/*.json; do
    [ -f "$file" ] && echo "  $PWD/$file"
done
