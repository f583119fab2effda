/* ttsp.h -- stillpoint ttsp: measure time to safepoint.
 *
 * Layer: tools/.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_TTSP_TTSP_H
#define TOOLS_TTSP_TTSP_H

/* argv begins after the subcommand's name.  Returns the exit code. */
int ttsp_main(int argc, char **argv);

#endif
