#!/usr/bin/env bash
# install.sh BUILD SOURCE COMPILER -- the installed header, libraries and pkg-config file are
# enough to build and run the example somewhere else; the header is C++ too.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
build=$1 source=$2 cc=$3
prefix=$scratch/prefix

run cmake --install "$build" --prefix "$prefix"
expect_code 0
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name stillpoint.pc)")
# shellcheck disable=SC2046
run "$cc" -std=gnu11 -O2 -Wall -Wextra -Werror \
    "$source/tools/examples/ttsp_of_a_loop.c" -o "$scratch/example" \
    $(pkg-config --cflags --libs stillpoint)
expect_code 0
run "$scratch/example"
expect_code 0
expect_out "2000 stops"
expect_out "adds up"
expect_out "summer, summing numbers"
run "$scratch/example" -XX:SafepointPoll=global
expect_code 0
run "$scratch/example" -XX:NoSuchFlag
expect_code 64
# Trees on the heap: with the collector and without, when all moves all the time, and too large.
# shellcheck disable=SC2046
run "$cc" -std=gnu11 -O2 -Wall -Wextra -Werror "$source/tools/examples/binary_trees.c" \
    -o "$scratch/trees" $(pkg-config --cflags --libs stillpoint)
expect_code 0
for flags in "-Xmx4m -Xms1m" "-Xmx64m -XX:+UseEpsilonGC" \
    "-Xmx1m -XX:G1HeapRegionSize=64k -XX:GCStressInterval=1 -XX:+FullGCMovesAll"; do
    # shellcheck disable=SC2086
    run "$scratch/trees" 8 $flags
    expect_code 0
    expect_out "256 trees of depth  4: 7936 nodes"
    expect_out "1 tree  of depth  8: 511 nodes, alive all the time"
done
run "$scratch/trees" 16 -Xmx1m
expect_code 1
expect_err "the heap is too small"
run "$scratch/trees" 8 -Xmx1t -Xms1t
expect_code 74
# The installed copy, as its own head comment says.
copy=$(find "$prefix" -name ttsp_of_a_loop.c)
typed=$(sed -n 's/^ \* *cc \(.*\)/\1/p' "$copy")
expect_true "the head comment names no command" [ -n "$typed" ]
run bash -c "cd '$(dirname "$copy")' && '$cc' $typed -o '$scratch/as_said'"
expect_code 0
run "$scratch/as_said"
expect_code 0
run "$scratch/as_said" -Xlog:help
expect_code 64
run "$prefix/bin/stillpoint" --version
expect_code 0
printf '#include <stillpoint.h>\nint main() { return STILLPOINT_OK; }\n' >"$scratch/header.cc"
if command -v c++ >/dev/null; then
    run c++ -fsyntax-only -Wall -Wextra -Werror "-I$prefix/include" "$scratch/header.cc"
    expect_code 0
fi

# Only the public names are global: a program may have our internal ones for itself.
printf '%s\n' '#include <stillpoint.h>' 'int flags = 3; void log_line(void) {}' \
    'int main(void) { stillpoint_shutdown(); return flags - 3; }' >"$scratch/names.c"
# shellcheck disable=SC2046
run "$cc" "$scratch/names.c" -o "$scratch/names" $(pkg-config --cflags --libs stillpoint)
expect_code 0

finish
