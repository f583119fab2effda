/* thread_dump.h -- the ThreadDump operation: every participant's state, doing and
 * native frames, written to stderr after the release.
 *
 * Layer: safepoint/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_THREAD_DUMP_H
#define SAFEPOINT_THREAD_DUMP_H

#include "safepoint/operation.h"

/* [any] Once, at start: the sampling signal. */
void thread_dump_install(void);
/* [any] Makes a request for a dump; equal ones share a stop and a dump. */
void thread_dump_init(struct operation *operation_out);

#endif
