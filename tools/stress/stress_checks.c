/* stress_checks.c -- see stress_checks.h.
 *
 * Note [C] Checks.
 *   frozen     an operation reads the actors' counters twice around a delay (P1)
 *   hand-over  a mutator's pair is whole for operations; the world that operations
 *              rewrite is of one generation for mutators, and never an old one (P2)
 *   locked     data under a marked lock, changed by mutators and operations
 *   answered   every request is answered, by a stop later than any that was answered
 *              before it was made; by none if it was not needed
 *   zeroed     bulk zeroing writes its bytes and no other (stress_protocol.c)
 *   at the end all participants are gone and the ledger adds up
 * Each is a comparison that counts; a run whose operations saw no counter move between
 * two of them has tested nothing and fails.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/stress/stress_checks.h"

#include "base/atomics.h"
#include "base/flags.h"
#include "base/lock.h"
#include "base/os.h"
#include "safepoint/ledger.h"
#include "safepoint/registry.h"
#include "safepoint/stops.h"
#include "safepoint/thread_dump.h"
#include "tools/stress/stress_protocol.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORLD_WORDS   96
#define TWIN_FACTOR   UINT64_C(0x9e3779b97f4a7c15) /* odd: no two counts share a twin */
#define MOST_IN_OP_NS 30000

#define LLU(x) ((unsigned long long)(x))

/* Plain words of one actor, written in GUEST or VM only; a line each. */
struct slot {
    CACHE_ALIGNED uint64_t count;
    uint64_t twin; /* count * TWIN_FACTOR whenever the owner can be stopped */
};

static struct slot slots[STRESS_PROTOCOL_MOST_THREADS];
static uint64_t slot_count;
static uint64_t world[WORLD_WORDS]; /* written by operations only; all words equal */

static struct lock shared_lock = LOCK_INITIALIZER(SHARED);
static uint64_t shared_left, shared_right; /* under the lock: equal */

static _Atomic uint32_t requests_done;
static _Atomic uint64_t newest_epoch; /* of a stop that answered somebody */
static _Atomic uint64_t failure_count;
static char failure[256]; /* read when all threads have ended */

/* The VM thread's own, read after it has ended. */
static uint64_t operation_checks, sum_seen, times_moved;

void stress_checks_start(uint64_t actors) { slot_count = actors; }

void stress_checks_fail(const char *format, ...)
{
    if (fetch_add_seq(&failure_count, 1) != 0)
        return; /* the first one is the one to tell */
    va_list ap;
    va_start(ap, format);
    vsnprintf(failure, sizeof failure, format, ap);
    va_end(ap);
}

void stress_checks_spin_ns(uint64_t ns)
{
    for (uint64_t end = os_now_ns() + ns; os_now_ns() < end;)
        os_cpu_pause();
}

/* --- operations ------------------------------------------------------------------- */

struct request {
    struct operation operation;
    uint64_t delay_ns;
    uint64_t generation; /* of the world, as this operation left it */
};

static uint64_t sum_of_slots(void)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < slot_count; i++)
        sum += slots[i].count;
    return sum;
}

static void check_hand_over(void)
{
    for (uint64_t i = 0; i < slot_count; i++)
        STRESS_CHECK(operation_checks, slots[i].twin == slots[i].count * TWIN_FACTOR,
                     "hand-over: an operation sees half of what actor %llu wrote: count %llu",
                     LLU(i), LLU(slots[i].count));
}

static void change_shared(void)
{
    lock_acquire(&shared_lock);
    STRESS_CHECK(operation_checks, shared_left == shared_right,
                 "locked: an operation sees %llu and %llu under the lock", LLU(shared_left),
                 LLU(shared_right));
    shared_left++;
    shared_right++;
    lock_release(&shared_lock);
}

