#!/usr/bin/env bash
# guest.sh STILLPOINT -- run and disasm as a user types them: exit codes, streams, signals.
# What programs print is tested in tests/lox.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
sp=$1
lox=$scratch/program.lox

program() { printf '%s\n' "$@" >"$lox"; }

# --- what is typed ------------------------------------------------------------------
for command in run disasm; do
    run "$sp" $command --help;    expect_code 0; expect_out "usage: stillpoint $command"
    run "$sp" $command --version; expect_code 0; expect_out "stillpoint "
    refuse 64 "no program"                  "$sp" $command
    refuse 64 "did you mean --help?"        "$sp" $command --hlp "$lox"
    refuse 64 "-Xmx"                        "$sp" $command -Xmx0k1 "$lox"
    refuse 74 "/nonexistent.lox: No such"   "$sp" $command /nonexistent.lox
    refuse 74 "Is a directory"              "$sp" $command "$scratch"
done
refuse 64 "did you mean run?"               "$sp" rum "$lox"
refuse 64 "did you mean"                    "$sp" run -XX:+UseEpsilonGCs "$lox"
refuse 64 "-Xms"                            "$sp" run -Xms64m -Xmx32m "$lox"

# --- arguments, standard input, streams ------------------------------------------------
program 'print args.length;' 'for (var i = 0; i < args.length; i = i + 1) print args[i];'
run "$sp" run -Xmx16m "$lox" -Xmx1 --help ''
expect_code 0
expect_true "arguments behind the program are the program's" \
    [ "$(cat "$scratch/out")" = "$(printf '3\n-Xmx1\n--help\n')" ]
printf 'print "from stdin";' >"$lox"
"$sp" run - <"$lox" >"$scratch/out" 2>"$scratch/err"; code=$? last="run -"
expect_code 0; expect_out "from stdin"
: >"$lox"
run "$sp" run "$lox"; expect_code 0
expect_true "an empty program prints" [ ! -s "$scratch/out" ]

program 'print 1;' 'var x = nil + 1;' 'print 2;'
"$sp" run "$lox" >"$scratch/both" 2>&1; code=$? last="run, both streams in one"
expect_code 70
expect_true "what was printed before the error does not stand before it" \
    [ "$(head -n 2 "$scratch/both")" = "$(printf '1\nOperands must be two numbers or two strings.')" ]
run "$sp" disasm "$lox"; expect_code 0; expect_out "PRINT"; expect_out "1 | print 1;"
run "$sp" disasm "$lox" --explain; expect_code 0; expect_out "prints R[A]"

# --- exit codes ------------------------------------------------------------------------------
program 'print "never";' 'var 1;' 'print;'
run "$sp" run "$lox"; expect_code 65
expect_err "[line 2] Error at '1': Expect variable name."
expect_err "[line 3] Error at ';': Expect expression."
expect_true "a program with errors ran" [ ! -s "$scratch/out" ]
run "$sp" disasm "$lox"; expect_code 65; expect_err "Expect variable name."
program 'fun f() { return f(); }' 'f();'
run "$sp" run -Xss16k "$lox"; expect_code 70; expect_err "Stack overflow."
expect_err "more"
program 'var l; while (true) { var a = Array(64); a[0] = l; l = a; }'
for heap in "-Xmx64k -XX:G1HeapRegionSize=64k" "-Xmx1m" "-Xmx8m"; do
    # shellcheck disable=SC2086 # two flags
    run "$sp" run $heap "$lox"; expect_code 71
    expect_err "OutOfMemory: asked for 528 bytes,"
    expect_err "[line 1] in script"
done

# --- files that cannot be written ----------------------------------------------------------------
program 'for (var i = 0; i < 100000; i = i + 1) print i;'
"$sp" run "$lox" >/dev/full 2>"$scratch/err"; code=$? last="run >/dev/full"
: >"$scratch/out"
expect_code 74; expect_err "cannot write to stdout"
"$sp" run "$lox" 2>"$scratch/err" | head -n 1 >"$scratch/out"; code=${PIPESTATUS[0]} last="run | head"
expect_true "a closed pipe: exit code $code" [ "$code" -ne 0 ]
expect_true "a closed pipe: too much said" [ "$(wc -l <"$scratch/err")" -le 1 ]
refuse 74 "/nonexistent/x.log" "$sp" run -Xlog:gc:file=/nonexistent/x.log "$lox"
run "$sp" run "-Xlog:gc*,safepoint*:file=$scratch/log" -XX:+SafepointALot -XX:GuaranteedSafepointInterval=5 "$lox"
expect_code 0
expect_true "no gc line in the log" grep -q "Using G1" "$scratch/log"
expect_true "the log does not say how the heap was left" \
    grep -qE '\[gc,exit *\]  garbage-first heap   total reserved ' "$scratch/log"
expect_true "the log does not say what was collected" \
    grep -qE '\[gc,stats *\] Collections: ' "$scratch/log"
run "$sp" run --gc-summary "$lox" --gc-summary; expect_code 0; expect_err "collections  "
expect_true "the summary went to stdout" [ "$(wc -l <"$scratch/out")" = 100000 ]
refuse 64 "did you mean --gc-summary?" "$sp" run --gc-sumary "$lox"
(ulimit -v 300000; "$sp" run -Xmx64g "$lox" >"$scratch/out" 2>"$scratch/err"); code=$? last="run -Xmx64g under ulimit -v"
if [ "$code" != 127 ] && ! grep -qi sanitizer "$scratch/err"; then # asan needs more than that itself
    expect_code 74; expect_err "cannot reserve"
fi

# --- a thread dump while it runs -----------------------------------------------------------------------
program 'var i = 0; while (i < 1000000000) i = i + 1;'
"$sp" run "$lox" >"$scratch/out" 2>"$scratch/err" & pid=$! last="kill -QUIT"
sleep 0.5 # until it handles the signal, which would end it before
for _ in $(seq 100); do
    kill -QUIT $pid 2>/dev/null
    sleep 0.1
    grep -q '"main"' "$scratch/err" && break
done
kill $pid; wait $pid 2>/dev/null
expect_err '"main"'

finish
