#!/bin/bash
# run.sh -- the fuzzing campaign: sources, then changed bytecode, each half of the time.
# SPDX-License-Identifier: MIT
#
#   tests/fuzz/run.sh [--seconds N] [--keep DIR]
#
# Builds the preset `fuzz` (clang with libFuzzer, AddressSanitizer and UBSan; Debian packages
# clang and libclang-rt-14-dev).  What it learns is kept in build/fuzz/corpus and used by the next
# run; findings are kept in DIR (build/fuzz/findings).  Exit 0: nothing was found; 1: something
# was, and how to replay it is printed; 64, 74: arguments, environment.
set -u
unset CDPATH
self=$(readlink -f -- "$0")
here=${self%/*}
root=$(cd "$here/../.." && pwd)
build=$root/build/fuzz
seconds=1200 findings=$build/findings

usage() { sed -n 's/^#   //p' "$self"; }
die() {
    printf 'run.sh: %s\n' "$2" >&2
    exit "$1"
}

while [ $# -gt 0 ]; do
    case $1 in
    --seconds)
        [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die 64 '--seconds needs a number above 0'
        seconds=$2
        shift
        ;;
    --keep)
        [ -n "${2-}" ] || die 64 '--keep needs a folder'
        findings=$(readlink -m -- "$2")
        shift
        ;;
    --help | -h)
        usage
        exit 0
        ;;
    *) die 64 "unknown argument '$1'" ;;
    esac
    shift
done

command -v clang >/dev/null || die 74 'clang is missing (Debian: clang libclang-rt-14-dev)'
mkdir -p "$build" "$findings" || die 74 "cannot write $build"
{
    cd "$root" && cmake --preset fuzz &&
        cmake --build "$build" --target fuzz_source fuzz_bytecode fuzz_replay -j2
} >"$build/fuzz-build.log" 2>&1 || {
    tail -n 20 "$build/fuzz-build.log" >&2
    die 74 "the build failed; all of it: $build/fuzz-build.log"
}

# Sources: every program of the test-suite, by its content's hash, as libFuzzer names them.
collect_sources() {
    mkdir -p "$build/corpus/source" "$build/corpus/bytecode"
    find "$root/tests/lox" -name '*.lox' -size -8k -print0 |
        while IFS= read -r -d '' program; do
            name=$(sha1sum <"$program")
            cp -n -- "$program" "$build/corpus/source/${name%% *}"
        done
}

# campaign HARNESS SECONDS OPTION...: one figure line, and the findings
campaign() {
    harness=$1
    log=$build/$harness.log
    "$build/fuzz_$harness" -max_total_time="$2" -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 \
        -artifact_prefix="$findings/$harness-" "${@:3}" \
        "$build/corpus/$harness" "$here/corpus/$harness" >"$log" 2>&1
    code=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    cover=$(sed -n 's/^#.* cov: \([0-9]*\) ft: \([0-9]*\) .*/\1 edges, \2 features/p' "$log" | tail -n 1)
    printf '%-9s %s s, %s inputs, %s, exit %s\n' "$harness" "$2" "${runs:-?}" "${cover:-?}" "$code"
    [ "$code" = 0 ] && return 0
    found=1
    grep -m 3 -E 'FOUND:|ERROR: |runtime error|failed' "$log" | sed 's/^/    /'
    sed -n "s|^.*Test unit written to \(.*\)|    replay: $build/fuzz_replay --one $harness \1|p" "$log"
}

found=0
collect_sources
half=$(((seconds + 1) / 2))
campaign source "$half" -dict="$here/lox.dict" -max_len=8192
campaign bytecode "$half" -max_len=400 -len_control=0
[ "$found" = 0 ] && echo 'nothing found'
exit "$found"
