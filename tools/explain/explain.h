/* explain.h -- stillpoint explain: one stop, told step by step.
 *
 * Layer: tools/.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_EXPLAIN_EXPLAIN_H
#define TOOLS_EXPLAIN_EXPLAIN_H

/* argv begins after the subcommand's name.  Returns the exit code. */
int explain_main(int argc, char **argv);

#endif
