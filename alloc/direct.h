/* direct.h -- direct memory: buffers outside the heap, under one limit.
 *
 * Read next: Note [U] in direct.c.
 * Layer:     alloc/ sees base/ and safepoint/.
 *
 * Promises
 *   D1  reserved is never above the limit, and never below what buffers hold: it is raised
 *       before memory is taken and lowered after it was given back.  Bytes count as asked for.
 *   D2  A buffer is freed once, by one thread, and never while somebody uses it.
 *   D3  A failure leaves nothing behind.
 * Asks of callers
 *   C1  The bytes are touched between direct_use() and direct_done() only.
 *   C2  direct_allocate() and direct_free() may take long: [self] in a safe state.
 *
 * Who may call:  [any] any thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef ALLOC_DIRECT_H
#define ALLOC_DIRECT_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stdint.h>

/* The record of one buffer; outlives its memory, so that a late use finds out. */
struct direct_buffer {
    _Atomic uint64_t uses; /* how many use it; DIRECT_FREED, [U] */
    char *bytes;
    uint64_t size; /* as asked for */
    bool is_mapped;
};
#define DIRECT_FREED (UINT64_C(1) << 63)

#define DIRECT_MOST_BYTES (UINT64_C(1) << 40) /* of one buffer; arbitrary, far above memory */

enum direct_result {
    DIRECT_OK,
    DIRECT_LIMIT,     /* the limit does not allow it */
    DIRECT_NO_MEMORY, /* the system has none */
    DIRECT_IN_USE,    /* somebody uses it */
    DIRECT_WAS_FREED, /* by an earlier direct_free() */
};

/* [any] Before the first buffer. */
void direct_set_limit(uint64_t bytes);

/* [any] Fills in a zeroed record; the memory's content is undefined.  The buffer is in use by the
 * caller, once.  OK, LIMIT or NO_MEMORY. */
enum direct_result direct_allocate(uint64_t bytes, struct direct_buffer *buffer);
/* [any] Gives the memory back; the record stays.  OK, IN_USE or WAS_FREED. */
enum direct_result direct_free(struct direct_buffer *buffer);

/* [any] Its bytes may be touched until direct_done().  False: it was freed. */
static inline bool direct_use(struct direct_buffer *buffer)
{
    if (!(fetch_add_seq(&buffer->uses, 1) & DIRECT_FREED)) /* [U] */
        return true;
    fetch_sub_seq(&buffer->uses, 1);
    return false;
}
static inline void direct_done(struct direct_buffer *buffer)
{
    fetch_sub_seq(&buffer->uses, 1); /* [U] */
}

struct direct_figures {
    uint64_t limit_bytes, reserved_bytes, buffers;
};
/* [any] Each figure of some moment during the call. */
struct direct_figures direct_figures(void);

#endif
