/* thread_dump.h -- the ThreadDump operation: every participant's state, doing and
 * native frames, written to stderr after the release.
 *
 * Layer: safepoint/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_THREAD_DUMP_H
#define SAFEPOINT_THREAD_DUMP_H

#include "safepoint/operation.h"

#include <stddef.h>
#include <stdio.h>

struct participant;

/* [any] Once, at start: the sampling signal. */
void thread_dump_install(void);

/* What the layer above adds to each participant of a dump. */
struct thread_dump_extra {
    size_t bytes; /* of a copy, a multiple of 8; one per participant, zeroed once */
    /* In the operation, under its rules: fills copy_out. */
    void (*capture_at_safepoint)(struct participant *participant, void *copy_out);
    /* After the release: whole lines, indented by four. */
    void (*write)(FILE *out, const void *copy);
};
/* [any] Before the first dump; extra lives for ever. */
void thread_dump_set_extra(const struct thread_dump_extra *extra);

/* [any] Makes a request for a dump; equal ones share a stop and a dump. */
void thread_dump_init(struct operation *operation_out);

#endif
