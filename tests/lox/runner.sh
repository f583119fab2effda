#!/usr/bin/env bash
# runner.sh RUN_LOX -- the runner itself: misuse, too few programs, output above its bound,
# a program that dies.  Stand-ins take the place of stillpoint.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/../cli/lib.sh"
runner=$1

# stand_in NAME SCRIPT: a program that is called like stillpoint
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$scratch/$1" && chmod +x "$scratch/$1"; }

mkdir -p "$scratch/programs/below" "$scratch/programs/control"
echo '// expect: run' >"$scratch/programs/one.lox"
echo '// expect: run' >"$scratch/programs/below/two.lox"
echo '// expect: never' >"$scratch/programs/control/three.lox"
echo '// nontest' >"$scratch/programs/below/four.lox"
echo 'no program' >"$scratch/programs/notes.txt"
# shellcheck disable=SC2016 # for the stand-in's own shell
stand_in good 'echo "$1"'

run "$runner" "$scratch/good" "$scratch/programs"
expect_code 0
expect_out "2 programs, 0 failed"
run "$runner" --at-least 3 "$scratch/good" "$scratch/programs"
expect_code 1
expect_out "too few programs"
run "$runner" "$scratch/good" "$scratch/programs/control"
expect_code 1
expect_out 'expected "never", got "run"'
expect_out "1 programs, 1 failed"
run "$runner" "$scratch/good" "$scratch/programs/below/four.lox"
expect_code 1
expect_out "0 programs, 0 failed"

# Flags stand before the program, arguments behind it.
# shellcheck disable=SC2016
stand_in arguments 'echo "$@"'
cat >"$scratch/programs/order.lox" <<END
// flags: -b
// args: x y
// expect: run -a -aa -b $scratch/programs/order.lox x y
END
run "$runner" --flags "-a -aa" "$scratch/arguments" "$scratch/programs/order.lox"
expect_code 0

# However a program ends, the runner ends and says so.
bad() { # bad NAME SCRIPT TEXT
    stand_in "$1" "$2"
    run "$runner" --seconds 1 "$scratch/$1" "$scratch/programs/one.lox"
    expect_code 1
    expect_out "$3"
}
# shellcheck disable=SC2016
bad dies 'echo run; kill -SEGV $$' "it died of signal 11"
bad hangs 'echo run; exec sleep 60' "it did not end in time"
bad hangs_closed 'echo run; exec >&- 2>&-; exec sleep 60' "it did not end in time"
bad endless 'exec yes run' "it printed more than the runner keeps"
bad big 'echo run; head -c 3000000 /dev/zero >&2' "it printed more than the runner keeps"
bad no_newline 'printf run' "the last line of stdout has no newline"
bad silent ':' 'expected "run", got nothing'
bad complains 'echo run; echo oops >&2' 'expected nothing more, got "oops"'

# A control that passes, or fails for another reason than it states, is a failure.
printf '// expect: run\n// fails: x\n' >"$scratch/passes.lox"
printf '// expect: walk\n// fails: expected "swim"\n' >"$scratch/otherwise.lox"
printf '// expect: walk\n// fails: expected "walk"\n' >"$scratch/stated.lox"
printf '// expect: walk\n' >"$scratch/unstated.lox"
run "$runner" --expect-failures "$scratch/good" "$scratch/passes.lox"
expect_code 1; expect_out "it passed"
run "$runner" --expect-failures "$scratch/good" "$scratch/otherwise.lox"
expect_code 1; expect_out "it failed otherwise"
run "$runner" --expect-failures "$scratch/good" "$scratch/unstated.lox"
expect_code 1
run "$runner" --expect-failures "$scratch/good" "$scratch/stated.lox"
expect_code 0

run "$runner" --help
expect_code 0
expect_out "usage: run_lox"
refuse 64 "--help" "$runner"
refuse 64 "--help" "$runner" "$scratch/good"
refuse 64 "--frobnicate" "$runner" --frobnicate "$scratch/good" "$scratch"
refuse 64 "--jobs" "$runner" --jobs
refuse 64 "--jobs" "$runner" --jobs many "$scratch/good" "$scratch"
refuse 64 "--jobs" "$runner" --jobs 65 "$scratch/good" "$scratch"
refuse 64 "--seconds" "$runner" --seconds -1 "$scratch/good" "$scratch"
refuse 74 "No such file" "$runner" "$scratch/nothing" "$scratch/programs"
refuse 74 "No such file" "$runner" "$scratch/good" "$scratch/nothing.lox"

finish
