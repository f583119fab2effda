#!/usr/bin/env bash
# stress_gc.sh STILLPOINT CHECK_JSON -- `stress gc` runs and checks, says how to run it again, and
# its control fails and says why.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
sp=$1 check=$2
json=$scratch/result.json
collector_moves=yes # no: the control is left out

# more_than_0 NAME...: these numbers of the JSON
more_than_0() {
    run "$check" "$json" "$@"
    expect_code 0
    expect_true "one of these is 0: $*" [ "$(grep -cE '^[1-9][0-9]*$' "$scratch/out")" = $# ]
}

run "$sp" stress gc --seed 7 --seconds 2 --json "$json"
expect_code 0
expect_out "Again: stillpoint stress gc --seed 7 --seconds 2 --threads 4 "
expect_out "-XX:MaxHeapSize=16m -XX:InitialHeapSize=1m -XX:G1HeapRegionSize=64k"
expect_out "collections"
run "$check" "$json" name=gc seed=7 threads=4 failures=0 failure= ok=true
expect_code 0
more_than_0 checks actions stops
[ "$collector_moves" = yes ] && more_than_0 collections

# One thread and many; a small heap; one that nobody collects.  What the command line says of the
# heap stands.
run "$sp" stress gc --threads 1 --seconds 0.3
expect_code 0
run "$sp" stress gc --threads 24 --seconds 0.3 -Xmx2m
expect_code 0
expect_out "--threads 24 -XX:MaxHeapSize=2m "
run "$sp" stress gc --seconds 1 --seed 4 -Xmx2m -XX:+UseEpsilonGC --json "$json"
expect_code 0
expect_out "-XX:MaxHeapSize=2m -XX:InitialHeapSize=1m -XX:G1HeapRegionSize=256k -XX:+UseEpsilonGC"
run "$check" "$json" collections=0 failures=0 ok=true
expect_code 0
more_than_0 out_of_heap
run "$sp" stress gc --seconds 0.0001
expect_code 0

if [ "$collector_moves" = yes ]; then
    run "$sp" stress gc --seconds 0.5 -XX:+FullGCMovesAll -XX:GCStressInterval=100 \
        -XX:+VerifyAfterGC
    expect_code 0

    # The control: an address from before a collection is found out, whichever the seed.
    for seed in 1 2 3; do
        run "$sp" stress gc --program forgotten-root --seed $seed --seconds 20 --json "$json"
        expect_code 75
        expect_err "stillpoint stress: gc: worker 0: object "
        expect_err "it is in two places"
        expect_out "stress gc --program forgotten-root --seed $seed"
        run "$check" "$json" ok=false
        expect_code 0
    done
fi

run "$sp" stress --list
expect_code 0
expect_out "gc           graphs of objects"

refuse 64 "--program unlocked: for gc there are forgotten-root" \
    "$sp" stress gc --program unlocked
refuse 64 "--program forgotten-root: for guest there are " \
    "$sp" stress guest --program forgotten-root
refuse 64 "--threads 65: gc has 64 at most" "$sp" stress gc --threads 65
refuse 64 "unknown name gcc" "$sp" stress gcc
refuse 64 "--seconds 0" "$sp" stress gc --seconds 0

finish
