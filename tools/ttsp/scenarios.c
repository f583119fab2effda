/* scenarios.c -- the built-in scenarios in C.
 *
 * Each is a question; where it shows a disease, its cure is the next row, with the
 * same work and one thing changed.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/ttsp/scenario.h"

#include "alloc/bulk.h"
#include "base/os.h"

#include <pthread.h>
#include <string.h>

#define ZERO_BUFFERS      2
#define ZERO_BUFFER_BYTES ((size_t)256 << 20)

/* About 1 ns an iteration: long enough between polls to hold a stop up 20 ms. */
#define NOLOOP_ITERATIONS UINT64_C(20000000)
#define STRIP_ITERATIONS  1000

static void poll_until_over(struct scenario_run *run, struct participant *self, int number)
{
    (void)number;
    while (!scenario_is_over(run))
        participant_poll(self);
}

static void sleep_until_over(struct scenario_run *run, struct participant *self, int number)
{
    (void)number;
    scenario_sleep_until_over(run, self);
}

static void start_calm(struct scenario_run *run)
{
    scenario_thread(run, "poller", poll_until_over, 0);
}

static void start_blocked(struct scenario_run *run)
{
    for (int i = 0; i < 64; i++)
        scenario_thread(run, "sleeper", sleep_until_over, i);
}

static void start_crowd(struct scenario_run *run)
{
    for (int i = 0; i < 64; i++)
        scenario_thread(run, "poller", poll_until_over, i);
}

/* --- threads that start and end ---------------------------------------------- */

static void *live_briefly(void *unused)
{
    struct participant *self;
    (void)unused;
    if (participant_attach(PARTICIPANT_MUTATOR, "mayfly", &self) != ERR_OK)
        return NULL; /* the run is ending */
    participant_leave_safe(self, PARTICIPANT_GUEST);
    for (int i = 0; i < 10; i++)
        participant_poll(self);
    participant_detach(self);
    return NULL;
}

static void start_and_end_threads(struct scenario_run *run, int number)
{
    (void)number;
    while (!scenario_is_over(run)) {
        pthread_t batch[16];
        int started = 0;
        while (started < 16 && pthread_create(&batch[started], NULL, live_briefly, NULL) == 0)
            started++;
        if (started == 0) {
            scenario_fail(run, "cannot start a thread");
            return;
        }
        while (started > 0)
            pthread_join(batch[--started], NULL);
    }
}

static void start_storm(struct scenario_run *run)
{
    scenario_thread(run, "poller", poll_until_over, 0);
    for (int i = 0; i < 2; i++)
        scenario_plain_thread(run, start_and_end_threads, i);
}

/* --- the same crowd, of which the stops know nothing ----------------------------- */

#define BURST_SPAWNERS 4
#define BURST_THREADS  500
#define BURST_PAUSE_NS UINT64_C(1000000000)

static void *add_ten_numbers(void *unused)
{
    volatile int sum = 0;
    for (int i = 0; i < 10; i++)
        sum = sum + i;
    return unused;
}

static void start_burst(struct scenario_run *run)
{
    static pthread_t threads[BURST_SPAWNERS][BURST_THREADS];
    static _Atomic uint32_t next;
    pthread_t *own = threads[fetch_add_relaxed(&next, 1) % BURST_SPAWNERS];
    int started = 0;
    while (started < BURST_THREADS &&
           pthread_create(&own[started], NULL, add_ten_numbers, NULL) == 0)
        started++;
    if (started < BURST_THREADS)
        scenario_fail(run, "cannot start a thread");
    while (started > 0)
        pthread_join(own[--started], NULL);
}

/* All spawners begin their bursts at the same instants. */
static void burst_until_over(struct scenario_run *run, int number)
{
    (void)number;
    for (uint64_t due = os_now_ns() + BURST_PAUSE_NS; !scenario_is_over(run);
         due += BURST_PAUSE_NS) {
        while (os_now_ns() < due && !scenario_is_over(run))
            os_sleep_ns(10000000);
        if (!scenario_is_over(run))
            start_burst(run);
    }
}

static void start_spawn_unattached(struct scenario_run *run)
{
    for (int i = 0; i < 2; i++)
        scenario_thread(run, "poller", poll_until_over, i);
    for (int i = 0; i < BURST_SPAWNERS; i++)
        scenario_plain_thread(run, burst_until_over, i);
}

/* --- a loop without polls ----------------------------------------------------- */

static const struct doing_what noloop = { "no-poll loop", "in a loop without polls", "iterations" };
static const struct doing_what strip_loop = { "no-poll loop", "in a loop with strips",
                                              "iterations" };

