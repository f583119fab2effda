/* collection.h -- a full collection: who asks for one, and what it did.
 *
 * Read next: collection.c (a request, from the first word to the last), then mark.c and slide.c.
 * Layer:     gc/.
 *
 * Promises
 *   G1  Requests are coalesced by the number of collections: who asks names the number it saw,
 *       and is answered without a stop when one has been done since.
 *   G2  A record is complete when an observer sees it, after the release of its stop.
 *
 * Who may call: [self] the thread that owns the mutator   [any] any thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_COLLECTION_H
#define GC_COLLECTION_H

#include "base/hist.h"
#include "gc/mutator.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts are HotSpot's: readers of its logs have closed lists of them.
 *   row: name, text in logs, kind of operation */
#define COLLECTION_CAUSE_LIST(X)                                                                   \
    X(SYSTEM_GC, "System.gc()", COLLECT_FULL)                                                      \
    X(ALLOCATION, "G1 Compaction Pause", COLLECT_FOR_ALLOCATION)                                   \
    X(HUMONGOUS, "G1 Humongous Allocation", COLLECT_FOR_ALLOCATION)                                \
    X(DIRECT_MEMORY, "System.gc()", COLLECT_FULL)                                                  \
    X(STRESS, "Diagnostic Command", COLLECT_FULL)

enum collection_cause {
#define X(name, text, operation) COLLECTION_##name,
    COLLECTION_CAUSE_LIST(X)
#undef X
        COLLECTION_CAUSES
};
const char *collection_cause_text(enum collection_cause cause);

/* Phases of the stop, in their order; texts are HotSpot's. */
#define COLLECTION_PHASE_LIST(X)                                                                   \
    X(MARK, "Mark live objects")                                                                   \
    X(PREPARE, "Prepare compaction")                                                               \
    X(ADJUST, "Adjust pointers")                                                                   \
    X(COMPACT, "Compact heap")                                                                     \
    X(RESET, "Reset Metadata")

enum collection_phase {
#define X(name, text) COLLECTION_PHASE_##name,
    COLLECTION_PHASE_LIST(X)
#undef X
        COLLECTION_PHASES
};
const char *collection_phase_text(enum collection_phase phase);

/* What one collection did.  Times are monotonic; bytes count whole objects. */
struct collection_record {
    uint64_t number; /* from 0, as in "GC(0)" */
    enum collection_cause cause;
    unsigned workers, workers_most;
    uint64_t begin_ns, end_ns; /* of the work inside the stop, verification included */
    uint64_t phase_begin_ns[COLLECTION_PHASES], phase_ns[COLLECTION_PHASES];
    uint64_t verify_before_ns, verify_during_ns, verify_after_ns; /* 0 = not asked for */
    uint64_t user_ns, system_ns; /* CPU time of all workers together */
    uint64_t faults;             /* page faults of all workers together */
    uint64_t used_before_bytes, used_after_bytes;
    uint64_t capacity_before_bytes, capacity_after_bytes; /* committed */
    uint32_t small_before, small_after;                   /* regions */
    uint32_t humongous_before, humongous_after;           /* regions */
    uint64_t live_objects, live_bytes;                    /* small ones and humongous ones */
    uint64_t moved_objects, moved_bytes;                  /* to another address */
    uint64_t mark_stack_overflows;                        /* times a worker's stack was full */
    uint64_t weak_cleared;                                /* handed to the cleaner */
    uint64_t allocated_bytes;  /* by mutators since the collection before */
    uint64_t tlab_waste_bytes; /* of those, given up in TLABs */
    uint32_t tlab_refills;
};

/* [self, GUEST] Asks for a full collection and waits for it.  bytes: what an allocation failed to
 * get, else 0.  False: nothing was or will be collected (-XX:+UseEpsilonGC; before the start and
 * after the end of stops). */
bool collection_request_mp(struct mutator *mutator, enum collection_cause cause, size_t bytes);
/* [any] Collections begun; a mutator that sees another number than before may find all objects
 * elsewhere. */
uint64_t collection_count(void);

/* Sums over all collections since the heap's start. */
struct collection_totals {
    uint64_t collections, per_cause[COLLECTION_CAUSES];
    struct hist pause_ns; /* end - begin */
    uint64_t user_ns, system_ns, verify_ns;
    uint64_t allocated_bytes, tlab_waste_bytes, tlab_refills; /* up to now */
    uint64_t moved_bytes, weak_cleared;
    uint64_t since_ns; /* the heap's start */
};
/* [any] Not while a collection is being delivered: from an observer, or after stops_exit(). */
const struct collection_totals *collection_totals(void);
/* [start] Called in the VM thread for each collection, after its release; NULL = nobody. */
void collection_set_observer(void (*observe)(const struct collection_record *record));

#endif
