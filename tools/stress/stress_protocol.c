/* stress_protocol.c -- see stress_protocol.h.
 *
 * Actors are mutators that do, in an order drawn from the seed, all that the protocol
 * allows.  Operations come from a prober at about 1 kHz and from the actors.  What
 * mutators and operations share is plain memory: the protocol alone orders it, so
 * ThreadSanitizer sees a broken hand-over as a race.
 *
 * Note [C] Checks.
 *   frozen     an operation reads the actors' counters twice around a delay (P1)
 *   hand-over  a mutator's pair is whole for operations; the world that operations
 *              rewrite is of one generation for mutators, and never an old one (P2)
 *   locked     data under a marked lock, changed by mutators and operations
 *   answered   every request is answered, by a stop later than any that was answered
 *              before it was made; by none if it was not needed
 *   zeroed     bulk zeroing writes its bytes and no other
 *   at the end all participants are gone and the ledger adds up
 * Each is a comparison that counts; a run whose operations saw no counter move between
 * two of them has tested nothing and fails.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/stress/stress_protocol.h"

#include "alloc/bulk.h"
#include "base/flags.h"
#include "base/os.h"
#include "base/prng.h"
#include "safepoint/ledger.h"
#include "safepoint/registry.h"
#include "safepoint/sched_point.h"
#include "safepoint/stops.h"
#include "safepoint/thread_dump.h"
#include "tools/stress/stress.h"
#include "vm/start.h"

#include <pthread.h>
#include <stdarg.h>
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
#define WORLD_WORDS       96
#define TWIN_FACTOR       UINT64_C(0x9e3779b97f4a7c15) /* odd: no two counts share a twin */
#define BUFFER_BYTES      8192
#define MOST_IN_OP_NS     30000

/* Plain words of one actor, written in GUEST or VM only; a line each. */
struct slot {
    CACHE_ALIGNED uint64_t count;
    uint64_t twin; /* count * TWIN_FACTOR whenever the owner can be stopped */
};

static struct slot slots[STRESS_PROTOCOL_MOST_THREADS];
static uint64_t world[WORLD_WORDS]; /* written by operations only; all words equal */

static struct lock shared_lock = LOCK_INITIALIZER(SHARED);
static uint64_t shared_left, shared_right; /* under the lock: equal */

static _Atomic uint32_t is_over;
static _Atomic uint32_t requests_done; /* for the watchdog too */
static _Atomic uint64_t newest_epoch;  /* of a stop that answered somebody */
static _Atomic uint64_t failure_count;
static _Atomic bool environment_failed;
static char failure[256], refusal[128]; /* read when all threads have ended */
static uint64_t thread_count;

/* The VM thread's own, read after it has ended. */
static uint64_t operation_checks, sum_seen, times_moved;

struct actor {
    struct prng prng;
    struct participant *self;
    struct slot *slot;
    uint64_t checks, generation; /* generation: newest seen of the world */
    unsigned char buffer[BUFFER_BYTES];
    uint32_t number;
    pthread_t thread;
};

static bool over(void) { return load_relaxed(&is_over); } /* a late look costs one action */

/* May run inside an operation: no allocation, no stdio but for vsnprintf. */
__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...)
{
    if (fetch_add_seq(&failure_count, 1) != 0)
        return; /* the first one is the one to tell */
    va_list ap;
    va_start(ap, format);
    vsnprintf(failure, sizeof failure, format, ap);
    va_end(ap);
}

/* The system gave no thread or no memory: the run ends, it has not failed. */
static void give_up(const char *what)
{
    bool before = false;
    if (compare_exchange_seq(&environment_failed, &before, true))
        snprintf(refusal, sizeof refusal, "the system refuses %s", what);
    store_seq(&is_over, 1);
}

#define CHECK(checks, condition, ...)                                                              \
    do {                                                                                           \
        (checks)++;                                                                                \
        if (!(condition))                                                                          \
            fail(__VA_ARGS__);                                                                     \
    } while (0)

#define LLU(x) ((unsigned long long)(x))

