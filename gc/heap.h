/* heap.h -- one reservation of -Xmx, cut into regions; the way to new objects.
 *
 * Read next: heap_allocate_mp() below, then heap.c (regions) and plan.h (collectors).
 * Layer:     gc/.
 *
 * Promises
 *   P1  New memory is all zero: every value nil, every word valid.
 *   P2  Out of heap is NULL, never an abort; the heap stays usable.
 *   P3  committed <= -Xmx, and one call to the system per contiguous run of regions.
 * Asks of callers
 *   C1  In GUEST or VM.  No lock held.  Raw references are dead after a call (mutator.h).
 *   C2  An object is published (stored where others see it) after its last word is set.
 *
 * Who may call: [self] the thread that owns the mutator   [any] any thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_HEAP_H
#define GC_HEAP_H

#include "base/err.h"
#include "gc/mutator.h"
#include "gc/object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [any] Once per process, after the flags are final: reserves, commits -Xms.  message_out
 * (bytes of it) gets one line that names wanted and available on failure. */
MUST_USE enum err heap_start(char *message_out, size_t bytes);
bool heap_is_on(void);
/* [any] Gives the reservation back; for tests that start several heaps. */
void heap_end(void);

/* [self, or who is about to start that thread] Sets up a zeroed mutator, in any state, before its
 * first allocation; its roots count from here on.  participant NULL: the owner puts it in
 * when it runs. */
void heap_attach(struct mutator *mutator, struct participant *participant);
/* [self] In any state; its TLAB goes back. */
void heap_detach(struct mutator *mutator);

/* [self] The slow half: another TLAB, a humongous object, or NULL = out of heap. */
void *heap_allocate_slow_mp(struct mutator *mutator, size_t bytes);

/* [self] An object of words words, two at least, header included, all zero but for the header;
 * NULL = out of heap, see heap_describe_failure(). */
static inline struct object *heap_allocate_mp(struct mutator *mutator, uint64_t header,
                                              uint64_t words)
{
    size_t bytes = words * OBJECT_WORD_BYTES;
    char *start = mutator->tlab.top;
    if (__builtin_expect(bytes > (size_t)(mutator->tlab.end - start), 0)) {
        start = heap_allocate_slow_mp(mutator, bytes);
        if (!start)
            return NULL;
    } else {
        mutator->tlab.top = start + bytes;
    }
    struct object *object = (struct object *)start;
    store_relaxed(&object->header, header); /* C2: the publishing store releases it */
    return object;
}

/* [any] "asked for 1048592 bytes, 24576 of 4194304 available"; no newline. */
void heap_describe_failure(uint64_t asked_bytes, char *text_out, size_t bytes);

struct heap_figures {
    uint64_t reserved_bytes, committed_bytes, used_bytes; /* used: handed out, TLAB tails too */
    uint64_t region_bytes;
    uint32_t regions_reserved, regions_committed, regions_used, regions_humongous;
    uint64_t commit_calls;
};
struct heap_figures heap_figures(void);

/* [any] Is the address inside the reservation?  Objects elsewhere are immortal. */
bool heap_contains(const void *address);

/* [operation] Checks that every root is a value, that every reference leads to an object
 * start or to an immortal object, and that objects tile the used part of each region;
 * writes the first fault to text_out and returns false. */
bool heap_verify_at_safepoint(char *text_out, size_t bytes);

#endif
