/* stress_gc_worker.c -- see stress_gc_worker.h.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/stress/stress_gc_worker.h"

#include "base/atomics.h"
#include "gc/collection.h"
#include "gc/roots.h"
#include "tools/stress/stress_checks.h"

#include <stdio.h>
#include <stdlib.h>

#define SEED_STEP UINT64_C(0x9e3779b97f4a7c15) /* odd: each worker its own sequence */
/* Of the heap, for all threads together at most, and for all shared graphs; so that it is full
 * at times only. */
#define OWN_SHARE    3 / 4
#define SHARED_SHARE 1 / 5
#define BUDGET_STEPS 8 /* a thread's budget is 1/8 to 8/8 of its share */

static struct worker workers[WORKERS_MOST];
static uint64_t worker_count; /* threads */
static struct shadow *shared_graph[SHARED_GRAPHS];
static struct lock shared_lock = LOCK_INITIALIZER(SHARED);
static uint64_t own_budget_bytes, shared_budget_bytes; /* of one thread, of one graph */

static _Atomic bool is_over;
static const char *_Atomic refusal;

struct worker *worker_at(uint64_t i) { return &workers[i]; }

void workers_stop(void) { store_seq(&is_over, true); }
void workers_go_on(void) { store_seq(&is_over, false); }

bool workers_are_over(void)
{
    const char *failure;
    return load_relaxed(&is_over) || /* a late look costs one action */
           stress_checks_failures(&failure) > 0;
}

void workers_give_up(const char *what)
{
    const char *before = NULL;
    compare_exchange_seq(&refusal, &before, what);
    workers_stop();
}

const char *workers_refusal(void) { return load_seq(&refusal); }

/* --- roots -------------------------------------------------------------------------------- */

static void visit_graph(struct root_visitor *visitor, struct shadow *graph, const char *what)
{
    root_visit_range(visitor, graph->root, graph->root + SHADOW_ROOTS, what);
}

static void visit_worker(struct worker *w, struct root_visitor *visitor, const char *what)
{
    for (int i = 0; i < WORKER_GRAPHS; i++)
        visit_graph(visitor, w->graph[i], what);
    if (w->forgotten)
        root_visit(visitor, &w->forgotten->root[0], what); /* and not root 1: the control */
}

static void each_root_at_safepoint(struct mutator *mutator, struct root_visitor *visitor)
{
    struct worker *w = (struct worker *)mutator;
    if (!w->is_adopted)
        visit_worker(w, visitor, "a worker's root");
}

/* In a stop nobody holds the lock and uses what it protects: who got it has not left its safe
 * state yet. */
static void each_common_root_at_safepoint(struct root_visitor *visitor)
{
    for (int i = 0; i < SHARED_GRAPHS; i++)
        visit_graph(visitor, shared_graph[i], "a shared root");
    for (uint64_t i = 0; i <= worker_count; i++)
        if (workers[i].is_adopted)
            visit_worker(&workers[i], visitor, "an adopted root");
}

/* --- start, attach, detach -------------------------------------------------------------- */

static bool new_graph(struct shadow **graph_out)
{
    struct shadow *graph = calloc(1, sizeof *graph);
    if (graph)
        graph->region_bytes = heap_figures().region_bytes;
    *graph_out = graph;
    return graph != NULL;
}

static bool start_worker(struct worker *w, uint32_t number, uint64_t seed)
{
    prng_seed(&w->looker.prng, seed + (number + 1) * SEED_STEP);
    snprintf(w->looker.name, sizeof w->looker.name, "worker %u", number);
    w->number = number;
    w->is_adopted = true;
    for (int i = 0; i < WORKER_GRAPHS; i++)
        if (!new_graph(&w->graph[i]))
            return false;
    return true;
}

bool workers_start(uint64_t count, uint64_t seed, bool forgets_a_root)
{
    uint64_t heap_bytes = heap_figures().reserved_bytes;
    worker_count = count;
    own_budget_bytes = heap_bytes * OWN_SHARE / count;
    shared_budget_bytes = heap_bytes * SHARED_SHARE / SHARED_GRAPHS;
    for (int i = 0; i < SHARED_GRAPHS; i++)
        if (!new_graph(&shared_graph[i]))
            return false;
    for (uint32_t i = 0; i <= count; i++)
        if (!start_worker(&workers[i], i, seed))
            return false;
    if (forgets_a_root && !new_graph(&workers[0].forgotten))
        return false;
    roots_set_common(each_common_root_at_safepoint);
    return true;
}