/* --- operations ------------------------------------------------------------------- */

struct request {
    struct operation operation;
    uint64_t delay_ns;
    uint64_t generation; /* of the world, as this operation left it */
};

static uint64_t sum_of_slots(void)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < thread_count; i++)
        sum += slots[i].count;
    return sum;
}

/* The clock is an opaque call: without it the compiler would fold the two sums. */
static void delay(uint64_t ns)
{
    for (uint64_t end = os_now_ns() + ns; os_now_ns() < end;)
        os_cpu_pause();
}

static void check_hand_over(void)
{
    for (uint64_t i = 0; i < thread_count; i++)
        CHECK(operation_checks, slots[i].twin == slots[i].count * TWIN_FACTOR,
              "hand-over: an operation sees half of what actor %llu wrote: count %llu", LLU(i),
              LLU(slots[i].count));
}

static void change_shared(void)
{
    lock_acquire(&shared_lock);
    CHECK(operation_checks, shared_left == shared_right,
          "locked: an operation sees %llu and %llu under the lock", LLU(shared_left),
          LLU(shared_right));
    shared_left++;
    shared_right++;
    lock_release(&shared_lock);
}

static void run_request(struct operation *operation)
{
    struct request *request = operation->argument;
    uint64_t first = sum_of_slots();
    delay(request->delay_ns);
    uint64_t second = sum_of_slots();
    CHECK(operation_checks, first == second, "frozen: counters moved by %lld inside one operation",
          (long long)(second - first));
    times_moved += first != sum_seen;
    sum_seen = first;
    check_hand_over();
    request->generation = world[0] + 1;
    for (int i = 0; i < WORLD_WORDS; i++)
        world[i] = request->generation;
    change_shared();
}

static bool is_not_needed(struct operation *operation)
{
    (void)operation;
    return false;
}

/* What this thread has not seen answered cannot be counted on to be older, so the
 * newest answer is read before the request is made. */
static void request_and_check(struct operation *operation, uint64_t *checks)
{
    uint64_t before = load_seq(&newest_epoch);
    operation_request(operation);
    uint64_t epoch = operation->epoch;
    fetch_add_relaxed(&requests_done, 1); /* a statistic */
    if (operation->still_needed) {
        CHECK(*checks, epoch == 0, "answered: a request that is not needed got stop %llu",
              LLU(epoch));
        return;
    }
    CHECK(*checks, (epoch & 1) && epoch > before,
          "answered: stop %llu answers a request made after stop %llu", LLU(epoch), LLU(before));
    while (before < epoch && !compare_exchange_seq(&newest_epoch, &before, epoch))
        ;
}

static uint64_t request_work(struct prng *prng, uint64_t *checks)
{
    struct request request;
    memset(&request, 0, sizeof request);
    request.operation.kind = OPERATION_FORCE_SAFEPOINT;
    request.operation.run = run_request;
    request.operation.argument = &request; /* its own: never equal to another */
    request.delay_ns = prng_below(prng, MOST_IN_OP_NS);
    request_and_check(&request.operation, checks);
    return request.generation;
}

/* One that does nothing, and may share its stop with others like it. */
static void request_nothing(struct prng *prng, uint64_t *checks)
{
    struct operation operation;
    memset(&operation, 0, sizeof operation);
    operation.kind = OPERATION_FORCE_SAFEPOINT;
    if (prng_below(prng, 4) == 0) {
        operation.still_needed = is_not_needed;
        operation.argument = &operation; /* else it may share the stop of one that is needed */
    }
    request_and_check(&operation, checks);
}

/* Everything of a thread dump but the text, which would bury the terminal: the
 * signals, the frames taken in every thread. */
static void request_dump(uint64_t *checks)
{
    struct operation dump;
    thread_dump_init(&dump);
    dump.finish = NULL;
    request_and_check(&dump, checks);
}

/* --- what an actor does, in GUEST before and after ---------------------------------- */

static void bump(struct actor *a)
{
    a->slot->count++;
    a->slot->twin = a->slot->count * TWIN_FACTOR;
}

