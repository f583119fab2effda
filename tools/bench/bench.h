/* bench.h -- stillpoint bench: microbenchmarks against their limits.
 *
 * Layer: tools/.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_BENCH_BENCH_H
#define TOOLS_BENCH_BENCH_H

/* argv begins after the subcommand's name.  Returns the exit code. */
int bench_main(int argc, char **argv);

#endif
