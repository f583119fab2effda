# shellcheck shell=bash disable=SC2034,SC2154
# lib.sh -- for the shell tests: run, expect an exit code, expect text.  Sourced.
# SPDX-License-Identifier: MIT
checks=0 failures=0
scratch=$(mktemp -d) || exit 74
trap 'rm -rf "$scratch"' EXIT

# run COMMAND...: output in $scratch/out and $scratch/err, exit code in $code
run() {
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    last="$*"
}

fail() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n  after: %s\n' "$1" "$last"
    sed 's/^/  out: /' "$scratch/out" | head -n 20
    sed 's/^/  err: /' "$scratch/err" | head -n 20
}

expect_code() {
    checks=$((checks + 1))
    [ "$code" = "$1" ] || fail "exit code $code, not $1"
}

# expect_out TEXT / expect_err TEXT: the text stands somewhere in it
expect_out() {
    checks=$((checks + 1))
    grep -qF -- "$1" "$scratch/out" || fail "no \"$1\" on stdout"
}
expect_err() {
    checks=$((checks + 1))
    grep -qF -- "$1" "$scratch/err" || fail "no \"$1\" on stderr"
}
expect_true() {
    checks=$((checks + 1))
    "${@:2}" || fail "$1"
}

# refuse CODE TEXT COMMAND...: one line on stderr with the text, nothing on stdout
refuse() {
    run "${@:3}"
    expect_code "$1"
    expect_err "$2"
    checks=$((checks + 1))
    [ "$(wc -l <"$scratch/err")" = 1 ] || fail "not exactly one line on stderr"
    checks=$((checks + 1))
    [ ! -s "$scratch/out" ] || fail "something on stdout"
}

finish() {
    printf '%d checks, %d failed\n' "$checks" "$failures"
    [ "$checks" -gt 0 ] && [ "$failures" = 0 ]
    exit
}
