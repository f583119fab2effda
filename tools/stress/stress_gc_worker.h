/* stress_gc_worker.h -- a thread of stress gc: its graphs, the shared ones, the checks on both.
 *
 * Read next: stress_gc_actions.c: what a worker does; stress_gc.c: the run.
 * Layer:     tools/, for the files of stress gc.
 *
 *   what                     user                             shown to collectors
 *   a worker's graphs        the worker                       by its mutator; while is_adopted,
 *                                                             with the common roots
 *   the shared graphs        who holds their lock             with the common roots
 *
 * is_adopted changes in GUEST only, so it is one and the same during a stop, and no root is
 * shown twice.  For the same reason a graph that changes hands under the lock is always shown.
 *
 * Who may call:  [start] the only thread, before others start   [self] the worker, in GUEST
 *                [any] any thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_STRESS_STRESS_GC_WORKER_H
#define TOOLS_STRESS_STRESS_GC_WORKER_H

#include "base/lock.h"
#include "safepoint/participant.h"
#include "tools/stress/stress_gc_shadow.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define WORKERS_MOST  65 /* threads, and the one that looks at the end */
#define WORKER_GRAPHS 4
#define SHARED_GRAPHS 4

struct worker {
    struct mutator mutator; /* first: a visitor gets its address */
    struct shadow_looker looker;
    struct participant *self;
    struct shadow *graph[WORKER_GRAPHS];
    bool is_adopted; /* starts true: not attached yet */
    uint32_t number;
    uint64_t made; /* nodes; their ids */
    uint64_t actions, out_of_heap;
    uint64_t budget_bytes;    /* of its graphs; drawn again each time it is exceeded */
    uint64_t shared_seen;     /* collection_count() when it last checked the shared graphs */
    struct shadow *forgotten; /* --program forgotten-root: root 1 is not shown; else NULL */
    pthread_t thread;
};

/* [start] False: the system has no memory. */
bool workers_start(uint64_t count, uint64_t seed, bool forgets_a_root);
/* [any] 0 .. count; the last is not a thread of its own. */
struct worker *worker_at(uint64_t i);

/* [any] The run ends, as it should or because a check has failed. */
void workers_stop(void);
void workers_go_on(void); /* [start] when all have ended, for who looks at the end */
bool workers_are_over(void);
/* [any] The same, because the system refused something: text of the first. */
void workers_give_up(const char *what);
const char *workers_refusal(void); /* NULL = nothing was refused; when all have ended */

/* [self, unattached] To GUEST as a new participant with its mutator; false: given up. */
bool worker_attach(struct worker *w);
/* [self] From GUEST, to no participant at all. */
void worker_detach(struct worker *w);

static inline uint64_t worker_draw(struct worker *w, uint64_t below)
{
    return prng_below(&w->looker.prng, below);
}
static inline struct shadow *worker_draw_graph(struct worker *w)
{
    return w->graph[worker_draw(w, WORKER_GRAPHS)];
}

/* [self] The shared graphs, from here to shared_release(): no _mp, no allocation. */
struct shadow **shared_acquire_mp(struct worker *w);
void shared_release(void);

/* [self] A poll; after a collection all graphs that it may have changed are checked. */
void worker_step_mp(struct worker *w);
/* [self] Checks all of its graphs. */
void worker_check_all(struct worker *w);
/* [self] Drops what is above its budget.  No node found before is good afterwards. */
void worker_keep_to_budget(struct worker *w);
/* [self] Checks a shared graph that was not checked since the last collection, or all if asked;
 * false: it failed.  Holds the lock. */
bool shared_check_locked(struct worker *w, struct shadow *graph, bool always,
                         struct shadow_node **dead);
/* [self] Out of heap: drops some roots.  No node found before is good afterwards. */
void worker_make_room_mp(struct worker *w);

#endif
