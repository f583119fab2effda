#!/usr/bin/env bash
# ttsp.sh STILLPOINT CHECK_JSON -- stillpoint ttsp: the table, the JSON, the log, a ledger
# that is broken on purpose.  No absolute times: who is named, what adds up, what is there.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
sp=$1 check=$2
json=$scratch/result.json
# Under a sanitizer all is the same, only slower: shorter runs will do.
seconds=1 is_plain=yes
"$sp" --version | grep -q sanitizer && seconds=0.4 is_plain=no

# --- everything once, shortly -------------------------------------------------------
run "$sp" ttsp --seconds $seconds --every 10ms --seed 7 --json "$json"
expect_code 0
expect_out "last thread: what"
for name in calm blocked crowd storm counted-loop counted-loop-strip zero-whole zero-chunked; do
    expect_true "no row of $name" grep -q "^$name " "$scratch/out"
done
expect_true "a line is over 100 columns" [ -z "$(awk 'length > 100' "$scratch/out")" ]
run "$check" "$json" schema=stillpoint-ttsp-1 ok=true "scenarios=(8)" \
    scenarios.0.name=calm scenarios.0.source=lox scenarios.0.seed=7 scenarios.0.participants=2 \
    scenarios.1.participants=65 scenarios.0.program_ended=false \
    scenarios.0.focus=null scenarios.4.focus.kind="counted loop" scenarios.6.focus.kind=zero \
    scenarios.4.last_thread.0.thread=looper scenarios.6.last_thread.0.thread=zeroer \
    scenarios.6.last_thread.0.doing="zeroing a buffer" \
    scenarios.0.ttsp_ns.p999=null scenarios.0.negative_spans=0
expect_code 0
for k in 0 1 2 3 4 5 6 7; do
    run "$check" "$json" "scenarios.$k.self_check.ok=true" "scenarios.$k.self_check.spans_ok=true" \
        "scenarios.$k.self_check.lost_events=0"
    expect_code 0
    run "$check" "$json" "scenarios.$k.ttsp_ns.max" "scenarios.$k.stops" "scenarios.$k.cpus"
    expect_true "no maximum in scenario $k" grep -qE '^[0-9]+$' "$scratch/out"
    for key in prepare_ns lag_ns queued_ns cleanup_ns op_ns leave_ns wake_ns resume_ns total_ns \
        scheduled_ns missed by_look at_gate carried coalesced elided ungrouped; do
        run "$check" "$json" "scenarios.$k.$key"
        expect_true "no $key in scenario $k" [ "$(cat "$scratch/out")" != "(missing)" ]
    done
done
run "$check" "$json" scenarios.6.last_thread.0.example
expect_true "no bytes done/total, or no place" \
    grep -qE 'zeroing a buffer [0-9]+/268435456 bytes, at zeroer:[0-9]+' "$scratch/out"
run "$check" "$json" scenarios.4.last_thread.0.example
expect_true "no place of the loop" grep -qE 'in a counted loop without polls, at looper:11' "$scratch/out"

# --- the ones in C ---------------------------------------------------------------------
run "$sp" ttsp --seconds 0.5 --every 10ms --json "$json" c-calm c-blocked c-noloop c-zero-whole
expect_code 0
run "$check" "$json" ok=true "scenarios=(4)" scenarios.0.source=c scenarios.0.participants=1 \
    scenarios.1.participants=64 scenarios.1.self_check.arrivals=0 \
    scenarios.1.last_thread.0.thread=none "scenarios.1.last_thread=(1)" \
    scenarios.2.focus.kind="no-poll loop" scenarios.3.focus.kind=zero \
    scenarios.2.last_thread.0.thread=looper scenarios.3.last_thread.0.thread=zeroer \
    scenarios.3.flags=-XX:BulkPolicy=whole scenarios.3.last_thread.0.doing="zeroing a buffer"
expect_code 0

# --- every flag that changes the way of stopping -------------------------------------
for flag in -XX:SafepointPoll=global -XX:SafepointWait=sleep -XX:SafepointWait=spin \
    -XX:SafepointWake=all -XX:SafepointSpinMicros=0; do
    run "$sp" ttsp --seconds 0.3 "$flag" c-calm --json "$json"
    expect_code 0
    run "$check" "$json" ok=true "scenarios.0.flags=$flag" scenarios.0.self_check.ok=true
    expect_code 0
done

# --- the log: HotSpot's lines, in the file that was asked for -------------------------
run "$sp" ttsp --seconds 0.5 "-Xlog:safepoint*,gc+init:file=$scratch/stop.log:uptime,level,tags" c-calm
expect_code 0
line='^\[[0-9]+\.[0-9]{3}s\]\[info *\]\[safepoint *\] Safepoint "ForceSafepoint", Time since last: [0-9]+ ns, Reaching safepoint: [0-9]+ ns, At safepoint: [0-9]+ ns, Leaving safepoint: [0-9]+ ns, Total: [0-9]+ ns, Threads: 1 runnable, 1 total$'
expect_true "no safepoint lines" [ "$(grep -cE "$line" "$scratch/stop.log")" -ge 20 ]
expect_true "no version line" grep -qE '\[gc,init *\] Version: 25\.' "$scratch/stop.log"
expect_true "no table" grep -qE '\[safepoint,stats *\] ForceSafepoint  ' "$scratch/stop.log"
expect_true "no percentiles at exit" grep -qE 'ttsp +p50 [0-9]+ ns' "$scratch/stop.log"

