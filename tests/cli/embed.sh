#!/usr/bin/env bash
# embed.sh CMAKE SOURCE COMPILER -- stillpoint_embed() in a small project of its own: any
# bytes, changed files, a changed list, names that it refuses.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cmake=$1 source=$2 compiler=$3
project=$scratch/project build=$scratch/build
mkdir -p "$project/files"

# The program writes the file it is asked for to stdout.
cat >"$project/main.c" <<'END'
#include "tools/embedded.h"
#include <stdio.h>
int main(int argc, char **argv)
{
    const struct embedded_file *file = argc > 1 ? embedded_find(argv[1]) : NULL;
    if (!file || file->bytes[file->length] != '\0')
        return 1;
    return fwrite(file->bytes, 1, file->length, stdout) != file->length;
}
END

# project_with FILES: the list of files that the project embeds
project_with() {
    cat >"$project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(embed LANGUAGES C)
include("$source/cmake/embed.cmake")
add_executable(show main.c "$source/tools/embedded.c")
target_include_directories(show PRIVATE "$source")
stillpoint_embed(show $1)
END
}
configure() { run "$cmake" -G Ninja -S "$project" -B "$build" -DCMAKE_C_COMPILER="$compiler"; }
build() { run "$cmake" --build "$build"; }

# expect_embedded NAME...: each is in the program as it is in the project
expect_embedded() {
    for name in "$@"; do
        run "$build/show" "$name"
        expect_code 0
        expect_true "$name is not what was embedded" cmp "$scratch/out" "$project/$name"
    done
}

for byte in $(seq 0 255); do
    # shellcheck disable=SC2059 # the octal number is the format
    printf "\\$(printf '%03o' "$byte")"
done >"$project/files/every_byte.bin"
expect_true "not every byte" [ "$(wc -c <"$project/files/every_byte.bin")" = 256 ]
: >"$project/files/empty"
printf 'no end of line' >"$project/files/no-end.txt"
# What CMake or C would read as something else: lists, variables, brackets, strings, trigraphs.
printf 'a;b;[c];${d};@e@;\\n;"f";??/;%%s\r\n\n]]=]' >"$project/files/odd.lox"
seq 1 20000 >"$project/files/long.txt"

project_with "files/every_byte.bin files/empty files/no-end.txt files/odd.lox files/long.txt"
configure; expect_code 0
build;     expect_code 0
expect_embedded files/every_byte.bin files/empty files/no-end.txt files/odd.lox files/long.txt
run "$build/show" files/other
expect_code 1

build
expect_out "no work to do"

sleep 0.01 # a file system's times may be coarse
echo changed >"$project/files/empty"
build; expect_code 0
expect_embedded files/empty files/odd.lox

echo added >"$project/files/added"
project_with "files/empty files/added"
build; expect_code 0
expect_embedded files/empty files/added
run "$build/show" files/odd.lox
expect_code 1

for wrong in "files/not-there" "files" "'files/a b'" ""; do
    project_with "$wrong"
    configure
    expect_true "embeds '$wrong'" [ "$code" != 0 ]
    expect_err "stillpoint_embed"
done

finish
