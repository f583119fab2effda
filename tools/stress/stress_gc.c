/* stress_gc.c -- see stress_gc.h.
 *
 * The main thread asks for stops at random times, and verifies the heap in some of them.  When
 * the workers have ended it looks at all graphs once more: as they are, after a collection,
 * and when all roots are gone, after one that has to leave nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/stress/stress_gc.h"

#include "base/flags.h"
#include "base/os.h"
#include "gc/collection.h"
#include "safepoint/ledger.h"
#include "safepoint/registry.h"
#include "safepoint/sched_point.h"
#include "safepoint/stops.h"
#include "tools/stress/stress_checks.h"
#include "tools/stress/stress_gc_actions.h"
#include "tools/watchdog.h"
#include "vm/start.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* A verification walks the heap in a stop, some 10 ms in the default heap. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define MOST_PAUSE_NS UINT64_C(400000000)
#else
#define MOST_PAUSE_NS UINT64_C(40000000)
#endif
#define VERIFY_EVERY      4  /* stops, on average */
#define CHECK_EVERY       64 /* actions, without a collection */
#define PROGRESS_EVERY_NS 100000000

#define LLU(x) ((unsigned long long)(x))

static const char control[] = "forgotten-root";
bool stress_gc_has_program(const char *name) { return strcmp(name, control) == 0; }

/* --- the threads ------------------------------------------------------------------------- */

static void *worker_main(void *argument)
{
    struct worker *w = argument;
    if (!worker_attach(w))
        return NULL;
    while (w->self && !workers_are_over()) {
        worker_act_mp(w);
        if (!w->self)
            break;
        worker_step_mp(w);
        if (w->actions % CHECK_EVERY == 0 && !workers_are_over())
            worker_check_all(w);
        if (!workers_are_over())
            worker_keep_to_budget(w);
    }
    if (w->self)
        worker_detach(w);
    return NULL;
}

/* Returns how many were started; fewer than wanted end the run. */
static uint64_t start_threads(uint64_t wanted)
{
    for (uint64_t i = 0; i < wanted; i++) {
        struct worker *w = worker_at(i);
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0) {
            workers_give_up("a thread");
            return i;
        }
    }
    return wanted;
}

/* --- the main thread ----------------------------------------------------------------------- */

struct verdict {
    bool is_good;
    char text[160];
};

static void verify_at_safepoint(void *argument)
{
    struct verdict *verdict = argument;
    verdict->is_good = heap_verify_at_safepoint(verdict->text, sizeof verdict->text);
}

static void verify(struct shadow_looker *looker)
{
    struct verdict verdict = { .text = "" };
    stops_force(verify_at_safepoint, &verdict);
    STRESS_CHECK(looker->checks, verdict.is_good, "the heap is broken after %llu collections: %s",
                 LLU(collection_count()), verdict.text);
}

static void probe(const struct stress_protocol_options *options, struct shadow_looker *looker)
{
    uint64_t start = os_now_ns(), end = start + options->seconds_ns, shown = start;
    for (uint64_t now = start; now < end && !workers_are_over(); now = os_now_ns()) {
        uint64_t pause = prng_below(&looker->prng, MOST_PAUSE_NS);
        os_sleep_ns(pause < end - now ? pause : end - now);
        if (prng_below(&looker->prng, VERIFY_EVERY) == 0)
            verify(looker);
        else
            stops_force(NULL, NULL);
        if (options->progress && now - shown > PROGRESS_EVERY_NS) {
            options->progress(now - start, stops_figures().stops);
            shown = now;
        }
    }
}

/* --- the end ------------------------------------------------------------------------------ */

/* What all living objects take. */
static uint64_t check_everything_mp(struct worker *w, uint64_t threads)
{
    struct shadow_node *dead = NULL;
    uint64_t bytes = 0;
    for (uint64_t i = 0; i <= threads; i++)
        for (int j = 0; j < WORKER_GRAPHS && !workers_are_over(); j++) {
            shadow_check(worker_at(i)->graph[j], &w->looker, &dead);
            bytes += worker_at(i)->graph[j]->bytes;
        }
    struct shadow **shared = shared_acquire_mp(w);
    for (int j = 0; j < SHARED_GRAPHS && !workers_are_over(); j++) {
        shadow_check(shared[j], &w->looker, &dead);
        bytes += shared[j]->bytes;
    }
    shared_release();
    shadow_free(dead);
    return bytes;
}

static void drop_everything_mp(struct worker *w, uint64_t threads)
{
    for (uint64_t i = 0; i <= threads; i++)
        for (int j = 0; j < WORKER_GRAPHS; j++)
            shadow_clear(worker_at(i)->graph[j]);
    if (worker_at(0)->forgotten)
        shadow_clear(worker_at(0)->forgotten);
    struct shadow **shared = shared_acquire_mp(w);
    for (int j = 0; j < SHARED_GRAPHS; j++)
        shadow_clear(shared[j]);
    shared_release();
}

/* All other threads have ended; w is attached, and has no TLAB.  A full collection leaves no gaps,
 * so what is in use is what lives, to the byte. */
