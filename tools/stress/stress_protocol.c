/* stress_protocol.c -- see stress_protocol.h.
 *
 * Actors are mutators that do, in an order drawn from the seed, all that the protocol
 * allows.  Operations come from a prober at about 1 kHz and from the actors.  What both
 * share, and what is checked on it, is in stress_checks.c.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/stress/stress_protocol.h"

#include "alloc/bulk.h"
#include "base/flags.h"
#include "base/os.h"
#include "safepoint/ledger.h"
#include "safepoint/registry.h"
#include "safepoint/sched_point.h"
#include "safepoint/stops.h"
#include "tools/stress/stress_checks.h"
#include "tools/watchdog.h"
#include "vm/start.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define DEFAULT_THREADS 5
#define PROBE_EVERY_NS  5000000
#else
#define DEFAULT_THREADS 14
#define PROBE_EVERY_NS  1000000
#endif

#define PROGRESS_EVERY_NS 100000000
#define DUMP_EVERY_PROBES 128
#define SEED_STEP         UINT64_C(0x9e3779b97f4a7c15) /* odd: each actor its own sequence */
#define BUFFER_BYTES      8192

static _Atomic uint32_t is_over;
static _Atomic bool environment_failed;
static char refusal[128]; /* read when all threads have ended */

struct actor {
    struct stress_checker checker;
    struct participant *self;
    unsigned char buffer[BUFFER_BYTES];
    pthread_t thread;
};

static bool over(void) { return load_relaxed(&is_over); } /* a late look costs one action */

/* The system gave no thread or no memory: the run ends, it has not failed. */
static void give_up(const char *what)
{
    bool before = false;
    if (compare_exchange_seq(&environment_failed, &before, true))
        snprintf(refusal, sizeof refusal, "the system refuses %s", what);
    store_seq(&is_over, 1);
}

/* --- what an actor does, in GUEST before and after ---------------------------------- */

static uint64_t draw_below(struct actor *a, uint64_t limit)
{
    return prng_below(&a->checker.prng, limit);
}

static void bump_and_look(struct actor *a)
{
    stress_checks_bump(&a->checker);
    stress_checks_look_at_world(&a->checker);
}

static void poll_in_a_loop(struct actor *a)
{
    for (uint64_t i = 0, n = draw_below(a, 20000); i < n && !over(); i++) {
        stress_checks_bump(&a->checker);
        if (i % 32 == 0)
            stress_checks_look_at_world(&a->checker);
        participant_poll(a->self);
    }
}

static void work_in_vm(struct actor *a)
{
    participant_set_unsafe(a->self, PARTICIPANT_VM);
    poll_in_a_loop(a);
    participant_set_unsafe(a->self, PARTICIPANT_GUEST);
}

static void cross_into_native(struct actor *a)
{
    for (uint64_t i = 0, n = 1 + draw_below(a, 60); i < n; i++) {
        uint64_t kind = draw_below(a, 64);
        participant_enter_safe(a->self, kind % 2 ? PARTICIPANT_NATIVE : PARTICIPANT_BLOCKED);
        if (kind == 0)
            os_sleep_ns(draw_below(a, 300000));
        else if (kind < 16)
            stress_checks_spin_ns(draw_below(a, 2000));
        participant_leave_safe(a->self, PARTICIPANT_GUEST);
        bump_and_look(a);
    }
}

static void zero_in_odd_chunks(struct actor *a)
{
    size_t from = 1 + draw_below(a, 63);
    size_t bytes = draw_below(a, BUFFER_BYTES - 128), wrong = 0;
    memset(a->buffer, 0xa5, BUFFER_BYTES);
    bulk_zero_with_mp(a->self, a->buffer + from, bytes, BULK_POLICY_CHUNKED,
                      17 + draw_below(a, 500));
    for (size_t i = 0; i < BUFFER_BYTES; i++)
        wrong += a->buffer[i] != (i >= from && i < from + bytes ? 0 : 0xa5);
    STRESS_CHECK(a->checker.checks, wrong == 0,
                 "zeroed: %zu bytes are wrong around %zu zeroed at offset %zu", wrong, bytes, from);
}

