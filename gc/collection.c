/* collection.c -- see collection.h.
 *
 *   mutator                        VM thread
 *   -------                        ---------
 *   collection_request_mp ------>  is_needed: not when one has begun since the request
 *     waits in BLOCKED             prepare: workers, stacks, first touches    | outside the stop
 *                                  run_at_safepoint: retire TLABs, verify,    | all have stopped,
 *                                    mark, prepare, adjust, compact, verify   | heap's lock held
 *                                  finish: clear marks, tell observers        | all run again
 *     goes on  <-----------------  answer
 *
 * Note [L] The heap's lock is held for the whole operation.  Who ends in a safe state takes itself
 *   and its TLAB off the heap under it; so while the collector looks at threads and regions
 *   nobody of them goes away.  Whoever wants the lock in GUEST has stopped; in a safe state it
 *   waits as long as the collection takes.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/collection_priv.h"

#include "base/flags.h"
#include "base/insist.h"
#include "base/os.h"
#include "gc/gc_log.h"
#include "gc/heap_priv.h"
#include "gc/mark.h"
#include "gc/slide.h"
#include "gc/verify_marks.h"
#include "gc/weak.h"
#include "safepoint/operation.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *text;
    enum operation_kind operation;
} causes[] = {
#define X(name, text, operation) { text, OPERATION_##operation },
    COLLECTION_CAUSE_LIST(X)
#undef X
};
const char *collection_cause_text(enum collection_cause cause) { return causes[cause].text; }

static const char *const phase_texts[] = {
#define X(name, text) text,
    COLLECTION_PHASE_LIST(X)
#undef X
};
const char *collection_phase_text(enum collection_phase phase) { return phase_texts[phase]; }

struct request {
    struct operation operation; /* first: the VM thread knows no more */
    enum collection_cause cause;
    uint64_t seen; /* collections begun when it was made */
};

static _Atomic uint64_t begun;
static struct collection_record record; /* of the latest; the VM thread's */
static struct collection_totals totals;
static void (*observer)(const struct collection_record *record);
static struct os_usage usage_before;
static bool is_prepared; /* else the system had no memory for it, and nothing is collected */

/* Relaxed: who sees the number move has been stopped by that collection since, or only wants
 * to know. */
uint64_t collection_count(void) { return load_relaxed(&begun); }
void collection_set_observer(void (*observe)(const struct collection_record *))
{
    observer = observe;
}

/* --- before the stop ------------------------------------------------------------------ */

static bool is_needed(struct operation *operation)
{
    return ((struct request *)operation)->seen == load_relaxed(&begun); /* we alone change it */
}

/* Asked once: the system's answer takes six files (seen: 70 us for each collection). */
unsigned collection_workers_most(void)
{
    static unsigned cpus;
    if (flags->parallel_gc_threads)
        return (unsigned)flags->parallel_gc_threads;
    if (cpus == 0)
        cpus = (unsigned)os_cpus_available();
    return cpus;
}

/* As many as the heap in use is worth. */
static unsigned workers_wanted(uint64_t used_bytes)
{
    uint64_t worth = 1 + used_bytes / flags->heap_size_per_gc_thread;
    return worth < collection_workers_most() ? (unsigned)worth : collection_workers_most();
}

static void prepare(struct operation *operation)
{
    uint64_t used_bytes = heap_figures().used_bytes;
    unsigned wanted = workers_wanted(used_bytes);
    (void)operation;
    lock_acquire(&heap.lock); /* both may grow until the stop begins */
    uint32_t committed = heap.regions.committed, high = heap.regions.high;
    lock_release(&heap.lock);
    record.workers_most = collection_workers_most();
    unsigned there = gang_grow(heap.gang, wanted);
    record.workers = mark_prepare(there < wanted ? there : wanted, used_bytes);
    is_prepared = record.workers > 0 && slide_ready(committed, heap.regions.reserved) == ERR_OK;
    side_tables_touch(&heap.side, (uint64_t)high << heap.regions.region_shift);
}

