/* heap.c -- start and end, the list of mutators, figures.
 *
 * Nothing is built at the start: the reservation, the records' zero pages, one commit of
 * -Xms.  heap_allocate.c hands memory out.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/heap_priv.h"

#include "base/insist.h"
#include "base/log.h"
#include "base/os.h"
#include "gc/collection_priv.h"
#include "gc/gc_log.h"
#include "gc/heap_sizes.h"

#include <stdio.h>

struct heap heap = { .lock = LOCK_INITIALIZER(SHARED) };

bool heap_is_on(void) { return heap.is_on; }

/* As HotSpot begins a log; readers take the collector and the sizes from here. */
static void log_start_lines(const struct heap_sizes *sizes)
{
    char max[32], initial[32], region[32];
    heap_sizes_text(sizes->max_bytes, max, sizeof max);
    heap_sizes_text(sizes->initial_bytes, initial, sizeof initial);
    heap_sizes_text(sizes->region_bytes, region, sizeof region);
    log_line(LOG_TAGS_GC_HEAP, LOG_LEVEL_DEBUG,
             "Minimum heap %llu  Initial heap %llu  Maximum heap %llu",
             (unsigned long long)sizes->initial_bytes, (unsigned long long)sizes->initial_bytes,
             (unsigned long long)sizes->max_bytes);
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "Using %s", heap.plan->name);
    log_line(LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "Heap Region Size: %s", region);
    log_line(LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "Heap Min Capacity: %s", initial);
    log_line(LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "Heap Initial Capacity: %s", initial);
    log_line(LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "Heap Max Capacity: %s", max);
    log_line(LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "Pre-touch: Disabled");
    if (heap.plan->collects)
        gc_log_init(collection_workers_most());
}

static enum err fail(enum err err, const char *what, const char *flag, uint64_t wanted_bytes,
                     char *message_out, size_t bytes)
{
    char wanted[32];
    heap_sizes_text(wanted_bytes, wanted, sizeof wanted);
    snprintf(message_out, bytes,
             "cannot %s %s for the heap, this machine has %lluM: %s; try a smaller %s", what,
             wanted, (unsigned long long)(os_memory_bytes() >> 20), err_text(err), flag);
    return err;
}

static void end_tables(void)
{
    if (heap.regions.side)
        side_tables_end(&heap.side);
    region_table_end(&heap.regions);
}

/* Of the flags that make collections come when nothing needs them. */
static void start_stress(void)
{
    heap.is_stress_random = flags->gc_alot;
    heap.stress_interval = flags->gc_alot ? flags->gc_alot_interval : flags->gc_stress_interval;
    if (!heap.plan->collects)
        heap.stress_interval = 0;
}

static enum err start_side_tables(const struct heap_sizes *sizes)
{
    struct region_table *t = &heap.regions;
    if (!heap.plan->collects)
        return ERR_OK;
#ifdef __x86_64__
    INSIST(__builtin_cpu_supports("popcnt"), "this CPU has no popcnt: no collector can run on it");
#endif
    enum err err = side_tables_start(&heap.side, t->space.base, sizes->max_bytes);
    if (err == ERR_OK)
        t->side = &heap.side;
    return err;
}

