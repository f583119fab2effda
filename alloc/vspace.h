/* vspace.h -- address space reserved once, of which runs become memory and go back.
 *
 * Read next: os_commit() in base/os.h.
 * Layer:     alloc/ sees base/ and safepoint/.
 *
 * Promises
 *   V1  What is committed is all zero, and one call to the system per run.
 *   V2  A refused run is not memory, and what is beside it is as it was.
 * Asks of callers
 *   C1  Offsets and sizes are multiples of a page, inside the space.   [checked, INSIST]
 *   C2  Who knows which runs are committed keeps others out meanwhile: no lock in here.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ALLOC_VSPACE_H
#define ALLOC_VSPACE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct vspace {
    char *base; /* NULL = not reserved */
    size_t bytes;
    uint64_t commit_calls, uncommit_calls; /* to the system, the refused ones too */
};

/* [any] Of a zeroed vspace.  ERR_NO_MEMORY, ERR_SYSTEM. */
MUST_USE enum err vspace_reserve(struct vspace *space, size_t bytes);
/* [any] All of it goes back; the vspace is zeroed again. */
void vspace_release(struct vspace *space);

MUST_USE enum err vspace_commit(struct vspace *space, size_t offset, size_t bytes);
MUST_USE enum err vspace_uncommit(struct vspace *space, size_t offset, size_t bytes);

/* [test] Runs longer than this are refused, as the system would; 0 = no limit. */
void vspace_refuse_longer_for_test(size_t bytes);

#endif
