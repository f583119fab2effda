/* stress.h -- stillpoint stress: the machinery against itself, seeded.
 *
 * Read next: stress.c (the command), stress_protocol.h (the one test there is so far).
 * Layer:     tools/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_STRESS_STRESS_H
#define TOOLS_STRESS_STRESS_H

/* [main thread] The arguments after "stress"; returns the exit code. */
int stress_main(int argc, char **argv);

#endif