enum err heap_start(char *message_out, size_t bytes)
{
    struct heap_sizes sizes = heap_sizes_of_flags();
    struct region_table *t = &heap.regions;
    INSIST(!heap.is_on, "the heap is started twice");
    heap.plan = plan_chosen();
    enum err err = region_table_start(t, sizes.max_bytes, sizes.region_bytes);
    if (err != ERR_OK)
        return fail(err, "reserve", "-Xmx", sizes.max_bytes, message_out, bytes);
    err = start_side_tables(&sizes);
    if (err == ERR_OK)
        err = collection_start();
    if (err == ERR_OK)
        err = region_commit_first(t, (uint32_t)(sizes.initial_bytes / sizes.region_bytes));
    if (err != ERR_OK) {
        collection_end();
        end_tables();
        return fail(err, "commit", "-Xms", sizes.initial_bytes, message_out, bytes);
    }
    heap.tlab_bytes = sizes.tlab_bytes;
    heap.is_tlab_fixed = !flags->resize_tlab;
    heap.shared = REGION_NONE;
    heap.rest_cursor = 0;
    heap.no_rest_from = heap.used_bytes = 0;
    heap.allocated_bytes = heap.waste_bytes = heap.refills = 0;
    heap.was_refused = heap.was_hopeless = false;
    heap.overhead = 0;
    heap.goal = heap.plan->collects ? t->committed : t->reserved;
    start_stress();
    heap.is_on = true;
    log_start_lines(&sizes);
    return ERR_OK;
}

void heap_end(void)
{
    INSIST(heap.is_on && !heap.mutators, "the heap ends%s",
           heap.is_on ? " while mutators are attached" : " twice");
    heap_verify_end();
    collection_end();
    end_tables();
    heap.is_on = false;
}

bool heap_contains(const void *address)
{
    return (uintptr_t)address - (uintptr_t)heap.regions.space.base < heap.regions.space.bytes;
}

/* --- mutators ------------------------------------------------------------------ */

void heap_attach(struct mutator *mutator, struct participant *participant)
{
    INSIST(!mutator->link && !mutator->tlab.end && !mutator->rooted,
           "a mutator attaches that is not zeroed");
    mutator->participant = participant;
    lock_acquire(&heap.lock);
    mutator->next = heap.mutators;
    mutator->link = &heap.mutators;
    if (mutator->next)
        mutator->next->link = &mutator->next;
    heap.mutators = mutator;
    lock_release(&heap.lock);
}

void heap_detach(struct mutator *mutator)
{
    INSIST(!mutator->rooted, "a mutator detaches with a ROOTED slot alive");
    lock_acquire(&heap.lock);
    INSIST(mutator->link, "a mutator detaches that is not attached");
    heap_retire_tlab_locked(mutator);
    heap.allocated_bytes += mutator->allocated_bytes - mutator->tlab_figures.allocated_then;
    heap.waste_bytes += mutator->tlab_figures.waste_bytes;
    heap.refills += mutator->tlab_figures.refills;
    *mutator->link = mutator->next;
    if (mutator->next)
        mutator->next->link = mutator->link;
    lock_release(&heap.lock);
    mutator->next = NULL;
    mutator->link = NULL;
}

/* --- figures --------------------------------------------------------------------- */

struct heap_figures heap_figures(void)
{
    const struct region_table *t = &heap.regions;
    lock_acquire(&heap.lock);
    struct heap_figures figures = {
        .reserved_bytes = (uint64_t)t->reserved << t->region_shift,
        .committed_bytes = (uint64_t)t->committed << t->region_shift,
        .used_bytes = heap.used_bytes,
        .region_bytes = t->region_bytes,
        .regions_reserved = t->reserved,
        .regions_committed = t->committed,
        .regions_used = t->used,
        .regions_humongous = t->humongous,
        .commit_calls = t->space.commit_calls,
    };
    lock_release(&heap.lock);
    return figures;
}

/* Available: nobody has it.  It can lie in pieces, each too small. */
void heap_describe_failure(uint64_t asked_bytes, char *text_out, size_t bytes)
{
    struct heap_figures figures = heap_figures();
    lock_acquire(&heap.lock);
    bool was_refused = heap.was_refused, was_hopeless = heap.was_hopeless;
    lock_release(&heap.lock);
    snprintf(text_out, bytes, "asked for %llu bytes, %llu of %llu available%s",
             (unsigned long long)asked_bytes,
             (unsigned long long)(figures.reserved_bytes - figures.used_bytes),
             (unsigned long long)figures.reserved_bytes,
             was_hopeless  ? ", GC overhead limit exceeded"
             : was_refused ? ", but the system gives no more"
                           : "");
}
