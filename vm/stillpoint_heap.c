/* stillpoint_heap.c -- the public header's heap over gc/.
 *
 * The public struct stillpoint_mutator is the head of ours, so that the header can allocate and
 * open slots inline.
 *
 * Note [H] Handles.  They stand in a list that a marked lock, of rank ROOTS, protects: making and
 * ending one takes it, a collection walks it under the lock.  What a handle leads to is stored with
 * release and loaded with acquire, so any thread may read what another has stored; while a thread
 * is in guest no collection changes it.
 *
 * SPDX-License-Identifier: MIT */
#include "base/insist.h"
#include "gc/collection.h"
#include "gc/heap.h"
#include "gc/roots.h"
#include "safepoint/stops.h"
#include "vm/stillpoint.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct heap_thread {
    struct mutator mutator; /* first */
};

#define SAME(public_member, member)                                                                \
    _Static_assert(offsetof(struct stillpoint_mutator, public_member) ==                           \
                       offsetof(struct mutator, member),                                           \
                   "the public head is the mutator's")
SAME(private_top, tlab.top);
SAME(private_end, tlab.end);
SAME(private_slots, rooted);
_Static_assert(sizeof(struct stillpoint_slot) == sizeof(struct rooted) &&
                   offsetof(struct stillpoint_slot, private_outer) ==
                       offsetof(struct rooted, outer),
               "a slot is a ROOTED slot");
_Static_assert(STILLPOINT_PRIVATE_KIND == (uint64_t)OBJECT_RECORD << 32 &&
                   STILLPOINT_PRIVATE_MOST_WORDS == OBJECT_MAX_WORDS,
               "the header of a RECORD");

static struct mutator *mutator_of(struct stillpoint_mutator *m)
{
    return &((struct heap_thread *)m)->mutator;
}

/* --- start, threads ---------------------------------------------------------------------- */

struct stillpoint_handle {
    _Atomic value_t value;
    struct stillpoint_handle *next, **link;
};

static struct lock handles_lock = LOCK_INITIALIZER(ROOTS);
static struct stillpoint_handle *handles; /* [H] */

static void each_handle(struct root_visitor *visitor)
{
    lock_acquire(&handles_lock); /* marked: an operation may */
    for (struct stillpoint_handle *h = handles; h; h = h->next)
        root_visit(visitor, (value_t *)&h->value, "handle");
    lock_release(&handles_lock);
}

enum stillpoint_result stillpoint_heap_start(char *message_out, size_t message_bytes)
{
    char message[512] = "";
    if (!stops_are_on() || heap_is_on()) {
        snprintf(message_out, message_bytes, "the heap %s",
                 heap_is_on() ? "is started already" : "comes after stillpoint_start()");
        return STILLPOINT_STATE;
    }
    if (heap_start(message, sizeof message) == ERR_OK) {
        roots_set_common(each_handle);
        return STILLPOINT_OK;
    }
    snprintf(message_out, message_bytes, "%s", message);
    return STILLPOINT_ENVIRONMENT;
}

enum stillpoint_result stillpoint_heap_attach(struct stillpoint_thread *self,
                                              struct stillpoint_mutator **mutator_out)
{
    INSIST(heap_is_on(), "stillpoint_heap_attach() before stillpoint_heap_start()");
    struct heap_thread *thread = calloc(1, sizeof *thread);
    if (!thread)
        return STILLPOINT_ENVIRONMENT;
    heap_attach(&thread->mutator, (struct participant *)self);
    *mutator_out = (struct stillpoint_mutator *)thread;
    return STILLPOINT_OK;
}

void stillpoint_heap_detach(struct stillpoint_mutator *m)
{
    heap_detach(mutator_of(m));
    free(m);
}

/* --- objects -------------------------------------------------------------------------------- */

struct stillpoint_object *stillpoint_allocate_slow(struct stillpoint_mutator *m,
                                                   uint32_t references, size_t raw_bytes)
{
    uint64_t words = stillpoint_private_words(references, raw_bytes);
    if (raw_bytes > (size_t)STILLPOINT_PRIVATE_MOST_WORDS * 8 || words > OBJECT_MAX_WORDS)
        return NULL;
    return (struct stillpoint_object *)heap_allocate_mp(
        mutator_of(m), object_header(OBJECT_RECORD, words, references), words);
}

bool stillpoint_collect(struct stillpoint_mutator *m)
{
    return collection_request_mp(mutator_of(m), COLLECTION_SYSTEM_GC, 0);
}

void stillpoint_slot_misused(const char *what)
{
    INSIST(false, "a slot is %s", what);
    abort(); /* not reached */
}

/* --- handles -----------------------------------------------------------------------------------
 */

struct stillpoint_handle *stillpoint_handle_new(struct stillpoint_mutator *m,
                                                struct stillpoint_object *object)
{
    struct stillpoint_handle *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    ROOTED(mutator_of(m), kept, value_of_object((struct object *)object));
    participant_lock(mutator_of(m)->participant, &handles_lock); /* may stop: read after it */
    store_release(&h->value, kept.value);                        /* [H] */
    h->next = handles;
    h->link = &handles;
    if (h->next)
        h->next->link = &h->next;
    handles = h;
    lock_release(&handles_lock);
    return h;
}

void stillpoint_handle_free(struct stillpoint_handle *h)
{
    lock_acquire(&handles_lock); /* whoever has it waits for nothing */
    *h->link = h->next;
    if (h->next)
        h->next->link = h->link;
    lock_release(&handles_lock);
    free(h);
}

struct stillpoint_object *stillpoint_handle_get(const struct stillpoint_handle *h)
{
    return (struct stillpoint_object *)(uintptr_t)load_acquire(&h->value); /* [H] */
}

void stillpoint_handle_set(struct stillpoint_handle *h, struct stillpoint_object *object)
{
    store_release(&h->value, (uintptr_t)object); /* [H] */
}

/* --- figures
 * --------------------------------------------------------------------------------------- */

void stillpoint_get_heap_figures(struct stillpoint_heap_figures *figures_out)
{
    struct heap_figures heap = heap_figures();
    const struct collection_totals *totals = collection_totals();
    const struct hist *pauses = &totals->pause_ns;
    *figures_out = (struct stillpoint_heap_figures){
        .used_bytes = heap.used_bytes,
        .committed_bytes = heap.committed_bytes,
        .most_bytes = heap.reserved_bytes,
        .allocated_bytes = totals->allocated_bytes,
        .collections = totals->collections,
        .pauses_sum_ns = pauses->sum,
        .pause = { .max_ns = hist_max(pauses) },
    };
    hist_percentile(pauses, 50, &figures_out->pause.p50_ns);
    hist_percentile(pauses, 90, &figures_out->pause.p90_ns);
    hist_percentile(pauses, 99, &figures_out->pause.p99_ns);
}
