#!/usr/bin/env bash
# usage.sh STILLPOINT -- bad input: one clear line, the documented exit code, nothing half
# written.  Good input of the small commands too.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
sp=$1

run "$sp" --help;                       expect_code 0; expect_out "usage: stillpoint"
run "$sp" --version;                    expect_code 0; expect_out "stillpoint 0."
run "$sp" ttsp --help;                  expect_code 0; expect_out "--seconds"
run "$sp" ttsp --list;                  expect_code 0; expect_out "c-zero-whole"
run "$sp" flags;                        expect_code 0; expect_out "SafepointSpinMicros"
run "$sp" -XX:+PrintFlagsFinal;         expect_code 0; expect_out "BulkChunkBytes"
run "$sp" -XX:BulkPolicy=whole -XX:+PrintFlagsFinal
expect_code 0; expect_out "command line"
# Short forms are taken before and after a command, and what they ask for is shown.
run "$sp" -Xmx64m -Xss256k flags;       expect_code 0; expect_out "-XmxN"
run "$sp" ttsp -Xmx64m --list;          expect_code 0
run "$sp" -Xms1m -Xmx64m -XX:+PrintFlagsFinal
expect_code 0; expect_out "67108864"; expect_out "1048576"; expect_out "ergonomic"
run "$sp" -Xlog:help;                   expect_code 0; expect_out "uptime"
for command in ttsp stress bench flags; do
    run "$sp" $command --version;       expect_code 0; expect_out "stillpoint 0."
done
run "$sp" ttsp --seconds 0.3 -XX:+PrintFlagsFinal c-calm
expect_code 0; expect_out "BulkChunkBytes"; expect_out "last thread: what"

refuse 64 "no command"                  "$sp"
refuse 64 "did you mean ttsp?"          "$sp" ttps
refuse 64 "unknown command"             "$sp" frobnicate
refuse 64 "did you mean -XX:SafepointSpinMicros" "$sp" ttsp -XX:SafepontSpinMicros=5
refuse 64 "unknown flag"                "$sp" ttsp -XX:NoSuchThing=5
refuse 64 "unknown flag"                "$sp" ttsp -Xint
refuse 64 "-XmxN (bytes)"               "$sp" ttsp -Xmx
refuse 64 "not a whole number"          "$sp" ttsp -Xmx=64m
refuse 64 "-Xms64m contradicts -Xmx32m" "$sp" ttsp -Xms64m -Xmx32m c-calm
refuse 64 "-Xmx1m contradicts -Xmx2m"   "$sp" ttsp -Xmx2m -Xmx1m
refuse 64 "16k to 1g"                   "$sp" stress -Xss4k protocol
refuse 64 "power of two"                "$sp" ttsp -XX:G1HeapRegionSize=3m c-calm
refuse 64 "0 to 1000000"                "$sp" ttsp -XX:SafepointSpinMicros=9999999
refuse 64 "whole, chunked"              "$sp" ttsp -XX:BulkPolicy=hole
refuse 64 "-XX:BulkPolicy=chunked"      "$sp" ttsp -XX:BulkPolicy=whole -XX:BulkPolicy=chunked
refuse 64 "BulkChunkBytes"              "$sp" ttsp -XX:BulkPolicy=whole -XX:BulkChunkBytes=64k c-calm
refuse 64 "SafepointSpinMicros"         "$sp" ttsp -XX:SafepointWait=sleep -XX:SafepointSpinMicros=5 c-calm
refuse 64 "UnlockDiagnosticVMOptions"   "$sp" ttsp -XX:-SafepointRecording c-calm
refuse 64 "SafepointRecording"          "$sp" ttsp -XX:+UnlockDiagnosticVMOptions -XX:-SafepointRecording c-calm
refuse 64 "STAGE:MS"                    "$sp" ttsp -XX:+UnlockDiagnosticVMOptions -XX:InjectDelay=lunch:40 c-calm
refuse 64 "c-zero-chunked"              "$sp" ttsp -XX:BulkPolicy=whole c-zero-chunked
refuse 64 "did you mean c-calm?"        "$sp" ttsp c-clam
refuse 64 "unknown scenario"            "$sp" ttsp no-such-scenario-at-all
refuse 64 "named twice"                 "$sp" ttsp c-calm c-calm
refuse 64 "--seconds"                   "$sp" ttsp --seconds
refuse 64 "--seconds"                   "$sp" ttsp --seconds -5
refuse 64 "--seconds"                   "$sp" ttsp --seconds 0 c-calm
refuse 64 "not a duration"              "$sp" ttsp --every 5
refuse 64 "1us to 1 day"                "$sp" ttsp --every 0 c-calm
refuse 64 "1us to 1 day"                "$sp" ttsp --every 2d c-calm
refuse 64 "--json needs"                "$sp" ttsp --json "" c-calm
refuse 64 "--json needs"                "$sp" stress protocol --json=
refuse 64 "no probe"                    "$sp" ttsp --every 10s --seconds 1 c-calm
refuse 64 "did you mean --seconds"      "$sp" ttsp --second 5
refuse 64 "--seed"                      "$sp" ttsp --seed minus
refuse 64 "-Xlog"                       "$sp" ttsp -Xlog:nosuchtag c-calm
refuse 64 "did you mean"                "$sp" flags --markdwon

