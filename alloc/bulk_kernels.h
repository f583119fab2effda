/* bulk_kernels.h -- the loops that write zeroes, and which one fits which size.
 *
 * Read next: bulk_kernels.c (the figures the choice rests on), then bulk.h.
 * Layer:     alloc/ sees base/ and safepoint/.
 *
 * Promises
 *   K1  A kernel writes zero to exactly [start, start + bytes), at any alignment.
 *   K2  When a kernel returns, its stores count as ordinary ones: whatever the
 *       thread releases later, an arrival or a publication, releases them too.
 *   K3  The choice depends on the size and the CPU only: constant time, no lock,
 *       nothing resolved at the first call.
 * Asks of callers
 *   C1  Choose by the size of the whole operation, never by one chunk of it.
 *
 * Who may call:  [any]; a kernel never polls
 *
 * SPDX-License-Identifier: MIT */
#ifndef ALLOC_BULK_KERNELS_H
#define ALLOC_BULK_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

/* From this size on an operation goes round the cache.  Measured: bulk_kernels.c. */
#define BULK_NONTEMPORAL_FROM_BYTES ((size_t)24 << 20)

struct bulk_kernel {
    const char *name; /* short, stable, for logs: "memset", "nt-avx2" */
    void (*zero)(void *start, size_t bytes);
};

/* [any] The kernel for an operation of total_bytes in all. */
const struct bulk_kernel *bulk_zero_kernel_for(size_t total_bytes);

/* [any] The kernels this CPU can run, 0 .. count-1, whatever sizes they are
 * chosen for; for tests and benchmarks that force one. */
size_t bulk_zero_kernel_count(void);
const struct bulk_kernel *bulk_zero_kernel_at(size_t index);

#endif