static void look_at_world(struct actor *a)
{
    uint64_t one = world[prng_below(&a->prng, WORLD_WORDS)];
    uint64_t other = world[prng_below(&a->prng, WORLD_WORDS)];
    CHECK(a->checks, one == other, "hand-over: actor %u sees generations %llu and %llu at once",
          a->number, LLU(one), LLU(other));
    CHECK(a->checks, one >= a->generation,
          "hand-over: actor %u sees generation %llu after generation %llu", a->number, LLU(one),
          LLU(a->generation));
    a->generation = one;
}

static void poll_in_a_loop(struct actor *a)
{
    for (uint64_t i = 0, n = prng_below(&a->prng, 20000); i < n && !over(); i++) {
        bump(a);
        if (i % 32 == 0)
            look_at_world(a);
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
    for (uint64_t i = 0, n = 1 + prng_below(&a->prng, 60); i < n; i++) {
        uint64_t kind = prng_below(&a->prng, 64);
        participant_enter_safe(a->self, kind % 2 ? PARTICIPANT_NATIVE : PARTICIPANT_BLOCKED);
        if (kind == 0)
            os_sleep_ns(prng_below(&a->prng, 300000));
        else if (kind < 16)
            delay(prng_below(&a->prng, 2000));
        participant_leave_safe(a->self, PARTICIPANT_GUEST);
        bump(a);
        look_at_world(a);
    }
}

static void zero_in_odd_chunks(struct actor *a)
{
    size_t from = 1 + prng_below(&a->prng, 63);
    size_t bytes = prng_below(&a->prng, BUFFER_BYTES - 128), wrong = 0;
    memset(a->buffer, 0xa5, BUFFER_BYTES);
    bulk_zero_with_mp(a->self, a->buffer + from, bytes, BULK_POLICY_CHUNKED,
                      17 + prng_below(&a->prng, 500));
    for (size_t i = 0; i < BUFFER_BYTES; i++)
        wrong += a->buffer[i] != (i >= from && i < from + bytes ? 0 : 0xa5);
    CHECK(a->checks, wrong == 0, "zeroed: %zu bytes are wrong around %zu zeroed at offset %zu",
          wrong, bytes, from);
}

static void take_the_lock(struct actor *a)
{
    for (uint64_t i = 0, n = 1 + prng_below(&a->prng, 30); i < n; i++) {
        participant_lock(a->self, &shared_lock);
        CHECK(a->checks, shared_left == shared_right,
              "locked: actor %u sees %llu and %llu under the lock", a->number, LLU(shared_left),
              LLU(shared_right));
        shared_left++;
        if (i % 8 == 0)
            delay(2000); /* an operation finds it taken now and then */
        shared_right++;
        lock_release(&shared_lock);
        bump(a);
        participant_poll(a->self);
    }
}

static void ask_for_a_stop(struct actor *a)
{
    bool is_native = prng_below(&a->prng, 4) == 0;
    uint64_t generation = a->generation;
    if (is_native)
        participant_enter_safe(a->self, PARTICIPANT_NATIVE);
    if (prng_below(&a->prng, 3))
        generation = request_work(&a->prng, &a->checks);
    else
        request_nothing(&a->prng, &a->checks);
    if (is_native)
        participant_leave_safe(a->self, PARTICIPANT_GUEST);
    if (generation > a->generation)
        a->generation = generation; /* look_at_world() must not see an older one */
    look_at_world(a);
}

/* Back to GUEST as a new participant; false when the system has no memory. */
static bool attach(struct actor *a)
{
    char name[PARTICIPANT_NAME_BYTES];
    snprintf(name, sizeof name, "actor %u", a->number);
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
    uint64_t from = prng_below(&a->prng, 4);
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
    if (attach(a)) {
        bump(a);
        look_at_world(a);
    }
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
    uint64_t drawn = prng_below(&a->prng, 1000);
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
static uint64_t start_actors(struct actor *actors, uint64_t seed)
{
    for (uint64_t i = 0; i < thread_count; i++) {
        struct actor *a = &actors[i];
        prng_seed(&a->prng, seed + (i + 1) * TWIN_FACTOR);
        a->number = (uint32_t)i;
        a->slot = &slots[i];
        if (pthread_create(&a->thread, NULL, actor_main, a) != 0) {
            give_up("an actor's thread");
            return i;
        }
    }
    return thread_count;
}

static void probe(const struct stress_protocol_options *options,
                  struct stress_protocol_result *result)
{
    struct prng prng;
    uint64_t start = os_now_ns(), due = start, shown = start;
    prng_seed(&prng, options->seed);
    for (uint64_t i = 1; due < start + options->seconds_ns && !over(); i++) {
        due += PROBE_EVERY_NS;
        os_sleep_until_ns(due); /* what was missed is made up for at once: bursts */
        if (i % DUMP_EVERY_PROBES == 0) {
            request_dump(&result->checks);
            result->dumps++;
        } else {
            request_work(&prng, &result->checks);
        }
        uint64_t now = os_now_ns();
        if (now - start > options->seconds_ns)
            break;
        if (options->progress && now - shown > PROGRESS_EVERY_NS) {
            options->progress(now - start, stops_figures().stops);
            shown = now;
        }
    }
}

static void check_the_end(uint32_t participants_before, struct stress_protocol_result *result)
{
    CHECK(result->checks, registry_count() == participants_before,
          "at the end: %u participants are left, %u were there before", registry_count(),
          participants_before);
    CHECK(result->checks, times_moved > 0 || load_seq(&environment_failed),
          "at the end: no operation saw a counter move since the one before; nothing was tested");
    if (!flags->safepoint_recording)
        return;
    struct ledger_audit audit = ledger_audit(ledger_totals());
    CHECK(result->checks, audit.ok, "at the end: the ledger does not add up: %s", audit.why);
    result->ttsp = ledger_totals()->span[LEDGER_SPAN_ttsp];
}

static void collect(struct actor *actors, uint64_t started, struct stress_protocol_result *result)
{
    struct stops_figures figures = stops_figures();
    for (uint64_t i = 0; i < started; i++)
        result->checks += actors[i].checks;
    result->checks += operation_checks;
    result->stops = figures.stops;
    result->attaches = figures.attached;
    result->transitions = figures.transitions;
    result->requests = load_relaxed(&requests_done); /* all threads have ended */
}

static void stress(const struct stress_protocol_options *options, struct actor *actors,
                   struct stress_protocol_result *result)
{
    uint32_t participants_before = registry_count();
    uint64_t started = start_actors(actors, options->seed);
    probe(options, result);
    store_seq(&is_over, 1);
    for (uint64_t i = 0; i < started; i++)
        pthread_join(actors[i].thread, NULL);
    stops_exit();
    check_the_end(participants_before, result);
    collect(actors, started, result);
}

uint64_t stress_protocol_default_threads(void) { return DEFAULT_THREADS; }

enum err stress_protocol_run(const struct stress_protocol_options *options,
                             struct stress_protocol_result *result_out)
{
    static struct actor actors[STRESS_PROTOCOL_MOST_THREADS];
    struct start_message message;
    memset(result_out, 0, sizeof *result_out);
    thread_count = options->threads;
#ifdef STILLPOINT_SCHED_POINTS
    sched_point_seed((unsigned)options->seed, 64);
#endif
    enum err err = start_stops(&message);
    if (err != ERR_OK) {
        snprintf(result_out->failure, sizeof result_out->failure, "%.200s", message.text);
        return err;
    }
    stops_handle_sigquit();
    if (!stress_watchdog_start("protocol", &requests_done))
        give_up("the watchdog's thread");
    stress(options, actors, result_out);
    stress_watchdog_end();
    result_out->failures = load_seq(&failure_count);
    bool is_refused = load_seq(&environment_failed);
    snprintf(result_out->failure, sizeof result_out->failure, "%s", is_refused ? refusal : failure);
    return is_refused ? ERR_SYSTEM : ERR_OK;
}