/* --- in the stop ------------------------------------------------------------------------ */

static void count_regions(uint32_t *small_out, uint32_t *humongous_out)
{
    *small_out = heap.regions.used - heap.regions.humongous;
    *humongous_out = heap.regions.humongous;
}

static uint64_t committed_bytes(void)
{
    return (uint64_t)heap.regions.committed << heap.regions.region_shift;
}

static void verify_before(void)
{
    char fault[256];
    uint64_t start_ns = os_now_ns();
    record.verify_before_ns = record.verify_during_ns = record.verify_after_ns = 0;
    if (!flags->verify_before_gc)
        return;
    INSIST(heap_verify_locked(fault, sizeof fault, NULL),
           "the heap is broken before collection %llu: %s", (unsigned long long)record.number,
           fault);
    record.verify_before_ns = os_now_ns() - start_ns;
}

static void verify_during(uint64_t objects_marked)
{
    char fault[256];
    uint64_t start_ns = os_now_ns();
    if (!flags->verify_during_gc)
        return;
    INSIST(verify_marks_locked(objects_marked, fault, sizeof fault),
           "the marks of collection %llu are wrong: %s", (unsigned long long)record.number, fault);
    record.verify_during_ns = os_now_ns() - start_ns;
}

/* What was counted while marking and moving is what the heap holds now. */
static void verify_after(void)
{
    char fault[256];
    struct heap_contents contents;
    uint64_t start_ns = os_now_ns();
    if (!flags->verify_after_gc)
        return;
    INSIST(heap_verify_locked(fault, sizeof fault, &contents),
           "the heap is broken after collection %llu: %s", (unsigned long long)record.number,
           fault);
    INSIST(contents.objects == record.live_objects && contents.bytes == record.live_bytes,
           "collection %llu left %llu objects of %llu bytes, it counted %llu of %llu",
           (unsigned long long)record.number, (unsigned long long)contents.objects,
           (unsigned long long)contents.bytes, (unsigned long long)record.live_objects,
           (unsigned long long)record.live_bytes);
    record.verify_after_ns = os_now_ns() - start_ns;
}

static void retire_tlabs(void)
{
    record.allocated_bytes = heap.allocated_bytes;
    record.tlab_waste_bytes = heap.waste_bytes;
    record.tlab_refills = (uint32_t)heap.refills;
    heap.allocated_bytes = heap.waste_bytes = heap.refills = 0;
    for (struct mutator *m = heap.mutators; m; m = m->next) {
        heap_retire_tlab_locked(m);
        record.allocated_bytes += m->allocated_bytes - m->tlab_figures.allocated_then;
        record.tlab_waste_bytes += m->tlab_figures.waste_bytes;
        record.tlab_refills += m->tlab_figures.refills;
        heap_resize_tlab_locked(m);
        if (m->forget_leftovers_at_safepoint)
            m->forget_leftovers_at_safepoint(m);
    }
}

static void begin_record(const struct request *request)
{
    record.number = load_relaxed(&begun); /* we alone change it */
    store_relaxed(&begun, record.number + 1);
    record.cause = request->cause;
    record.begin_ns = os_now_ns();
    usage_before = os_process_usage();
    retire_tlabs();
    record.used_before_bytes = heap.used_bytes;
    record.capacity_before_bytes = committed_bytes();
    count_regions(&record.small_before, &record.humongous_before);
}

static void begin_phase(enum collection_phase phase) { record.phase_begin_ns[phase] = os_now_ns(); }
static void end_phase(enum collection_phase phase)
{
    record.phase_ns[phase] = os_now_ns() - record.phase_begin_ns[phase];
}

#define TOO_MANY_IN_A_ROW 5 /* HotSpot's */

/* A heap that is almost full can be collected for ever, for a few objects each time.  Only what the
 * heap needed counts, not what a flag or the program asked for. */
