#!/usr/bin/env bash
# docs.sh STILLPOINT SOURCE RUN_LOX -- what the docs say that a program can check.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
sp=$1 source=$2 run_lox=$3

run "$sp" flags --markdown
expect_code 0
expect_true "docs/flags.md is stale: write it again with stillpoint flags --markdown" \
    cmp -s "$scratch/out" "$source/docs/flags.md"

# The programs of the language page do what they say.
mkdir "$scratch/lox"
awk -v folder="$scratch/lox" '/^```lox/ { n++; on = 1; next } /^```/ { on = 0 }
    on { print > (folder "/" n ".lox") }' "$source/docs/language.md"
run "$run_lox" --at-least 3 "$sp" "$scratch/lox"
expect_code 0

# Every file of the tours is there, and every function they name stands in that file.
while IFS=: read -r file name; do
    expect_true "the tour names $file, which is not there" [ -f "$source/$file" ]
    expect_true "the tour names $name in $file" grep -qF "$name" "$source/$file"
done < <(grep -ohE '`[a-z_]+/[a-z_/]+\.[ch]:[a-z_]+`' "$source"/docs/{tour,engine}.md | tr -d '`')
expect_true "the tour names nothing" [ "$checks" -gt 10 ]

# Nothing was left to be filled in.
for page in "$source"/README.md "$source"/docs/*.md; do
    last="reading $page"
    expect_true "$page has a place holder" [ "$(grep -cE '@@|MISSING|being written' "$page")" = 0 ]
done

# Relative links lead somewhere.
for page in "$source"/README.md "$source"/docs/*.md "$source"/tests/*/README.md; do
    while read -r link; do
        expect_true "$page links to $link" [ -e "$(dirname "$page")/$link" ]
    done < <(grep -oE '\]\([^)#:]+\)' "$page" | sed 's/^](//; s/)$//')
done

# Every test that docs/shown.md names is there.
while read -r test; do
    expect_true "docs/shown.md names the test $test" \
        grep -rqF "$test" "$source/tests" --include=*.c --include=*.sh --include=CMakeLists.txt
done < <(grep -oE '^Test: `[^`]+`' "$source/docs/shown.md" | sed 's/^Test: `//; s/`$//')

finish