/* The clock in the delay is an opaque call: else the compiler would fold the two sums. */
static void run_request(struct operation *operation)
{
    struct request *request = operation->argument;
    uint64_t first = sum_of_slots();
    stress_checks_spin_ns(request->delay_ns);
    uint64_t second = sum_of_slots();
    STRESS_CHECK(operation_checks, first == second,
                 "frozen: counters moved by %lld inside one operation",
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
        STRESS_CHECK(*checks, epoch == 0, "answered: a request that is not needed got stop %llu",
                     LLU(epoch));
        return;
    }
    STRESS_CHECK(*checks, (epoch & 1) && epoch > before,
                 "answered: stop %llu answers a request made after stop %llu", LLU(epoch),
                 LLU(before));
    while (before < epoch && !compare_exchange_seq(&newest_epoch, &before, epoch))
        ;
}

uint64_t stress_checks_request_work(struct stress_checker *c)
{
    struct request request;
    memset(&request, 0, sizeof request);
    request.operation.kind = OPERATION_FORCE_SAFEPOINT;
    request.operation.run = run_request;
    request.operation.argument = &request; /* its own: never equal to another */
    request.delay_ns = prng_below(&c->prng, MOST_IN_OP_NS);
    request_and_check(&request.operation, &c->checks);
    return request.generation;
}

void stress_checks_request_nothing(struct stress_checker *c)
{
    struct operation operation;
    memset(&operation, 0, sizeof operation);
    operation.kind = OPERATION_FORCE_SAFEPOINT;
    if (prng_below(&c->prng, 4) == 0) {
        operation.still_needed = is_not_needed;
        operation.argument = &operation; /* else it may share the stop of one that is needed */
    }
    request_and_check(&operation, &c->checks);
}

/* Everything of a thread dump but the text, which would bury the terminal: the
 * signals, the frames taken in every thread. */
void stress_checks_request_dump(struct stress_checker *c)
{
    struct operation dump;
    thread_dump_init(&dump);
    dump.finish = NULL;
    request_and_check(&dump, &c->checks);
}

_Atomic uint32_t *stress_checks_requests(void) { return &requests_done; }

/* --- actors ------------------------------------------------------------------------- */

void stress_checks_bump(struct stress_checker *c)
{
    struct slot *slot = &slots[c->number];
    slot->count++;
    slot->twin = slot->count * TWIN_FACTOR;
}

void stress_checks_look_at_world(struct stress_checker *c)
{
    uint64_t one = world[prng_below(&c->prng, WORLD_WORDS)];
    uint64_t other = world[prng_below(&c->prng, WORLD_WORDS)];
    STRESS_CHECK(c->checks, one == other,
                 "hand-over: actor %u sees generations %llu and %llu at once", c->number, LLU(one),
                 LLU(other));
    STRESS_CHECK(c->checks, one >= c->generation,
                 "hand-over: actor %u sees generation %llu after generation %llu", c->number,
                 LLU(one), LLU(c->generation));
    c->generation = one;
}

void stress_checks_use_lock(struct stress_checker *c, struct participant *self, bool slowly)
{
    participant_lock(self, &shared_lock);
    STRESS_CHECK(c->checks, shared_left == shared_right,
                 "locked: actor %u sees %llu and %llu under the lock", c->number, LLU(shared_left),
                 LLU(shared_right));
    shared_left++;
    if (slowly)
        stress_checks_spin_ns(2000);
    shared_right++;
    lock_release(&shared_lock);
}

/* --- the end -------------------------------------------------------------------------- */

void stress_checks_end(struct stress_checker *c, uint32_t participants_before, bool may_be_idle)
{
    STRESS_CHECK(c->checks, registry_count() == participants_before,
                 "at the end: %u participants are left, %u were there before", registry_count(),
                 participants_before);
    STRESS_CHECK(
        c->checks, times_moved > 0 || may_be_idle,
        "at the end: no operation saw a counter move since the one before; nothing was tested");
    if (flags->safepoint_recording) {
        struct ledger_audit audit = ledger_audit(ledger_totals());
        STRESS_CHECK(c->checks, audit.ok, "at the end: the ledger does not add up: %s", audit.why);
    }
    c->checks += operation_checks;
}

uint64_t stress_checks_failures(const char **first_out)
{
    *first_out = failure;
    return load_seq(&failure_count);
}