static void look_once_more_mp(struct worker *w, uint64_t threads,
                              struct stress_protocol_result *result)
{
    check_everything_mp(w, threads);
    bool collects = collection_request_mp(&w->mutator, COLLECTION_SYSTEM_GC, 0);
    result->live_bytes = check_everything_mp(w, threads);
    result->used_bytes = heap_figures().used_bytes;
    if (workers_are_over())
        return;
    STRESS_CHECK(w->looker.checks,
                 collects ? result->live_bytes == result->used_bytes
                          : result->live_bytes <= result->used_bytes,
                 "at the end: %llu bytes are in use, and what lives takes %llu",
                 LLU(result->used_bytes), LLU(result->live_bytes));
    drop_everything_mp(w, threads);
    if (collects && collection_request_mp(&w->mutator, COLLECTION_SYSTEM_GC, 0))
        STRESS_CHECK(w->looker.checks, heap_figures().used_bytes == 0,
                     "at the end: %llu bytes are in use when nothing lives",
                     LLU(heap_figures().used_bytes));
    check_everything_mp(w, threads); /* frees the nodes */
}

static void check_the_ledger(struct shadow_looker *looker, uint32_t participants_before)
{
    STRESS_CHECK(looker->checks, registry_count() == participants_before,
                 "at the end: %u participants are left, %u were there before", registry_count(),
                 participants_before);
    if (flags->safepoint_recording) {
        struct ledger_audit audit = ledger_audit(ledger_totals());
        STRESS_CHECK(looker->checks, audit.ok, "at the end: the ledger does not add up: %s",
                     audit.why);
    }
}

static void add_up(uint64_t threads, struct stress_protocol_result *result)
{
    struct stops_figures figures = stops_figures();
    for (uint64_t i = 0; i <= threads; i++) {
        result->checks += worker_at(i)->looker.checks;
        result->attaches += worker_at(i)->actions;
        result->out_of_heap += worker_at(i)->out_of_heap;
    }
    result->stops = figures.stops;
    result->transitions = figures.transitions;
    result->collections = collection_count();
    if (flags->safepoint_recording)
        result->ttsp = ledger_totals()->span[LEDGER_SPAN_ttsp];
}

/* --- the run -------------------------------------------------------------------------------- */

static void stress(const struct stress_protocol_options *options,
                   struct stress_protocol_result *result)
{
    struct worker *last = worker_at(options->threads);
    uint32_t participants_before = registry_count();
    uint64_t started = start_threads(options->threads);
    probe(options, &last->looker);
    bool is_good = !workers_are_over();
    workers_stop();
    for (uint64_t i = 0; i < started; i++)
        pthread_join(worker_at(i)->thread, NULL);
    if (is_good && worker_attach(last)) {
        workers_go_on();
        look_once_more_mp(last, options->threads, result);
        worker_detach(last);
    }
    stops_exit();
    check_the_ledger(&last->looker, participants_before);
    add_up(options->threads, result);
}

/* What the command line leaves open: for the seeds that a number divides; later rows win.  The
 * line that says how to run it again has them all. */
static const struct {
    unsigned divides;
    const char *flag;
} flags_by_seed[] = {
    { 1, "-XX:G1HeapRegionSize=64k" },     { 4, "-XX:G1HeapRegionSize=256k" },
    { 2, "-XX:BulkChunkBytes=4k" }, /* even small objects are cleared in pieces */
    { 3, "-XX:+FullGCMovesAll" },          { 5, "-XX:ParallelGCThreads=4" },
    { 5, "-XX:HeapSizePerGCThread=256k" },
};

/* The heap has to grow first, unless its size was typed. */
static void propose_flags(uint64_t seed)
{
    if (flags_origin_of("InitialHeapSize") != FLAGS_ORIGIN_COMMAND_LINE) {
        flags_propose("-Xmx16m");
        flags_propose("-Xms1m");
    }
    for (size_t i = 0; i < sizeof flags_by_seed / sizeof *flags_by_seed; i++)
        if (seed % flags_by_seed[i].divides == 0)
            flags_propose(flags_by_seed[i].flag);
}

static enum err start(const struct stress_protocol_options *options, struct start_message *message)
{
    propose_flags(options->seed);
    enum err err = start_check_flags(message);
    if (err == ERR_OK)
        err = start_stops(message);
    if (err == ERR_OK)
        err = heap_start(message->text, sizeof message->text);
    if (err != ERR_OK)
        return err;
    if (workers_start(options->threads, options->seed, options->program != NULL))
        return ERR_OK;
    snprintf(message->text, sizeof message->text, "the system refuses memory for the threads");
    return ERR_NO_MEMORY;
}

enum err stress_gc_run(const struct stress_protocol_options *options,
                       struct stress_protocol_result *result_out)
{
    struct start_message message;
    const char *failure;
    memset(result_out, 0, sizeof *result_out);
#ifdef STILLPOINT_SCHED_POINTS
    sched_point_seed((unsigned)options->seed, 64);
#endif
    enum err err = start(options, &message);
    if (err != ERR_OK) {
        snprintf(result_out->failure, sizeof result_out->failure, "%.200s", message.text);
        return err;
    }
    stops_handle_sigquit();
    if (!watchdog_start("stress gc"))
        workers_give_up("the watchdog's thread");
    watchdog_begin("no stop has ended");
    stress(options, result_out);
    watchdog_end();
    result_out->failures = stress_checks_failures(&failure);
    if (workers_refusal()) {
        snprintf(result_out->failure, sizeof result_out->failure, "the system refuses %s",
                 workers_refusal());
        return ERR_SYSTEM;
    }
    snprintf(result_out->failure, sizeof result_out->failure, "%s", failure);
    return ERR_OK;
}
