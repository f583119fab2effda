/* registry.c -- see registry.h.
 *
 * liburcu gives the grace periods; the links are our own C11 atomics, because
 * ThreadSanitizer cannot see into liburcu's.  For the same reason the edge
 * "reader leaves -> memory is freed" is told to it by hand (rcu_edge).
 *
 * SPDX-License-Identifier: MIT */
#include "safepoint/registry.h"

#include "base/insist.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/trace.h"
#include "safepoint/sched_point.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *);
void __tsan_release(void *);
static char rcu_edge;
#define EDGE_ACQUIRE() __tsan_acquire(&rcu_edge)
#define EDGE_RELEASE() __tsan_release(&rcu_edge)
#else
#define EDGE_ACQUIRE() ((void)0)
#define EDGE_RELEASE() ((void)0)
#endif

static struct lock writers = LOCK_INITIALIZER(REGISTRY);
static _Atomic(struct stop_line *) head;
static struct stop_line *free_lines; /* under the lock; linked by next */
static _Atomic uint32_t count;
static _Atomic uint64_t attached;
static _Thread_local uint32_t read_depth;

#define MOST_ENDED 512 /* 9 MiB of rings, should nobody ask for them; arbitrary */

/* Under the lock. */
static struct participant *ended; /* those with steps; linked by next_ended, newest first */
static uint32_t ended_count;
static uint64_t dropped_ns;

void registry_start(void)
{
    urcu_memb_register_thread(); /* the calling thread only asks for the worker */
    urcu_memb_get_default_call_rcu_data();
    urcu_memb_unregister_thread();
}

void registry_thread_begins(void) { urcu_memb_register_thread(); }
void registry_thread_ends(void) { urcu_memb_unregister_thread(); }

void registry_read_lock(void)
{
    read_depth++;
    urcu_memb_read_lock();
}

void registry_read_unlock(void)
{
    EDGE_RELEASE();
    urcu_memb_read_unlock();
    read_depth--;
}

void registry_synchronize(void)
{
    urcu_memb_synchronize_rcu();
    EDGE_ACQUIRE();
}

bool registry_is_reading(void) { return read_depth != 0; }
struct stop_line *registry_first(void) { return load_seq(&head); }
uint32_t registry_count(void) { return load_relaxed(&count); }       /* a statistic */
uint64_t registry_attached(void) { return load_relaxed(&attached); } /* a statistic */

#define LINES_PER_BLOCK SIZE_OR_TINY(256, 3) /* 16 KiB; arbitrary */

static struct stop_line *pop_free_line(void)
{
    lock_acquire(&writers);
    struct stop_line *line = free_lines;
    if (line)
        free_lines = load_relaxed(&line->next); /* under our lock */
    lock_release(&writers);
    return line;
}

/* Linked in rising order, so that threads that attach one after another get lines that
 * lie one after another.  Blocks are never given back: their number is that of the
 * largest crowd there was. */
static bool make_more_lines(void)
{
    struct stop_line *block = aligned_alloc(CACHE_LINE_BYTES, LINES_PER_BLOCK * sizeof *block);
    if (!block)
        return false;
    memset(block, 0, LINES_PER_BLOCK * sizeof *block);
    lock_acquire(&writers);
    for (int i = LINES_PER_BLOCK - 1; i >= 0; i--) {
        store_relaxed(&block[i].next, free_lines); /* under our lock */
        free_lines = &block[i];
    }
    lock_release(&writers);
    return true;
}

struct stop_line *registry_take_line(void)
{
    struct stop_line *line;
    while (!(line = pop_free_line()))
        if (!make_more_lines())
            return NULL;
    memset(line, 0, sizeof *line);
    store_relaxed(&line->state, PARTICIPANT_NATIVE); /* published by registry_add */
    store_relaxed(&line->arrival_cpu, -1);           /* the same */
    return line;
}

static void give_line_back(struct stop_line *line)
{
    lock_acquire(&writers);
    store_relaxed(&line->next, free_lines); /* under our lock */
    free_lines = line;
    lock_release(&writers);
}

/* The head store is seq_cst, and so are the state accesses around it: either the walk
 * that begins with an odd epoch meets the newcomer, or the newcomer reads that odd
 * epoch when it first leaves NATIVE (Note [D]). */
void registry_add(struct participant *self)
{
    self->number = (uint32_t)fetch_add_relaxed(&attached, 1) + 1; /* before readers see us */
    lock_acquire(&writers);
    struct stop_line *second = load_relaxed(&head); /* written under our lock */
    store_release(&self->line->next, second);
    if (second)
        second->participant->prev = self;
    store_seq(&head, self->line);
    lock_release(&writers);
    fetch_add_relaxed(&count, 1);
}

static void free_participant(struct rcu_head *rcu)
{
    EDGE_ACQUIRE();
    struct participant *p =
        (struct participant *)(void *)((char *)rcu - offsetof(struct participant, rcu));
    give_line_back(p->line);
    trace_ring_destroy(p->trace);
    free(p);
}

static void free_when_unread(struct participant *p)
{
    EDGE_RELEASE();
    urcu_memb_call_rcu(&p->rcu, free_participant);
}

/* Under the lock, after the unlinking: whoever visits finds it in one list or the other. */
static bool keep_ended(struct participant *self)
{
    if (!self->trace || load_relaxed(&self->trace->written) == 0) /* our own ring */
        return false;
    if (ended_count == MOST_ENDED) {
        dropped_ns = os_now_ns();
        return false;
    }
    ended_count++;
    self->next_ended = ended;
    ended = self;
    return true;
}

void registry_remove(struct participant *self)
{
    lock_acquire(&writers);
    struct stop_line *next = load_relaxed(&self->line->next); /* written under our lock */
    if (next)
        next->participant->prev = self->prev;
    if (self->prev)
        store_release(&self->prev->line->next, next);
    else
        store_seq(&head, next);
    bool is_kept = keep_ended(self);
    lock_release(&writers);
    fetch_add_relaxed(&count, (uint32_t)-1);
    if (!is_kept)
        free_when_unread(self);
}

/* Those that are no longer wanted are taken out under the lock and freed behind it. */
static struct participant *visit_ended(registry_visitor *visit, void *argument)
{
    struct participant *unwanted = NULL;
    for (struct participant **link = &ended; *link;) {
        struct participant *p = *link;
        if (visit(p, argument)) {
            link = &p->next_ended;
            continue;
        }
        *link = p->next_ended;
        ended_count--;
        p->next_ended = unwanted;
        unwanted = p;
    }
    return unwanted;
}

uint64_t registry_visit_all(registry_visitor *visit, void *argument)
{
    lock_acquire(&writers);
    registry_for_each (line)
        visit(line->participant, argument);
    struct participant *unwanted = visit_ended(visit, argument);
    uint64_t dropped = dropped_ns;
    lock_release(&writers);
    for (struct participant *next; unwanted; unwanted = next) {
        next = unwanted->next_ended;
        free_when_unread(unwanted);
    }
    return dropped;
}