/* A dependent chain the compiler cannot shorten. */
static inline uint64_t one_iteration(uint64_t x)
{
    return x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

static uint64_t loop_without_polls(uint64_t x, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++)
        x = one_iteration(x);
    return x;
}

static uint64_t loop_in_strips(struct participant *self, uint64_t x, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i += STRIP_ITERATIONS) {
        x = loop_without_polls(x, STRIP_ITERATIONS);
        doing_progress(participant_doing(self), i);
        participant_poll(self);
    }
    return x;
}

static _Atomic uint64_t loop_result; /* so that the work has a use */

static void loop_until_over(struct scenario_run *run, struct participant *self, int strips)
{
    uint64_t x = 1;
    while (!scenario_is_over(run)) {
        struct doing_value before =
            doing_begin(participant_doing(self), strips ? &strip_loop : &noloop, NOLOOP_ITERATIONS);
        x = strips ? loop_in_strips(self, x, NOLOOP_ITERATIONS)
                   : loop_without_polls(x, NOLOOP_ITERATIONS);
        doing_end(participant_doing(self), before);
        participant_poll(self);
    }
    store_relaxed(&loop_result, x); /* nobody reads it for its order */
}

static void start_noloop(struct scenario_run *run)
{
    scenario_thread(run, "looper", loop_until_over, 0);
}

static void start_noloop_strip(struct scenario_run *run)
{
    scenario_thread(run, "looper", loop_until_over, 1);
}

/* --- big buffers zeroed -------------------------------------------------------- */

static char *buffers[ZERO_BUFFERS];

static void zero_in_turn(struct scenario_run *run, struct participant *self, int number)
{
    (void)number;
    for (int i = 0; !scenario_is_over(run); i = (i + 1) % ZERO_BUFFERS) {
        bulk_zero_mp(self, buffers[i], ZERO_BUFFER_BYTES);
        participant_poll(self);
    }
}

/* Touched once beforehand: faulting memory in is not what is asked here.  The child
 * process ends with the scenario, and the buffers with it. */
static void start_zero(struct scenario_run *run)
{
    for (int i = 0; i < ZERO_BUFFERS; i++) {
        buffers[i] = os_map(ZERO_BUFFER_BYTES);
        if (!buffers[i]) {
            scenario_fail(run, "cannot map a buffer of %zu bytes", ZERO_BUFFER_BYTES);
            return;
        }
        memset(buffers[i], 1, ZERO_BUFFER_BYTES);
    }
    scenario_thread(run, "zeroer", zero_in_turn, 0);
}

/* --- the table ------------------------------------------------------------------ */

#define EVERY_NS 5000000 /* 200 stops a second; a thousand, for a p99, in 5 s */

#define ROW(row_name, row_question, row_focus, row_cure, flag, row_start)                          \
    {                                                                                              \
        .name = row_name, .question = row_question, .focus = row_focus, .cure = row_cure,          \
        .flags = { flag }, .every_ns = EVERY_NS, .start = row_start                                \
    }

const struct scenario scenarios[] = {
    ROW("c-calm", "What does a stop cost with one polling mutator on the other core?", NULL, NULL,
        NULL, start_calm),
    ROW("c-blocked", "Do 64 sleeping mutators delay a stop?", NULL, NULL, NULL, start_blocked),
    ROW("c-crowd", "What if 64 mutators poll on these CPUs?", NULL, NULL, NULL, start_crowd),
    ROW("c-storm", "Do threads that start and end all the time delay a stop?", NULL, NULL, NULL,
        start_storm),
    ROW("c-spawn-unattached", "What if the 2000 threads of spawn-burst are unknown to the stops?",
        NULL, NULL, NULL, start_spawn_unattached),
    ROW("c-noloop", "What does a 20-million-iteration loop without polls do?", "no-poll loop",
        "c-noloop-strip", NULL, start_noloop),
    ROW("c-noloop-strip", "The same loop with a poll every 1000 iterations?", "no-poll loop", NULL,
        NULL, start_noloop_strip),
    ROW("c-zero-whole", "What does a 256 MiB buffer zeroed in one piece do?", "zero",
        "c-zero-chunked", "-XX:BulkPolicy=whole", start_zero),
    ROW("c-zero-chunked", "The same buffer zeroed in chunks with polls between?", "zero", NULL,
        "-XX:BulkPolicy=chunked", start_zero),
};
const size_t scenario_count = sizeof scenarios / sizeof *scenarios;

const struct scenario *scenario_named(const char *name)
{
    for (size_t i = 0; i < scenario_count; i++)
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    return NULL;
}
