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
if ! cmake --workflow --preset release >build/demo-build.log 2>&1; then
    cat build/demo-build.log
    exit 1
fi
kairos=build/release/bin/kairos

show() { printf '\n== %s\n' "$*"; }

show "Latency of calls, beside raw sockets and other ORBs in the same run"
"$kairos" bench latency "${quick[@]}" --json out/latency.json --plot out/latency.svg
show "Throughput by buffer size and payload (TTCP)"
"$kairos" bench ttcp "${quick[@]}" --json out/ttcp.json --plot out/ttcp.svg
show "What one call costs: allocations, locks, system calls, instructions"
"$kairos" bench counters --json out/counters.json

show "Param_Test: compiled and interpretive stubs, calls and marshalling alone"
"$kairos" bench param "${quick[@]}" --json out/param.json --plot out/param.svg
show "Marshalling sequences beside memcpy"
"$kairos" bench marshal "${quick[@]}" --json out/marshal.json --plot out/marshal.svg
if [ ${#quick[@]} -eq 0 ]; then # it compiles for minutes
    show "How large stubs, skeletons and minimal programs are"
    "$kairos" bench footprint --json out/footprint.json --plot out/footprint.svg
fi

show "Where it is"
for file in out/*.svg out/*.json; do
    [ -f "$file" ] && echo "  $PWD/$file"
done
