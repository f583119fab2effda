#!/usr/bin/env bash
# stress_guest.sh STILLPOINT CHECK_JSON -- each program of `stress guest` runs and checks, its
# control fails and says why, and what the system refuses is no failed check.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
sp=$1 check=$2
json=$scratch/result.json

# --- each program, in a round so short that code and caches are cold --------------------------
for program in fields values caches sync strings prints hammer; do
    run "$sp" stress guest --program "$program" --seed 7 --seconds 0.15 --json "$json"
    expect_code 0
    expect_out "--program $program --seed 7"
    run "$check" "$json" name=guest threads=8 failures=0 ok=true
    expect_code 0
    run "$check" "$json" checks rounds
    expect_true "no checks" [ "$(grep -cE '^[1-9][0-9]*$' "$scratch/out")" = 2 ]
done

# Rounds that are over before they begin, more and fewer threads than fields' names, a seed that
# is no number to count with.
run "$sp" stress guest --program values --seconds 0.0001
expect_code 0
run "$sp" stress guest --program fields --threads 11 --seconds 0.1
expect_code 0
run "$sp" stress guest --program fields --threads 1 --seconds 0.1
expect_code 0
run "$sp" stress guest --program caches --seed 18446744073709551615 --seconds 0.1
expect_code 0

# --- the control: without the lock updates are lost, and the command says so -------------------
run "$sp" stress guest --program unlocked --seed 3 --seconds 0.3 --json "$json"
expect_code 75
expect_err "stillpoint stress: guest: unlocked, seed 3: "
expect_err "it said: updates were lost"
run "$check" "$json" failures=1 ok=false
expect_code 0

# --- a heap that is too small, a system that refuses, a killed child: nothing was found out ------
run "$sp" stress guest --program strings --seconds 1.5 -Xmx2m -XX:+UseEpsilonGC
expect_code 74
expect_err "strings, seed 1: OutOfMemory: "
if ! grep -q sanitizer <("$sp" --version); then
    (
        ulimit -v 2500000
        exec "$sp" stress guest --seconds 1
    ) >"$scratch/out" 2>"$scratch/err"
    code=$? last="stress guest with 2.5 GB of address space"
    expect_code 74
    expect_err "cannot reserve 3G"
fi
"$sp" stress guest --program hammer --seconds 20 >"$scratch/out" 2>"$scratch/err" &
pid=$! last="stress guest and a killed child" child=
for _ in $(seq 100); do
    read -r child _ <"/proc/$pid/task/$pid/children" # without a newline at its end: fails
    [ -n "$child" ] && break
    sleep 0.05
done
kill -KILL "$child"
wait "$pid"
code=$?
expect_code 74
expect_err "ended by signal 9"

refuse 64 "unlocked" "$sp" stress guest --program unloked
refuse 64 "--program is for guest" "$sp" stress protocol --program fields

finish
