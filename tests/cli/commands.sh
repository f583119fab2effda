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
refuse 64 "--threads 65: guest has 64 at most" "$sp" stress guest --threads 65
refuse 64 "protocol" "$sp" stress protocl
refuse 64 "--seconds" "$sp" stress protocol --seconds none

run "$sp" stress protocol --seconds 0.5 -Xlog:safepoint:file=/dev/full
expect_code 74
expect_err "lines are lost"

# ThreadSanitizer makes a minute of what takes seconds: two of them show that they run there.
names=
"$sp" --version | grep -q 'thread sanitizer' && names='gc poll'
# shellcheck disable=SC2086
run "$sp" bench --quick --json "$json" $names
expect_code 0
expect_out "a quarter of the rounds"
expect_true "no row of bench gc" grep -qE '^gcbench-c/g1 ' "$scratch/out"
if [ -z "$names" ] && command -v lua5.4 >/dev/null; then
    expect_true "no goal beside Lua" grep -qE '^fib/stillpoint .* lua-5.4 +<=1.3x' "$scratch/out"
fi
run "$check" "$json" schema=stillpoint-bench-1
expect_code 0
run "$check" "$json" results.0.name results.0.unit results.0.median results.0.min results.0.max \
    results.0.reps results.0.baseline results.0.ratio
expect_true "a key is missing in a result" [ "$(grep -cF '(missing)' "$scratch/out")" = 0 ]
refuse 64 "did you mean" "$sp" bench pol
refuse 64 "contradicts" "$sp" bench -XX:SafepointPoll=global poll

run "$sp" bench --list
expect_code 0
expect_out "interp"

# Programs in other languages: compared with when they are there, and only when they are right.
mkdir "$scratch/none" "$scratch/wrong" "$scratch/broken"
run env PATH="$scratch/none" TMPDIR="$scratch/none" "$sp" bench interp --quick
expect_code 0
expect_out "fib/stillpoint"
expect_out "lua-5.4: left out, not found"
expect_true "a row of what is not there" [ "$(grep -c '^fib/' "$scratch/out")" = 1 ]
expect_true "something was left behind" [ -z "$(ls -A "$scratch/none")" ]

cat >"$scratch/wrong/lua5.4" <<'END'
#!/bin/sh
[ "$1" = -v ] && echo 'Lua 5.4.0' && exit
printf '%s\n' 178310 12.5
END
chmod +x "$scratch/wrong/lua5.4"
run env PATH="$scratch/wrong" TMPDIR="$scratch/none" "$sp" bench interp --quick --json "$json"
expect_code 75
expect_err "interp/fib/lua-5.4: self-check failed: computed 178310, not 178309"
expect_true "something was left behind" [ -z "$(ls -A "$scratch/none")" ]

printf '#!/bin/sh\nexit 1\n' | tee "$scratch/broken/java" >"$scratch/broken/javac"
cp "$scratch/broken/java" "$scratch/broken/lua"
chmod +x "$scratch/broken/"*
run env PATH="$scratch/broken" "$sp" bench interp --reps 1
expect_code 0
expect_out "java-xint: left out, java"
expect_out "lua-5.4: left out, what was found"
expect_true "a row of what is broken" [ "$(grep -c '^fib/' "$scratch/out")" = 1 ]

run env TMPDIR=/nonexistent "$sp" bench interp --quick
expect_code 74
expect_err "no temporary folder"

finish
