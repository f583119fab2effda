#!/usr/bin/env bash
# explain.sh STILLPOINT CHECK_JSON -- one stop told: its steps follow the protocol, and the ledger
# says the same.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
sp=$1 check=$2
json=$scratch/result.json

# order FILE: the told steps, one a line, in the order of time
order() { sed -n 's/^ *[0-9.]*[nmu]*s  *//p' "$1" | sed 's/ *$//'; }

# --- three threads -----------------------------------------------------------------------
run "$sp" explain --seconds 0.6 --json "$json"
expect_code 0
expect_true "a line is over 100 columns" [ -z "$(awk 'length > 100' "$scratch/out")" ]
expect_out "3 threads met, 2 of them running"
expect_out "Rings and ledger agree to the nanosecond in"
for step in "begins" "arms: epoch odd" "sees main: blocked" "has looked at all" "poll fires" \
    "arrives" "is the last" "waits at the gate" "notices: all here" "operation begins" \
    "operation ends" "releases: epoch even" "has woken" "awake" "resumes"; do
    expect_out "$step"
done
expect_true "main, which is safe, arrives" [ -z "$(awk '/^ *[0-9.]+[num]?s  / && substr($0, 32, 22) ~ /arrives/' "$scratch/out")" ]
order "$scratch/out" >"$scratch/steps"
# rises WORD...: the first lines with these words come in this order
rises() {
    local word line last=0
    for word in "$@"; do
        line=$(grep -n -m 1 -F -- "$word" "$scratch/steps" | cut -d: -f1)
        [ -n "$line" ] && [ "$line" -gt "$last" ] || return 1
        last=$line
    done
}
expect_true "the steps are out of order" rises begins arms "has looked at all" "is the last" \
    "notices" "operation begins" "operation ends" "releases" "resumes"
expect_true "somebody resumes before the release" \
    [ "$(grep -n -m 1 resumes "$scratch/steps" | cut -d: -f1)" -gt "$(grep -n releases "$scratch/steps" | cut -d: -f1)" ]
run "$check" "$json" schema=stillpoint-explain-1 ok=true scenario=explain lost=0 left_out=0 \
    "threads=(3)" threads.0.name=main threads.0.state=blocked steps.0.step=BEGIN steps.0.ns=0 \
    steps.0.who=coordinator steps.1.step=ARMED
expect_code 0

# --- others: many threads, one in C, a file, the worst, the N-th ---------------------------
run "$sp" explain --seconds 0.3 crowd
expect_code 0
expect_out "more are left out"
run "$sp" explain --seconds 0.3 --worst c-blocked
expect_code 0
expect_out "the longest"
expect_out "64 threads met, 0 of them running"
run "$sp" explain --seconds 0.3 --stop 3 c-calm --json "$json"
expect_code 0
expect_out "Stop 3 of"
run "$check" "$json" stop=3 ok=true
expect_code 0
printf 'fun f() { while (true) {} }\nspawn(f);\n' >"$scratch/own.lox"
run "$sp" explain --seconds 0.3 "$scratch/own.lox"
expect_code 0
expect_out "of scenario own"

# --- what is wrong ---------------------------------------------------------------------------
refuse 64 "--stop 0: not a number from 1 to 256" "$sp" explain --stop 0
refuse 64 "are two different stops" "$sp" explain --stop 2 --worst
refuse 64 "one scenario at a time" "$sp" explain calm crowd
refuse 64 "unknown scenario clam, did you mean calm?" "$sp" explain clam
refuse 64 "there were" "$sp" explain --seconds 0.1 --stop 256 c-calm
refuse 64 "leaves nothing to tell" "$sp" explain -XX:+UnlockDiagnosticVMOptions -XX:-SafepointRecording
refuse 74 "cannot read nowhere.lox" "$sp" explain nowhere.lox

finish