/* Its mutator comes first or last: both have to be right when a stop is on. */
bool worker_attach(struct worker *w)
{
    bool is_early = worker_draw(w, 2);
    w->mutator = (struct mutator){ .each_root_at_safepoint = each_root_at_safepoint };
    if (participant_attach(PARTICIPANT_MUTATOR, w->looker.name, &w->self) != ERR_OK) {
        w->self = NULL;
        workers_give_up("memory for a participant");
        return false;
    }
    if (is_early)
        heap_attach(&w->mutator, w->self);
    participant_leave_safe(w->self, PARTICIPANT_GUEST);
    if (!is_early)
        heap_attach(&w->mutator, w->self);
    w->is_adopted = false;
    return true;
}

void worker_detach(struct worker *w)
{
    w->is_adopted = true;
    if (worker_draw(w, 2))
        participant_enter_safe(w->self, PARTICIPANT_NATIVE);
    heap_detach(&w->mutator);
    participant_detach(w->self);
    w->self = NULL;
}

/* --- checks ---------------------------------------------------------------------------------- */

struct shadow **shared_acquire_mp(struct worker *w)
{
    participant_lock(w->self, &shared_lock);
    return shared_graph;
}

void shared_release(void) { lock_release(&shared_lock); }

bool shared_check_locked(struct worker *w, struct shadow *graph, bool always,
                         struct shadow_node **dead)
{
    if (!always && graph->checked_at == collection_count())
        return true;
    if (!shadow_check(graph, &w->looker, dead))
        return false;
    if (graph->bytes > shared_budget_bytes)
        shadow_clear(graph);
    return true;
}

/* One after the other: a long time under the lock is a long time to a stop. */
static void check_shared_mp(struct worker *w)
{
    w->shared_seen = collection_count();
    for (int i = 0; i < SHARED_GRAPHS && !workers_are_over(); i++) {
        struct shadow_node *dead = NULL;
        struct shadow **shared = shared_acquire_mp(w);
        shared_check_locked(w, shared[i], false, &dead);
        shared_release();
        shadow_free(dead);
        participant_poll(w->self);
    }
}

static bool check_graph(struct worker *w, struct shadow *graph)
{
    struct shadow_node *dead = NULL;
    bool is_good = shadow_check(graph, &w->looker, &dead);
    shadow_free(dead);
    return is_good;
}

static bool check_forgotten(struct worker *w)
{
    return !w->forgotten || w->forgotten->checked_at == collection_count() ||
           check_graph(w, w->forgotten);
}

/* Under the lock each shared graph may have been checked by another since. */
void worker_step_mp(struct worker *w)
{
    participant_poll(w->self);
    for (int i = 0; i < WORKER_GRAPHS; i++)
        if (w->graph[i]->checked_at != collection_count() && !check_graph(w, w->graph[i]))
            return;
    if (check_forgotten(w) && w->shared_seen != collection_count())
        check_shared_mp(w);
}

void worker_check_all(struct worker *w)
{
    for (int i = 0; i < WORKER_GRAPHS; i++)
        if (!check_graph(w, w->graph[i]))
            return;
}

static uint64_t bytes_taken(const struct worker *w)
{
    uint64_t bytes = 0;
    for (int i = 0; i < WORKER_GRAPHS; i++)
        bytes += w->graph[i]->bytes;
    return bytes;
}

/* What is unreachable counts until a check. */
void worker_keep_to_budget(struct worker *w)
{
    if (bytes_taken(w) <= w->budget_bytes)
        return;
    worker_check_all(w);
    uint64_t bytes = bytes_taken(w);
    for (int i = 0; i < WORKER_GRAPHS && bytes > w->budget_bytes; i++) {
        bytes -= w->graph[i]->bytes;
        shadow_clear(w->graph[i]);
    }
    w->budget_bytes = own_budget_bytes * (1 + worker_draw(w, BUDGET_STEPS)) / BUDGET_STEPS;
}

void worker_make_room_mp(struct worker *w)
{
    w->out_of_heap++;
    if (collection_count() == 0)
        return; /* nobody collects: dropping makes no room, and what is there can be checked on */
    for (int i = 0; i < WORKER_GRAPHS; i++)
        if (worker_draw(w, 2))
            shadow_clear(w->graph[i]);
    if (worker_draw(w, 4) == 0) {
        struct shadow **shared = shared_acquire_mp(w);
        shadow_clear(shared[worker_draw(w, SHARED_GRAPHS)]);
        shared_release();
    }
}