static void take_the_lock(struct actor *a)
{
    for (uint64_t i = 0, n = 1 + draw_below(a, 30); i < n; i++) {
        stress_checks_use_lock(&a->checker, a->self, i % 8 == 0);
        stress_checks_bump(&a->checker);
        participant_poll(a->self);
    }
}

static void ask_for_a_stop(struct actor *a)
{
    bool is_native = draw_below(a, 4) == 0;
    uint64_t generation = a->checker.generation;
    if (is_native)
        participant_enter_safe(a->self, PARTICIPANT_NATIVE);
    if (draw_below(a, 3))
        generation = stress_checks_request_work(&a->checker);
    else
        stress_checks_request_nothing(&a->checker);
    if (is_native)
        participant_leave_safe(a->self, PARTICIPANT_GUEST);
    if (generation > a->checker.generation)
        a->checker.generation = generation; /* the next look must not see an older one */
    stress_checks_look_at_world(&a->checker);
}

/* Back to GUEST as a new participant; false when the system has no memory. */
static bool attach(struct actor *a)
{
    char name[PARTICIPANT_NAME_BYTES];
    snprintf(name, sizeof name, "actor %u", a->checker.number);
    if (participant_attach(PARTICIPANT_MUTATOR, name, &a->self) != ERR_OK) {
        a->self = NULL;
        give_up("memory for a participant");
        return false;
    }
    participant_leave_safe(a->self, PARTICIPANT_GUEST);
    return true;
}

static void detach(struct actor *a)
{
    uint64_t from = draw_below(a, 4);
    if (from == 0)
        participant_set_unsafe(a->self, PARTICIPANT_VM);
    else if (from == 1)
        participant_enter_safe(a->self, PARTICIPANT_NATIVE);
    participant_detach(a->self); /* else from GUEST, the harder case */
    a->self = NULL;
}

static void live_again(struct actor *a)
{
    detach(a);
    if (attach(a))
        bump_and_look(a);
}

static void *child_main(void *argument)
{
    struct actor *a = argument;
    if (attach(a)) {
        poll_in_a_loop(a);
        detach(a);
    }
    return NULL;
}

/* The child acts in its parent's place, which waits for it in BLOCKED. */
static void start_a_child(struct actor *a)
{
    struct participant *self = a->self;
    pthread_t child;
    participant_enter_safe(self, PARTICIPANT_BLOCKED);
    if (pthread_create(&child, NULL, child_main, a) == 0)
        pthread_join(child, NULL);
    else
        give_up("a thread");
    a->self = self;
    participant_leave_safe(self, PARTICIPANT_GUEST);
}

/* Of a thousand; requests are rare, else the others spend their lives at the gate. */
static const struct {
    void (*act)(struct actor *);
    uint32_t weight;
} actions[] = {
    { poll_in_a_loop, 250 }, { cross_into_native, 250 },  { live_again, 160 },
    { take_the_lock, 120 },  { zero_in_odd_chunks, 116 }, { work_in_vm, 80 },
    { start_a_child, 16 },   { ask_for_a_stop, 8 },
};

static void act(struct actor *a)
{
    uint64_t drawn = draw_below(a, 1000);
    size_t i = 0;
    for (; drawn >= actions[i].weight; i++)
        drawn -= actions[i].weight;
    actions[i].act(a);
}

static void *actor_main(void *argument)
{
    struct actor *a = argument;
    if (!attach(a))
        return NULL;
    while (a->self && !over()) {
        act(a);
        if (a->self)
            participant_poll(a->self);
    }
    if (a->self)
        detach(a);
    return NULL;
}

/* --- the run ------------------------------------------------------------------------ */

