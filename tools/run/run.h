/* run.h -- stillpoint run: a guest program.
 *
 * Layer: tools/.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_RUN_RUN_H
#define TOOLS_RUN_RUN_H

/* argv begins after the subcommand's name.  Returns the exit code. */
int run_main(int argc, char **argv);

#endif
