/* bulk.h -- operations on big memory that a stop can interrupt.
 *
 * Read next: bulk_zero_run_mp() in bulk.c, then bulk_kernels.c for the speed.
 * Layer:     alloc/ sees base/ and safepoint/.
 *
 * Promises
 *   B1  Exactly the bytes of the range are written, at any alignment.
 *   B2  Between two chunks there is one poll, and there is none after the last:
 *       an operation of n chunks polls n - 1 times, one of no bytes never.
 *   B3  Who sees the thread stopped at one of these polls, or sees what it
 *       publishes after the return, sees all that was written until then.
 *   B4  Chunking changes the speed by what the polls cost, nothing else: the
 *       kernel is chosen by the size of the whole operation.
 *   B5  While it runs, participant_doing() tells "zero", the bytes done and the
 *       total; afterwards what it told before.
 * Asks of callers
 *   C1  self is the calling thread's participant, in GUEST or VM.
 *   C2  The range does not move or go away at a poll: off-heap memory, or an
 *       object that is pinned and rooted.
 *   C3  Nobody else sees the range before the call has returned; publish after.
 *
 * Who may call:  [self] the thread that owns the participant   [any] any thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef ALLOC_BULK_H
#define ALLOC_BULK_H

#include "alloc/bulk_kernels.h"
#include "base/flags.h"
#include "safepoint/participant.h"

#include <stddef.h>

/* How one operation will be done; decided once, before its first byte. */
struct bulk_plan {
    const struct bulk_kernel *kernel;
    size_t chunk_bytes; /* written between two polls; at least 1 */
    size_t chunks;      /* 0 when there is nothing to do */
};

/* [any] The plan for zeroing bytes bytes.  whole is chunked with one chunk.
 * chunk_bytes must not be 0; whole ignores it otherwise. */
struct bulk_plan bulk_zero_plan(size_t bytes, enum bulk_policy policy, size_t chunk_bytes);

/* [self] Zeroes [start, start + bytes) as the flags BulkPolicy and
 * BulkChunkBytes say.  May poll.  Returns the number of chunks. */
size_t bulk_zero_mp(struct participant *self, void *start, size_t bytes);

/* [self] The same with policy and chunk given by the caller. */
size_t bulk_zero_with_mp(struct participant *self, void *start, size_t bytes,
                         enum bulk_policy policy, size_t chunk_bytes);

/* [self] The same with a plan made before, for bytes; tests and benchmarks put
 * another kernel into it. */
size_t bulk_zero_run_mp(struct participant *self, void *start, size_t bytes,
                        const struct bulk_plan *plan);

#endif
