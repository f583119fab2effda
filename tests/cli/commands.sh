#!/usr/bin/env bash
# commands.sh STILLPOINT CHECK_JSON -- stress and bench, shortly, so that they cannot rot.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
sp=$1 check=$2
json=$scratch/result.json

run "$sp" stress protocol --seed 42 --seconds 3 --json "$json"
expect_code 0
expect_out "--seed 42"
run "$check" "$json" schema=stillpoint-stress-1 seed=42 failures=0 ok=true
expect_code 0
run "$check" "$json" stops attaches transitions checks
expect_true "stress did nothing" [ "$(grep -cE '^[1-9][0-9]*$' "$scratch/out")" = 4 ]
refuse 64 "protocol" "$sp" stress protocl
refuse 64 "--seconds" "$sp" stress protocol --seconds none

run "$sp" stress protocol --seconds 0.5 -Xlog:safepoint:file=/dev/full
expect_code 74
expect_err "lines are lost"

run "$sp" bench --quick --json "$json"
expect_code 0
expect_out "a quarter of the rounds"
run "$check" "$json" schema=stillpoint-bench-1
expect_code 0
run "$check" "$json" results.0.name results.0.unit results.0.median results.0.min results.0.max \
    results.0.reps results.0.baseline results.0.ratio
expect_true "a key is missing in a result" [ "$(grep -cF '(missing)' "$scratch/out")" = 0 ]
refuse 64 "did you mean" "$sp" bench pol
refuse 64 "contradicts" "$sp" bench -XX:SafepointPoll=global poll

finish
