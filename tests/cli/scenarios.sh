#!/usr/bin/env bash
# scenarios.sh STILLPOINT CHECK_JSON SOURCE -- scenarios that are guest programs: headers, files, ends.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
sp=$1 check=$2 source=$3
json=$scratch/result.json
is_plain=yes
"$sp" --version | grep -q sanitizer && is_plain=no
cd "$scratch" || exit 74

# file NAME LINE...
file() {
    local name=$1
    shift
    printf '%s\n' "$@" >"$name"
}

# --- the list ------------------------------------------------------------------------
run "$sp" ttsp --list
expect_code 0
expect_true "the first is not calm" [ "$(head -n 1 "$scratch/out" | cut -d' ' -f1)" = calm ]
expect_out "In C, only when they are named"
for name in loop-shapes spawn-burst churn c-calm; do
    expect_true "$name is not in the list" grep -q "^$name " "$scratch/out"
done

# --- a file of one's own: its header, and the command line above it --------------------
file own.lox '// question: Mine?' '// A free comment: nothing.' '' '// every: 4ms' '// seconds: 0.5' \
    '// flags: -XX:LoopStripMiningIter=50 -Xmx64m' '// focus: counted loop' \
    'fun spin() { while (true) { var s = 0; for (var i = 0; i < 1000000; i = i + 1) s = s + i; } }' \
    'spawn("spinner", spin);'
run "$sp" ttsp own.lox --json "$json"
expect_code 0
expect_true "no row of the file" grep -q "^own " "$scratch/out"
run "$check" "$json" scenarios.0.name=own scenarios.0.source=own.lox scenarios.0.every_ns=4000000 \
    "scenarios.0.focus.kind=counted loop"
expect_code 0
expect_true "the spinner was never last" grep -q '"thread": *"spinner"' "$json"
run "$check" "$json" scenarios.0.flags
expect_out "-XX:LoopStripMiningIter=50"
run "$sp" ttsp own.lox --every 20ms --seconds 0.3 -XX:LoopStripMiningIter=7 --json "$json"
expect_code 0
run "$check" "$json" scenarios.0.every_ns=20000000
expect_code 0
run "$check" "$json" scenarios.0.flags
expect_out "-XX:LoopStripMiningIter=7"
run "$check" "$json" scenarios.0.stops
expect_true "$(cat "$scratch/out") stops in 0.3 s, every 20 ms" [ "$(cat "$scratch/out")" -le 14 ]
printf '// every: 10ms\r\n// seconds: 0.2\r\nspawn(sleep, 60000);' >crlf.lox
run "$sp" ttsp crlf.lox --json "$json"
expect_code 0
run "$check" "$json" scenarios.0.every_ns=10000000
expect_code 0

# --- all of them bear a collection at each allocation
# shellcheck disable=SC2046
run "$sp" ttsp --seconds 0.2 -XX:GCStressInterval=1 -Xmx64m -Xms1m -XX:G1HeapRegionSize=64k \
    $(cd "$source/tools/scenarios" && printf '%s\n' *.lox | sed 's/\.lox$//')
expect_code 0
expect_true "churn was not stopped to collect" \
    [ "$(awk '$1 == "churn" { print $2; exit }' "$scratch/out")" -gt 100 ]

# --- the example of the page about scenarios
awk '/^```lox/ { on = 1; next } /^```/ { on = 0 } on' "$source/docs/scenarios.md" >example.lox
run "$sp" ttsp example.lox --seconds 0.3
expect_code 0
expect_true "no row of the example" grep -q "^example " "$scratch/out"