# What the system refuses: 74, before anything was measured.
refuse 74 "/nonexistent/x.json"         "$sp" ttsp --json /nonexistent/x.json c-calm
refuse 74 "$scratch"                    "$sp" ttsp --json "$scratch" c-calm
refuse 74 "/nonexistent/x.log"          "$sp" ttsp -Xlog:safepoint:file=/nonexistent/x.log c-calm
expect_true "something was left behind" [ -z "$(find "$scratch" -name '*.part*')" ]

# A refused run leaves an older result as it was.
echo old >"$scratch/old.json"
run "$sp" ttsp --json "$scratch/old.json" --seconds 0 c-calm
expect_code 64
expect_true "the old result was touched" [ "$(cat "$scratch/old.json")" = old ]

# A command that is refused, or only tells something, empties no log file.
echo old >"$scratch/old.log"
log=-Xlog:safepoint:file=$scratch/old.log
run "$sp" "$log" ttsp --list;           expect_code 0
run "$sp" flags --help "$log";          expect_code 0
run "$sp" bench "$log" --version;       expect_code 0
run "$sp" "$log" no-such-command;       expect_code 64
run "$sp" ttsp "$log" no-such-scenario; expect_code 64
run "$sp" ttsp "$log" --seconds 0;      expect_code 64
run "$sp" stress "$log";                expect_code 64
run "$sp" ttsp "$log" --json /nonexistent/x.json c-calm
expect_code 74
expect_true "the old log was emptied" [ "$(cat "$scratch/old.log")" = old ]
run "$sp" flags "$log";                 expect_code 0
expect_true "an accepted command left the old log" [ ! -s "$scratch/old.log" ]

# One file for the result and for the log, by whatever names.
mkdir "$scratch/sub"
refuse 64 "the same file" "$sp" ttsp "-Xlog:safepoint:file=$scratch/same" \
    --json "$scratch/sub/../same" c-calm
ln "$scratch/old.log" "$scratch/link"
refuse 64 "the same file" "$sp" stress protocol "$log" --json "$scratch/link"
expect_true "something was left behind" [ ! -e "$scratch/same" ]

# What cannot be written: 74 and one line, for the small commands too.
if [ -w /dev/full ]; then
    for arguments in --version --help flags "ttsp --list" "stress --help" "bench --list" \
        -Xlog:help; do
        # shellcheck disable=SC2086
        "$sp" $arguments >/dev/full 2>"$scratch/err" </dev/null
        code=$? last="$arguments to a full stdout"
        expect_code 74
        expect_err "cannot write to standard output"
        expect_true "not one line" [ "$(wc -l <"$scratch/err")" = 1 ]
    done
fi

# A closed stdout is not taken by the result file.
"$sp" ttsp --seconds 0.3 c-calm --json "$scratch/closed.json" 2>"$scratch/err" <&- >&-
code=$? last="ttsp with a closed stdout"
expect_code 74
expect_err "cannot write to standard output"
expect_true "the result does not begin with a brace" \
    [ "$(head -c 1 "$scratch/closed.json")" = "{" ]
expect_true "the table stands in the result" [ "$(grep -c c-calm "$scratch/closed.json")" = 1 ]

finish