/* Returns how many were started; fewer than wanted end the run. */
static uint64_t start_actors(struct actor *actors, const struct stress_protocol_options *options)
{
    for (uint64_t i = 0; i < options->threads; i++) {
        struct actor *a = &actors[i];
        prng_seed(&a->checker.prng, options->seed + (i + 1) * SEED_STEP);
        a->checker.number = (uint32_t)i;
        if (pthread_create(&a->thread, NULL, actor_main, a) != 0) {
            give_up("an actor's thread");
            return i;
        }
    }
    return options->threads;
}

/* Returns how many thread dumps were among the probes. */
static uint64_t probe(const struct stress_protocol_options *options, struct stress_checker *prober)
{
    uint64_t start = os_now_ns(), due = start, shown = start, dumps = 0;
    prng_seed(&prober->prng, options->seed);
    for (uint64_t i = 1; due < start + options->seconds_ns && !over(); i++) {
        due += PROBE_EVERY_NS;
        os_sleep_until_ns(due); /* what was missed is made up for at once: bursts */
        if (i % DUMP_EVERY_PROBES == 0) {
            stress_checks_request_dump(prober);
            dumps++;
        } else {
            stress_checks_request_work(prober);
        }
        uint64_t now = os_now_ns();
        if (now - start > options->seconds_ns)
            break;
        if (options->progress && now - shown > PROGRESS_EVERY_NS) {
            options->progress(now - start, stops_figures().stops);
            shown = now;
        }
    }
    return dumps;
}

/* All threads have ended. */
static void collect(const struct actor *actors, uint64_t started,
                    const struct stress_checker *prober, struct stress_protocol_result *result)
{
    struct stops_figures figures = stops_figures();
    result->checks = prober->checks;
    for (uint64_t i = 0; i < started; i++)
        result->checks += actors[i].checker.checks;
    result->stops = figures.stops;
    result->attaches = figures.attached;
    result->transitions = figures.transitions;
    result->requests = load_relaxed(stress_checks_requests()); /* nobody adds any more */
    if (flags->safepoint_recording)
        result->ttsp = ledger_totals()->span[LEDGER_SPAN_ttsp];
}

static void stress(const struct stress_protocol_options *options, struct actor *actors,
                   struct stress_protocol_result *result)
{
    struct stress_checker prober = { .checks = 0 };
    uint32_t participants_before = registry_count();
    uint64_t started = start_actors(actors, options);
    result->dumps = probe(options, &prober);
    store_seq(&is_over, 1);
    for (uint64_t i = 0; i < started; i++)
        pthread_join(actors[i].thread, NULL);
    stops_exit();
    stress_checks_end(&prober, participants_before, load_seq(&environment_failed));
    collect(actors, started, &prober, result);
}

uint64_t stress_protocol_default_threads(void) { return DEFAULT_THREADS; }

enum err stress_protocol_run(const struct stress_protocol_options *options,
                             struct stress_protocol_result *result_out)
{
    static struct actor actors[STRESS_PROTOCOL_MOST_THREADS];
    struct start_message message;
    memset(result_out, 0, sizeof *result_out);
    stress_checks_start(options->threads);
#ifdef STILLPOINT_SCHED_POINTS
    sched_point_seed((unsigned)options->seed, 64);
#endif
    enum err err = start_stops(&message);
    if (err != ERR_OK) {
        snprintf(result_out->failure, sizeof result_out->failure, "%.200s", message.text);
        return err;
    }
    stops_handle_sigquit();
    if (!watchdog_start("stress protocol"))
        give_up("the watchdog's thread");
    watchdog_begin("no stop has ended");
    stress(options, actors, result_out);
    watchdog_end();
    const char *failure;
    result_out->failures = stress_checks_failures(&failure);
    bool is_refused = load_seq(&environment_failed);
    snprintf(result_out->failure, sizeof result_out->failure, "%s", is_refused ? refusal : failure);
    return is_refused ? ERR_SYSTEM : ERR_OK;
}
