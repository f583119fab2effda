/* watchdog.h -- ends the process, with the states of all threads, when a step hangs.
 *
 * Layer: tools/.  One per process.  A step is what watchdog_begin() announces; between
 * watchdog_end() and the next step nothing is watched, however long that is.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_WATCHDOG_H
#define TOOLS_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

/* What a step may take beside the delays that were injected into the stop. */
#define WATCHDOG_LIMIT_SECONDS 10

/* [main thread] A step hangs when for ten seconds and the injected delay it did not end
 * and no stop did.  name: of what runs.  False: the system gave no thread. */
bool watchdog_start(const char *name);
/* [main thread] what completes "NAME: ... for 10 s": "no stop has ended".  Ends the step
 * before. */
void watchdog_begin(const char *what);
void watchdog_end(void);

#endif