static void count_overhead(uint64_t now_ns)
{
    static uint64_t end_before_ns;
    uint64_t all_ns = now_ns - (end_before_ns ? end_before_ns : totals.since_ns);
    uint64_t most = (uint64_t)heap.regions.reserved << heap.regions.region_shift;
    bool is_too_slow =
        (double)(now_ns - record.begin_ns) * 100 > (double)all_ns * (double)flags->gc_time_limit;
    bool is_full =
        (double)(most - heap.used_bytes) * 100 < (double)most * (double)flags->gc_heap_free_limit;
    end_before_ns = now_ns;
    if (causes[record.cause].operation != OPERATION_COLLECT_FOR_ALLOCATION)
        return;
    heap.overhead = is_too_slow && is_full ? heap.overhead + 1 : 0;
}

/* So many regions that, of them, as large a share is free as the flag wants. */
static uint32_t regions_wanted(void)
{
    double used = (double)heap.used_bytes, free_share = (double)flags->min_heap_free_ratio / 100;
    double wanted = used / (1 - free_share) / (double)heap.regions.region_bytes + 1;
    return wanted < (double)heap.regions.reserved ? (uint32_t)wanted : heap.regions.reserved;
}

static void settle_heap(const struct slide_live *live)
{
    heap.used_bytes =
        live->small_bytes + ((uint64_t)heap.regions.humongous << heap.regions.region_shift);
    heap.shared = heap.regions.high > 0 ? heap.regions.high - 1 : REGION_NONE; /* has a rest? */
    heap.rest_cursor = 0;
    heap.no_rest_from = 0;
    if (heap.goal < regions_wanted())
        heap.goal = regions_wanted();
}

static void reset(const struct slide_live *live)
{
    begin_phase(COLLECTION_PHASE_RESET);
    struct slide_sums slid = slide_finish();
    settle_heap(live);
    record.live_objects = live->objects;
    record.live_bytes = live->bytes;
    record.moved_objects = slid.moved_objects;
    record.moved_bytes = slid.moved_bytes;
    end_phase(COLLECTION_PHASE_RESET);
}

static void collect_locked(void)
{
    bool is_tight = record.cause == COLLECTION_HUMONGOUS;
    begin_phase(COLLECTION_PHASE_MARK);
    record.mark_stack_overflows = mark_all(record.workers);
    end_phase(COLLECTION_PHASE_MARK);
    begin_phase(COLLECTION_PHASE_PREPARE);
    struct slide_live live = slide_prepare(record.workers, is_tight, flags->full_gc_moves_all);
    end_phase(COLLECTION_PHASE_PREPARE);
    verify_during(live.objects);
    begin_phase(COLLECTION_PHASE_ADJUST);
    slide_adjust(record.workers);
    record.weak_cleared = weak_find_dead_at_safepoint();
    end_phase(COLLECTION_PHASE_ADJUST);
    begin_phase(COLLECTION_PHASE_COMPACT);
    slide_compact(record.workers);
    end_phase(COLLECTION_PHASE_COMPACT);
    reset(&live);
}

static void end_record(void)
{
    struct os_usage usage = os_process_usage();
    record.user_ns = usage.user_ns - usage_before.user_ns;
    record.system_ns = usage.system_ns - usage_before.system_ns;
    record.faults = usage.faults - usage_before.faults;
    record.used_after_bytes = heap.used_bytes;
    record.capacity_after_bytes = committed_bytes();
    count_regions(&record.small_after, &record.humongous_after);
    record.end_ns = os_now_ns();
    count_overhead(record.end_ns);
}

static uint64_t marked_end_bytes; /* of the heap, how far there may be marks */

static void run_at_safepoint(struct operation *operation)
{
    if (!is_prepared)
        return;               /* the requester sees that no collection has begun */
    lock_acquire(&heap.lock); /* [L]; marked */
    begin_record((const struct request *)operation);
    verify_before();
    marked_end_bytes = (uint64_t)heap.regions.high << heap.regions.region_shift;
    collect_locked();
    verify_after();
    end_record();
    lock_release(&heap.lock);
}