# --- a ledger broken on purpose: 75, the JSON is written and says so ------------------
for fault in lost-arrival bad-span hist-count; do
    run "$sp" ttsp --seconds 0.5 --json "$json" -XX:+UnlockDiagnosticVMOptions \
        "-XX:InjectLedgerFault=$fault" c-calm
    expect_code 75
    expect_err "self-check failed"
    expect_out "c-calm FAILED: self-check failed"
    expect_true "a line is over 100 columns" [ -z "$(awk 'length > 100' "$scratch/out")" ]
    run "$check" "$json" ok=false scenarios.0.self_check.ok=false
    expect_code 0
done

# --- a delay in one stage shows there --------------------------------------------------
run "$sp" ttsp --seconds 1 --every 40ms --json "$json" -XX:+UnlockDiagnosticVMOptions \
    -XX:InjectDelay=operation:10 c-calm
expect_code 0
run "$check" "$json" scenarios.0.op_ns.p50
expect_true "the operation is not 10 ms long" [ "$(cat "$scratch/out")" -ge 10000000 ]

# --- every instant before the end is answered once, none after it -----------------------
run "$sp" ttsp --seconds 0.5 --every 10ms --json "$json" -XX:+UnlockDiagnosticVMOptions \
    -XX:InjectDelay=operation:200 c-blocked
expect_code 0
expect_out "together with a later one"
stops=$("$check" "$json" scenarios.0.stops) missed=$("$check" "$json" scenarios.0.missed)
expect_true "$stops stops and $missed missed are not 49 instants" [ "$((stops + missed))" = 49 ]

# --- what waits long, but for nothing that hangs, is left alone ---------------------------
if [ $is_plain = yes ]; then
    run "$sp" ttsp --seconds 13 --every 12s c-blocked
    expect_code 0
fi

# --- an inherited SIGCHLD that is ignored -------------------------------------------------
if env --ignore-signal=CHLD true 2>/dev/null; then
    run env --ignore-signal=CHLD "$sp" ttsp --seconds 0.3 c-calm
    expect_code 0
fi

# --- results that cannot be written after all ------------------------------------------
run "$sp" ttsp --seconds 0.3 --json /dev/full c-calm
expect_code 74
expect_err "/dev/full"
run "$sp" ttsp --seconds 0.3 -Xlog:safepoint:file=/dev/full --json "$json" c-calm
expect_code 74
expect_err "lines of the log are lost"
run "$check" "$json" ok=false
expect_code 0

# --- signals to the child that runs the scenario -----------------------------------------
children_of() { cat "/proc/$1/task/$1/children" 2>/dev/null; }

# with_signal SIGNAL: a run of 3 s, the signal to its child after one
with_signal() {
    "$sp" ttsp --seconds 3 c-calm --json "$json" >"$scratch/out" 2>"$scratch/err" </dev/null &
    local parent=$!
    sleep 1
    # shellcheck disable=SC2046
    kill "-$1" $(children_of "$parent")
    wait "$parent"
    code=$? last="ttsp whose child gets signal $1"
}

if [ -e "/proc/$$/task/$$/children" ]; then
    # Killed from outside: nothing is said about our numbers.
    with_signal KILL
    expect_code 74
    expect_err "died of signal 9"
    run "$check" "$json" ok=false scenarios.0.self_check.ok=false
    expect_code 0

    # The crash report: signal, thread, states, frames.
    with_signal ABRT
    expect_code 75
    expect_err "Stillpoint ends by signal 6"
    expect_err "participants (1)"
    expect_err '"poller"'
    expect_err "native frames of thread"

    # SIGQUIT prints a thread dump and the run goes on.
    with_signal QUIT
    expect_code 0
    expect_err "Full thread dump Stillpoint (1 participants)"
    expect_err '"poller" #1 mutator'
    run "$check" "$json" ok=true
    expect_code 0
else
    echo "SKIP: this kernel does not list children, no signals were sent"
fi

# A thread dump when the command itself is asked; once more while none has come.
"$sp" ttsp --seconds 4 c-calm >"$scratch/out" 2>"$scratch/err" </dev/null &
parent=$! last="ttsp that gets SIGQUIT itself"
sleep 0.5
while ! grep -q "Full thread dump" "$scratch/err" && kill -QUIT "$parent" 2>/dev/null; do
    sleep 0.3
done
wait "$parent"
code=$?
expect_code 0
expect_err '"poller" #1 mutator'

# --- signals that end the command take its unfinished result with them --------------------
# ends_clean SIGNAL COMMAND...
ends_clean() {
    local folder=$scratch/ends_$1 tries=100
    mkdir -p "$folder"
    "$sp" "${@:2}" --json "$folder/result" >"$scratch/out" 2>"$scratch/err" </dev/null &
    local pid=$!
    while [ -z "$(ls "$folder")" ] && [ $((tries -= 1)) -gt 0 ]; do
        sleep 0.1
    done
    last="${*:2} that gets signal $1"
    expect_true "no unfinished result was there" [ -n "$(ls "$folder")" ]
    kill "-$1" "$pid"
    wait "$pid" 2>/dev/null
    code=$?
    expect_code $((128 + $(kill -l "$1")))
    expect_true "an unfinished result was left" [ -z "$(ls "$folder")" ]
}
ends_clean TERM ttsp --seconds 20 c-blocked
ends_clean HUP ttsp --seconds 20 c-blocked
ends_clean TERM stress protocol --seconds 20 --threads 1
ends_clean TERM bench --reps 200

mkdir "$scratch/pipe"
"$sp" ttsp --seconds 0.3 c-calm --json "$scratch/pipe/result" 2>"$scratch/err" | true
code=${PIPESTATUS[0]} last="ttsp whose reader is gone"
expect_true "exit code $code" [ "$code" = 141 ] # of SIGPIPE
expect_true "an unfinished result was left" [ -z "$(ls "$scratch/pipe")" ]

finish
