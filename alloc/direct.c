/* direct.c -- see direct.h.
 *
 * Note [U] Uses.  One word: bit 63 = freed, below it how many use the buffer.
 *     use    adds 1, then looks whether the bit was set; if so takes the 1 back
 *     free   exchanges 0 for the bit; anything but 0 there, and it fails
 *   All are read-modify-writes of one word, so they have one order.  Either a use comes
 *   before the free, which then finds no 0; or it comes after and finds the bit.  The 1
 *   that a late use leaves there for a moment harms nobody: nobody waits for 0 once the bit is set.
 *   What a user stored is seen by who frees, and by who unmaps: seq_cst is acquire and release.
 *
 * SPDX-License-Identifier: MIT */
#include "alloc/direct.h"

#include "base/insist.h"
#include "base/os.h"

#include <stdlib.h>

/* From here on memory comes from the system by itself and goes back to it at once; below,
 * a call would cost more than what it gives.  glibc's own threshold. */
#define MAPPED_FROM ((uint64_t)128 << 10)

static _Atomic uint64_t limit_bytes, reserved_bytes, buffer_count;

void direct_set_limit(uint64_t bytes) { store_relaxed(&limit_bytes, bytes); } /* no buffer yet */

static bool reserve(uint64_t bytes)
{
    uint64_t limit = load_relaxed(&limit_bytes);       /* written before any buffer */
    uint64_t reserved = load_relaxed(&reserved_bytes); /* checked by the exchange */
    do {
        if (bytes > limit || reserved > limit - bytes)
            return false;
    } while (!compare_exchange_seq(&reserved_bytes, &reserved, reserved + bytes));
    return true;
}

static void unreserve(uint64_t bytes)
{
    uint64_t before = fetch_sub_seq(&reserved_bytes, bytes);
    INSIST(before >= bytes, "%llu bytes of direct memory go back, %llu were reserved",
           (unsigned long long)bytes, (unsigned long long)before);
}

enum direct_result direct_allocate(uint64_t bytes, struct direct_buffer *buffer)
{
    if (bytes > DIRECT_MOST_BYTES || !reserve(bytes))
        return DIRECT_LIMIT;
    buffer->is_mapped = bytes >= MAPPED_FROM;
    buffer->bytes = buffer->is_mapped ? os_map(bytes) : malloc(bytes ? bytes : 1);
    if (!buffer->bytes) {
        unreserve(bytes);
        return DIRECT_NO_MEMORY;
    }
    buffer->size = bytes;
    store_relaxed(&buffer->uses, 1); /* ours; published with the buffer */
    fetch_add_relaxed(&buffer_count, 1);
    return DIRECT_OK;
}

enum direct_result direct_free(struct direct_buffer *buffer)
{
    uint64_t uses = 0;
    if (!compare_exchange_seq(&buffer->uses, &uses, DIRECT_FREED)) /* [U] */
        return uses & DIRECT_FREED ? DIRECT_WAS_FREED : DIRECT_IN_USE;
    if (buffer->is_mapped)
        os_unmap(buffer->bytes, buffer->size);
    else
        free(buffer->bytes);
    buffer->bytes = NULL;
    unreserve(buffer->size); /* D1: last */
    fetch_add_relaxed(&buffer_count, (uint64_t)-1);
    return DIRECT_OK;
}

struct direct_figures direct_figures(void)
{
    return (struct direct_figures){ load_relaxed(&limit_bytes), load_relaxed(&reserved_bytes),
                                    load_relaxed(&buffer_count) }; /* statistics */
}
