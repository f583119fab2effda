/* bulk.c -- zeroing big memory, in chunks with polls between them.
 *
 * The disease this file cures: a runtime clears a buffer of a gigabyte in one
 * call, and every other thread waits for the end of it whenever a stop falls
 * into that time.  Policy `whole` keeps the disease to compare with; it takes
 * the same way through the code, as an operation of one chunk.
 *
 *   bulk_zero_plan      policy, chunk, kernel: decided once, no memory touched
 *   bulk_zero_run_mp    kernel | progress, witness, poll | kernel | ... | kernel
 *
 * What a chunk costs a stop is what it takes to write it.  On the machine of
 * bulk_kernels.c, nt-avx2, median chunk of one pass over 256 MiB: 64 KiB 0.8 us,
 * 256 KiB 3.1, 1 MiB 12, 4 MiB 48 on memory touched before; about 31, 109, 411 and
 * 1695 on fresh memory, where the page faults are the price.  The fresh figures
 * are rough: a guest's faults cost several times as much when the host has taken
 * its free pages back, and it did so in part while these were taken.
 *
 * SPDX-License-Identifier: MIT */
#include "alloc/bulk.h"

#include "base/insist.h"

static const struct doing_what zeroing = {
    .kind = "zero",
    .text = "zeroing a buffer",
    .unit = "bytes",
};

struct bulk_plan bulk_zero_plan(size_t bytes, enum bulk_policy policy, size_t chunk_bytes)
{
    INSIST(policy == BULK_POLICY_WHOLE || policy == BULK_POLICY_CHUNKED, "bulk policy %d",
           (int)policy);
    INSIST(chunk_bytes > 0, "a chunk of 0 bytes never gets to the end of %zu", bytes);

    if (policy == BULK_POLICY_WHOLE && bytes > 0)
        chunk_bytes = bytes;
    return (struct bulk_plan){
        .kernel = bulk_zero_kernel_for(bytes),
        .chunk_bytes = chunk_bytes,
        /* Rounded up without a sum that could wrap. */
        .chunks = bytes / chunk_bytes + (bytes % chunk_bytes != 0),
    };
}

size_t bulk_zero_run_mp(struct participant *self, void *start, size_t bytes,
                        const struct bulk_plan *plan)
{
    INSIST(self != NULL, "zeroing %zu bytes needs a participant that can poll", bytes);
    INSIST(bytes / plan->chunk_bytes + (bytes % plan->chunk_bytes != 0) == plan->chunks,
           "a plan of %zu chunks of %zu bytes for %zu bytes", plan->chunks, plan->chunk_bytes,
           bytes);
    if (bytes == 0)
        return 0;

    struct doing *doing = participant_doing(self);
    struct doing_value before = doing_begin(doing, &zeroing, bytes);
    size_t done = 0;
    for (;;) {
        size_t left = bytes - done;
        size_t now = left < plan->chunk_bytes ? left : plan->chunk_bytes;
        plan->kernel->zero((char *)start + done, now);
        done += now;
        doing_progress(doing, done);
        participant_count_chunk(self);
        if (done == bytes)
            break; /* no poll after the last: the caller publishes first */
        participant_poll(self);
    }
    doing_end(doing, before);
    return plan->chunks;
}

size_t bulk_zero_with_mp(struct participant *self, void *start, size_t bytes,
                         enum bulk_policy policy, size_t chunk_bytes)
{
    struct bulk_plan plan = bulk_zero_plan(bytes, policy, chunk_bytes);
    return bulk_zero_run_mp(self, start, bytes, &plan);
}

size_t bulk_zero_mp(struct participant *self, void *start, size_t bytes)
{
    return bulk_zero_with_mp(self, start, bytes, flags->bulk_policy, flags->bulk_chunk_bytes);
}