# --- headers that are wrong: one line with file and line, 64 ---------------------------
# wrong TEXT LINE...: the second line of the file is the one that is wrong
wrong() {
    file wrong.lox '// question: Why?' "${@:2}" 'print 1;'
    refuse 64 "stillpoint ttsp: wrong.lox:2: $1" "$sp" ttsp wrong.lox
}
wrong "unknown header evry, did you mean every?" '// evry: 5ms'
wrong "every: 5 is not a duration" '// every: 5'
wrong "every: 1ns is not a duration" '// every: 1ns'
wrong "every: nothing follows" '// every:'
wrong "seconds: 0 is not a number above 0" '// seconds: 0'
wrong "seconds: nan is not a number above 0" '// seconds: nan'
wrong "setup: 2h is not a duration" '// setup: 2h'
wrong "question is said twice, in line 1 first" '// question: Again?'
wrong "flags: unknown flag -XX:NoSuch=1" '// flags: -XX:NoSuch=1'
wrong "flags: -XX:LoopStripMiningIter=-1: not a whole number" '// flags: -XX:LoopStripMiningIter=-1'
wrong "flags: verbose is no runtime flag" '// flags: verbose'
wrong "flags: more than 8" "// flags:$(printf ' -Xmx1m%.0s' 1 2 3 4 5 6 7 8 9)"
wrong "focus: longer than" "// focus: $(printf 'x%.0s' {1..200})"
printf '// focus: a\001b\nprint 1;\n' >control.lox
refuse 64 "control.lox:1: focus: a control character" "$sp" ttsp control.lox
printf '// every: 5ms\0zz\nprint 1;\n' >nul.lox
refuse 64 "nul.lox:1: every: a control character" "$sp" ttsp nul.lox
file unrecorded.lox '// flags: -XX:-SafepointRecording' 'sleep(60000);'
run "$sp" ttsp unrecorded.lox --seconds 0.2
expect_code 64
expect_err "-XX:-SafepointRecording leaves nothing to report"
file late.lox 'print 1; // code ends the header' '// every: nonsense' 'sleep(50);'
run "$sp" ttsp late.lox --seconds 0.2
expect_code 0

# --- files that cannot be read, names that are none -------------------------------------
refuse 74 "cannot read nowhere.lox: No such file" "$sp" ttsp nowhere.lox
mkdir folder.lox
refuse 74 "cannot read folder.lox: Is a directory" "$sp" ttsp folder.lox
name=$(printf 'x\033[31m\ny.lox')
file "$name" '// evry: 5ms'
refuse 64 'x?[31m?y.lox:1: unknown header evry' "$sp" ttsp "$name"
rm "$name"
refuse 74 'cannot read x?[31m?y.lox: No such file' "$sp" ttsp "$name"
refuse 64 "unknown scenario clam, did you mean calm?" "$sp" ttsp clam
refuse 64 "scenario own is named twice" "$sp" ttsp own.lox ./own.lox
head -c 3000 /dev/urandom >noise.lox
run "$sp" ttsp noise.lox --seconds 0.2
expect_true "exit code $code for noise" [ "$code" = 65 ] || [ "$code" = 64 ]

# --- long names: the table keeps its columns, the worst stop its place ---------------------
looping() {
    printf '%s\n' "// cure: $2" "// focus: counted loop" "fun $1() { while (true) {" \
        '  var s = 0; for (var i = 0; i < 1000000000; i = i + 1) s = s + i; } }' "spawn($1);"
}
thread=spins_for_as_long_as_it_may_run
disease=$(printf 'd%.0s' {1..60}) cure=$(printf 'c%.0s' {1..59})é
looping $thread "$cure" >"$disease.lox"
looping $thread none >"$cure.lox"
run "$sp" ttsp "$disease.lox" "$cure.lox" --seconds 0.5 --json "$json"
expect_code 0
expect_true "a line is over 100 columns" [ -z "$(awk 'length > 100' "$scratch/out")" ]
expect_true "no row of the long name" grep -qE '^d{16}\.\. +[0-9]+ ' "$scratch/out"
expect_true "no place of the worst stop" grep -q "at $thread:4" "$scratch/out"
expect_out "dd.. against cccccccccccccccc..:"
run "$check" "$json" "scenarios.0.name=$disease"
expect_code 0

# --- C01: counted loops of every shape ------------------------------------------------------
# The same sums whatever polls there are, to the last loop: the scenario's own functions.
if [ $is_plain = yes ]; then
    sed '/^fun looper/,$d' "$source/tools/scenarios/loop-shapes.lox" >shapes.lox
    cat >>shapes.lox <<'LOX'