/* --- after the stop ------------------------------------------------------------------------ */

static void add_to_totals(void)
{
    totals.collections++;
    totals.per_cause[record.cause]++;
    hist_record(&totals.pause_ns, record.end_ns - record.begin_ns);
    totals.user_ns += record.user_ns;
    totals.system_ns += record.system_ns;
    totals.verify_ns += record.verify_before_ns + record.verify_during_ns + record.verify_after_ns;
    totals.moved_bytes += record.moved_bytes;
    totals.weak_cleared += record.weak_cleared;
    totals.allocated_bytes += record.allocated_bytes;
    totals.tlab_waste_bytes += record.tlab_waste_bytes;
    totals.tlab_refills += record.tlab_refills;
}

static void finish(struct operation *operation)
{
    (void)operation;
    if (!is_prepared)
        return;
    side_tables_clear_marks(&heap.side, marked_end_bytes);
    add_to_totals();
    weak_wake_cleaner();
    gc_log_collection(&record);
    if (observer)
        observer(&record);
}

const struct collection_totals *collection_totals(void)
{
    static struct collection_totals now;
    now = totals;
    lock_acquire(&heap.lock);
    now.allocated_bytes += heap.allocated_bytes;
    now.tlab_waste_bytes += heap.waste_bytes;
    now.tlab_refills += heap.refills;
    for (const struct mutator *m = heap.mutators; m; m = m->next) {
        now.allocated_bytes += m->allocated_bytes - m->tlab_figures.allocated_then;
        now.tlab_waste_bytes += m->tlab_figures.waste_bytes;
        now.tlab_refills += m->tlab_figures.refills;
    }
    lock_release(&heap.lock);
    return &now;
}

/* --- requests ----------------------------------------------------------------------------------
 */

/* True: one has been done since `seen` were. */
static bool collect_mp(enum collection_cause cause, uint64_t seen)
{
    struct request request;
    memset(&request, 0, sizeof request);
    request.operation.kind = causes[cause].operation;
    request.operation.prepare = prepare;
    request.operation.run = run_at_safepoint;
    request.operation.finish = finish;
    request.operation.still_needed = is_needed;
    request.cause = cause;
    request.seen = seen;
    return operation_request(&request.operation) && collection_count() != seen;
}

bool collection_request_mp(struct mutator *mutator, enum collection_cause cause, size_t bytes)
{
    (void)mutator, (void)bytes;
    return heap.is_on && heap.plan->collects && collect_mp(cause, collection_count());
}

static bool make_room_mp(struct mutator *mutator, size_t bytes, uint64_t collections_seen)
{
    bool is_done = collect_mp(
        heap_is_humongous(bytes) ? COLLECTION_HUMONGOUS : COLLECTION_ALLOCATION, collections_seen);
    participant_lock(mutator->participant, &heap.lock);
    bool is_hopeless = flags->use_gc_overhead_limit && heap.overhead >= TOO_MANY_IN_A_ROW;
    if (is_hopeless)
        heap.overhead = 0; /* whoever catches the error may let go of something */
    heap.was_hopeless = is_hopeless;
    lock_release(&heap.lock);
    return is_done && !is_hopeless;
}

const struct plan plan_full = { .name = "G1", .collects = true, .make_room_mp = make_room_mp };

/* --- start and end -----------------------------------------------------------------------------
 */

enum err collection_start(void)
{
    memset(&totals, 0, sizeof totals);
    totals.since_ns = os_now_ns();
    store_relaxed(&begun, 0); /* before any other thread */
    return heap.plan->collects ? gang_new("GC Thread", &heap.gang) : ERR_OK;
}

void collection_end(void)
{
    if (heap.gang)
        gang_end(heap.gang);
    heap.gang = NULL;
    weak_end();
    mark_end();
    slide_end();
}
