#!/usr/bin/env bash
# debug_build.sh CMAKE SOURCE BUILD CC RUN_LOX FLAGS -- builds stillpoint with every assert in
# BUILD, and runs all Lox programs with it.  The debug build makes the memory that objects have
# left inaccessible, so that with a collection at each allocation a missed reference ends the program.
# SPDX-License-Identifier: MIT
set -u
cmake=$1 source=$2 build=$3 cc=$4 run_lox=$5 flags=$6

mkdir -p "$build" || exit 1
{
    "$cmake" -S "$source" -B "$build" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DSTILLPOINT_TESTS=OFF &&
        "$cmake" --build "$build" --target stillpoint
} >"$build/build.log" 2>&1 || {
    tail -n 30 "$build/build.log"
    exit 1
}
# A plain build has no asserts to show: the one that was made must.
"$build/stillpoint" flags --help >/dev/null || exit 1
exec "$run_lox" --at-least 600 --flags "$flags" "$build/stillpoint" "$source/tests/lox"
