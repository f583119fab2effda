/* bench_poll.c -- what do a poll, a transition and their neighbours cost?
 *
 * Question   How much longer is one turn of a tight native loop with a poll in it, for
 *            both kinds of poll?  How long are a transition to NATIVE and back, attaching
 *            and detaching, and one reading of the clock?
 * Unit       ns per turn.
 * Control    The same loop with a lock-prefixed add shows what a poll that was an
 *            atomic read-modify-write would cost: the scale of the other rows.
 * Warm-up    The first slice of each loop is thrown away.
 * Rounds     15 (--quick: 2).  In each, one child per kind of poll takes 41 slices of
 *            each loop in turn, about 50 us long, shorter than what the scheduler gives,
 *            and reports their medians.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/bench/bench_priv.h"

#include "base/atomics.h"
#include "base/err.h"
#include "base/os.h"
#include "safepoint/participant.h"

#define SLICES       41
#define QUICK_SLICES 11

/* All loops keep their counter in a register, a step that depends on the one before,
 * and begin at the start of a line, so that they differ in one thing only. */
#define LOOP    __attribute__((noinline, aligned(64)))
#define STEP(x) __asm__ volatile("" : "+r"(x))

static _Atomic uint64_t shared_word;

LOOP static void loop_empty(struct participant *self, uint64_t turns)
{
    (void)self;
    for (uint64_t i = 0; i < turns; i++)
        STEP(i);
}

LOOP static void loop_poll(struct participant *self, uint64_t turns)
{
    for (uint64_t i = 0; i < turns; i++) {
        STEP(i);
        participant_poll(self);
    }
}

LOOP static void loop_lock_add(struct participant *self, uint64_t turns)
{
    (void)self;
    for (uint64_t i = 0; i < turns; i++) {
        STEP(i);
        fetch_add_seq(&shared_word, 1); /* the order is what costs: it is the control */
    }
}

LOOP static void loop_transition(struct participant *self, uint64_t turns)
{
    for (uint64_t i = 0; i < turns; i++) {
        participant_enter_safe(self, PARTICIPANT_NATIVE);
        participant_leave_safe(self, PARTICIPANT_GUEST);
    }
}

LOOP static void loop_clock(struct participant *self, uint64_t turns)
{
    (void)self;
    for (uint64_t i = 0; i < turns; i++) {
        uint64_t now = os_now_ns();
        STEP(now);
    }
}

/* Detaches the thread, so self is not what is attached afterwards; see measure(). */
LOOP static void loop_attach(struct participant *self, uint64_t turns)
{
    participant_detach(self);
    for (uint64_t i = 0; i < turns; i++) {
        if (participant_attach(PARTICIPANT_MUTATOR, "attacher", &self) != ERR_OK)
            bench_child_fail(EXIT_CODE_ENVIRONMENT, "cannot attach");
        participant_detach(self);
    }
    if (participant_attach(PARTICIPANT_MUTATOR, "poller", &self) != ERR_OK)
        bench_child_fail(EXIT_CODE_ENVIRONMENT, "cannot attach");
    participant_leave_safe(self, PARTICIPANT_GUEST);
}

enum { EMPTY, POLL, LOCK_ADD, TRANSITION, CLOCK, ATTACH, LOOPS };

static const struct {
    void (*run)(struct participant *self, uint64_t turns);
    uint64_t turns; /* in a slice */
} loops[LOOPS] = {
    [EMPTY] = { loop_empty, 200000 },      [POLL] = { loop_poll, 200000 },
    [LOCK_ADD] = { loop_lock_add, 10000 }, [TRANSITION] = { loop_transition, 3000 },
    [CLOCK] = { loop_clock, 2500 },        [ATTACH] = { loop_attach, 100 },
};

static double one_slice(int loop)
{
    uint64_t start = os_now_ns();
    loops[loop].run(participant_self(), loops[loop].turns);
    return (double)(os_now_ns() - start) / (double)loops[loop].turns;
}

/* [child] */
static void measure(const void *argument, double *figures_out)
{
    size_t slices = *(const size_t *)argument;
    static double samples[LOOPS][SLICES];
    struct participant *self;
    bench_child_start_stops();
    if (participant_attach(PARTICIPANT_MUTATOR, "poller", &self) != ERR_OK)
        bench_child_fail(EXIT_CODE_ENVIRONMENT, "cannot attach");
    participant_leave_safe(self, PARTICIPANT_GUEST);
    for (int loop = 0; loop < LOOPS; loop++)
        one_slice(loop);
    for (size_t i = 0; i < slices; i++)
        for (int loop = 0; loop < LOOPS; loop++)
            samples[loop][i] = one_slice(loop);
    for (int loop = 0; loop < LOOPS; loop++)
        figures_out[loop] = bench_percentile(samples[loop], slices, 50);
}

static const char *const flag_poll[] = { "-XX:SafepointPoll=flag", NULL };
static const char *const global_poll[] = { "-XX:SafepointPoll=global", NULL };

void bench_poll(struct bench *bench)
{
    size_t slices = bench->is_quick ? QUICK_SLICES : SLICES;
    struct bench_child flag = { "poll, flag", flag_poll, measure, &slices };
    struct bench_child global = { "poll, global", global_poll, measure, &slices };
    uint32_t rounds = bench_rounds(bench, 15, 2);

    struct bench_row *none = bench_add(bench, "ns", NULL, "poll/loop/none");
    struct bench_row *by_flag = bench_add(bench, "ns", none, "poll/loop/flag");
    bench_set_goal(by_flag, BENCH_GOAL_MORE_AT_MOST, 0.05);
    /* Another process, so against the empty loop of its own. */
    struct bench_row *other_none = bench_add(bench, "ns", NULL, "poll/loop-global/none");
    struct bench_row *by_global = bench_add(bench, "ns", other_none, "poll/loop-global/global");
    struct bench_row *lock_add = bench_add(bench, "ns", none, "poll/loop/lock-add");
    struct bench_row *transition = bench_add(bench, "ns", NULL, "poll/transition-and-back");
    struct bench_row *attach = bench_add(bench, "ns", NULL, "poll/attach-and-detach");
    struct bench_row *clock = bench_add(bench, "ns", NULL, "poll/clock-read");

    for (uint32_t round = 0; round < rounds && bench_goes_on(bench, round, rounds); round++) {
        double figures[LOOPS];
        if (!bench_in_child(bench, &flag, figures, LOOPS))
            return;
        bench_put(none, round, figures[EMPTY]);
        bench_put(by_flag, round, figures[POLL]);
        bench_put(lock_add, round, figures[LOCK_ADD]);
        bench_put(transition, round, figures[TRANSITION]);
        bench_put(attach, round, figures[ATTACH]);
        bench_put(clock, round, figures[CLOCK]);
        if (!bench_in_child(bench, &global, figures, LOOPS))
            return;
        bench_put(other_none, round, figures[EMPTY]);
        bench_put(by_global, round, figures[POLL]);
    }
}