for (var i = 0; i < 3; i = i + 1) {
  var n = i * 1000;
  for (var m = n - 1; m < n + 2; m = m + 1) {
    print simple(m); print nested(m); print twoExits(m, 1000); print stepOfSeven(m);
  }
}
// Compared here: print has six digits.
print simple(3000001) == 3000001; print nested(700001) == 700001;
print stepOfSeven(7000001) == 1000001; print twoExits(2147483647, 3000001) == 3000001;
LOX
    printf '%s\n' 0 0 -1 0 0 0 0 0 1 1 1 1 \
        999 999 999 143 1000 1000 1000 143 1001 1001 1000 143 \
        1999 1999 1000 286 2000 2000 1000 286 2001 2001 1000 286 \
        true true true true >expected
    for polls in -XX:-UseCountedLoopSafepoints -XX:LoopStripMiningIter=1 \
        -XX:LoopStripMiningIter=7 -XX:LoopStripMiningIter=1000; do
        run "$sp" run $polls -XX:+SafepointALot -XX:GuaranteedSafepointInterval=1 shapes.lox
        expect_code 0
        expect_true "other sums with $polls" cmp "$scratch/out" expected
    done
    # The control: no poll in a loop of about 300 ms, and the report says where.
    run "$sp" ttsp loop-shapes -XX:-UseCountedLoopSafepoints --seconds 2 --json "$json"
    expect_code 0
    most=$("$check" "$json" scenarios.0.ttsp_ns.max)
    expect_true "max TTSP of the control is $most ns" [ "$most" -ge 100000000 ]
    expect_true "the loop is not named" grep -qE \
        'looper: in a counted loop without polls, at (simple|nested|twoExits|stepOfSeven):[0-9]+$' \
        "$scratch/out"
    # With strips nothing holds the stops up: they come as asked.
    control=$("$check" "$json" scenarios.0.stops)
    run "$sp" ttsp loop-shapes --seconds 2 --json "$json"
    expect_code 0
    stops=$("$check" "$json" scenarios.0.stops)
    expect_true "$stops stops with strips, $control without" [ "$stops" -ge $((control * 3)) ]

    # --- C09: 2000 threads at once; the program checks that each has run ----------------------
    run "$sp" ttsp spawn-burst c-spawn-unattached --seconds 1.5 --json "$json"
    expect_code 0
    threads=$("$check" "$json" scenarios.0.participants)
    expect_true "only $threads threads were there" [ "$threads" -gt 7 ] # main, 2 pollers, 4 spawners
    run "$check" "$json" ok=true scenarios.1.source=c scenarios.1.participants=2
    expect_code 0
fi

# --- ends -----------------------------------------------------------------------------------
file compile.lox 'print 1 +;'
run "$sp" ttsp compile.lox --seconds 0.2 --json "$json"
expect_code 65
expect_err "[line 1] Error at ';': Expect expression."
run "$check" "$json" ok=false
expect_code 0
file error.lox 'sleep(60);' 'nil.x;'
run "$sp" ttsp error.lox --every 5ms
expect_code 70
expect_err "error: a run-time error: Only instances have properties."
expect_err "[line 2] in script"
expect_out "the program ended after"
file thread.lox 'fun runs() { while (true) {} }' 'fun fails() { sleep(30); nil.x; }' 'spawn(runs);' 'spawn(fails);'
run "$sp" ttsp thread.lox --seconds 0.3
expect_code 70
expect_err 'thread: a run-time error: Only instances have properties.'
expect_err 'Thread "fails" ended with an error that no join raised:'
expect_err "[line 2] in fails()"
file memory.lox 'sleep(30);' 'Array(100000000);'
run "$sp" ttsp memory.lox -Xmx8m
expect_code 71
file short.lox 'sleep(80);' 'print "done";'
run "$sp" ttsp short.lox --every 5ms
expect_code 0
expect_err "done"
expect_out "the program ended after"
file empty.lox ''
run "$sp" ttsp empty.lox
expect_code 64
expect_err "the program ended before the first probe"
file deadlock.lox 'sleep(30);' 'Barrier(2).wait();'
run "$sp" ttsp deadlock.lox --every 5ms
expect_code 70
expect_err "Deadlock: all threads wait for one another."

finish
