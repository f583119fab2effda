/* bench_ttsp.c -- how fast is a stop against a bare one, and what does its account cost?
 *
 * Questions  1  Time to safepoint, lag and length of a stop with 1, 8 and 64 polling and
 *               with 64 and 1024 blocked mutators, against the least that can do it.
 *            2  Recording: begin -> op_begin with the account on against off.
 *            3  Waking: the coordinator wakes all, or a tree of them.
 *            4  Waiting: on a futex, spinning, or in naps as HotSpot does.
 * Unit       ns; the p50 or p99 of one child's stops, p99 from 1000 stops on.
 * Control    bare: bench_bare.c, the least that can stop threads.  The same threads, the
 *            same pauses, and the same stamps.
 * Warm-up    30 ms for the scheduler to spread the threads over the CPUs; then the first
 *            tenth of each child's stops is thrown away.
 * Rounds     7 (--quick: 1, and smaller crowds), each with one child per variant.
 *
 * Each stop waits until everybody runs again after the one before: who still sleeps at
 * the gate would be found safe already, and make the next stop look cheap.
 *
 * SPDX-License-Identifier: MIT */
#include "base/atomics.h"
#include "base/err.h"
#include "base/flags.h"
#include "base/os.h"
#include "safepoint/ledger.h"
#include "safepoint/participant.h"
#include "safepoint/stops.h"
#include "tools/bench/bench_bare.h"
#include "tools/bench/bench_priv.h"

#include <pthread.h>
#include <string.h>

#define MOST_STOPS 2000
#define MOST_CPUS  1024     /* whose numbers are tried, of a machine with more */
#define PAUSE_NS   100000   /* between two stops; arbitrary, shorter than a tick */
#define SETTLE_NS  30000000 /* until the scheduler has spread new threads over the CPUs */

enum figure { TTSP50, TTSP99, LAG50, LAG99, TOTAL50, TOTAL99, LEAVE50, RESUME50, REACH50, FIGURES };
static const char *const figure_names[FIGURES] = {
    "ttsp-p50",  "ttsp-p99",  "lag-p50",    "lag-p99",   "total-p50",
    "total-p99", "leave-p50", "resume-p50", "to-op-p50",
};

enum sample { TTSP, LAG, TOTAL, LEAVE, RESUME, REACH, SAMPLES };

enum variant_id {
    BARE_1,
    FLAG_1,
    GLOBAL_1,
    BLOCKED_64,
    BLOCKED_1024,
    BARE_8,
    FLAG_8,
    OFF_8,
    BARE_64,
    ALL_64,
    TREE_64,
    OFF_0,
    ON_0,
    OFF_SAFE_64,
    ON_SAFE_64,
    OFF_SAFE_1024,
    ON_SAFE_1024,
    OFF_1,
    ON_1,
    SLEEP_1,
    FUTEX_1,
    SPIN_1,
    VARIANTS
};

/* A crowd of threads, how many stops of it one child measures, and what is set. */
struct variant {
    const char *name; /* after the number of threads: "1-polling/flag" */
    uint32_t threads, stops, quick_threads, quick_stops;
    const char *flags[3];
    bool is_bare, is_blocked;
};

#define POLL_FLAG  "-XX:SafepointPoll=flag"
#define RECORD_ON  "-XX:+SafepointRecording"
#define RECORD_OFF "-XX:-SafepointRecording"

/* A stop of 64 polling threads lasts until each of them has had a CPU again, a third of
 * a second on two CPUs; hence so few of them, and so few threads with --quick. */
static const struct variant variants[VARIANTS] = {
    [BARE_1] = { "polling/bare", 1, 1200, 1, 20, { NULL }, true, false },
    [FLAG_1] = { "polling/flag", 1, 1200, 1, 20, { POLL_FLAG }, false, false },
    [GLOBAL_1] = { "polling/global", 1, 1200, 1, 20, { "-XX:SafepointPoll=global" }, false, false },
    [BLOCKED_64] = { "blocked/flag", 64, 1200, 64, 20, { POLL_FLAG }, false, true },
    [BLOCKED_1024] = { "blocked/flag", 1024, 300, 256, 20, { POLL_FLAG }, false, true },
    [BARE_8] = { "polling/bare", 8, 40, 4, 2, { NULL }, true, false },
    [FLAG_8] = { "polling/rec-on", 8, 40, 4, 2, { POLL_FLAG, RECORD_ON }, false, false },
    [OFF_8] = { "polling/rec-off", 8, 40, 4, 2, { POLL_FLAG, RECORD_OFF }, false, false },
    [BARE_64] = { "polling/bare", 64, 6, 16, 1, { NULL }, true, false },
    [ALL_64] = { "polling/wake-all", 64, 6, 16, 1, { "-XX:SafepointWake=all" }, false, false },
    [TREE_64] = { "polling/wake-tree", 64, 6, 16, 1, { "-XX:SafepointWake=tree" }, false, false },
    [OFF_0] = { "blocked/rec-off", 0, 300, 0, 20, { RECORD_OFF }, false, true },
    [ON_0] = { "blocked/rec-on", 0, 300, 0, 20, { RECORD_ON }, false, true },
    [OFF_SAFE_64] = { "blocked/rec-off", 64, 300, 64, 20, { RECORD_OFF }, false, true },
    [ON_SAFE_64] = { "blocked/rec-on", 64, 300, 64, 20, { RECORD_ON }, false, true },
    [OFF_SAFE_1024] = { "blocked/rec-off", 1024, 300, 256, 20, { RECORD_OFF }, false, true },
    [ON_SAFE_1024] = { "blocked/rec-on", 1024, 300, 256, 20, { RECORD_ON }, false, true },
    [OFF_1] = { "polling/rec-off", 1, 300, 1, 20, { RECORD_OFF }, false, false },
    [ON_1] = { "polling/rec-on", 1, 300, 1, 20, { RECORD_ON }, false, false },
    [SLEEP_1] = { "polling/wait-sleep",
                  1,
                  300,
                  1,
                  20,
                  { "-XX:SafepointWait=sleep" },
                  false,
                  false },
    [FUTEX_1] = { "polling/wait-futex",
                  1,
                  300,
                  1,
                  20,
                  { "-XX:SafepointWait=futex" },
                  false,
                  false },
    [SPIN_1] = { "polling/wait-spin", 1, 300, 1, 20, { "-XX:SafepointWait=spin" }, false, false },
};

/* --- [child] what both kinds share ------------------------------------------------ */

static double samples[SAMPLES][MOST_STOPS];
static uint32_t sample_count[SAMPLES];
static uint32_t warm_up, stops_seen;
static _Atomic uint32_t ready; /* a futex */

static void take_sample(enum sample which, double ns)
{
    if (stops_seen >= warm_up && sample_count[which] < MOST_STOPS)
        samples[which][sample_count[which]++] = ns;
}

static void say_ready(void)
{
    fetch_add_seq(&ready, 1);
    os_futex_wake(&ready, 1, OS_FUTEX_ANY);
}

/* One polling thread is measured on the other core: two CPUs, one for it and one for
 * who stops it.  Bigger crowds, and machines with one CPU, are left to the scheduler. */
static int cpu_to_poll = -1, cpu_to_stop = -1;

/* In a thread of its own: who stays on one CPU cannot ask for another any more. */
static void *find_cpu(void *cpu_ptr)
{
    int *cpu = cpu_ptr;
    while (*cpu < MOST_CPUS && !os_stay_on_cpu(*cpu))
        ++*cpu;
    return NULL;
}

/* The first one, not below cpu, that this process may run on; MOST_CPUS = none. */
static int usable_cpu(int cpu)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, find_cpu, &cpu) != 0)
        return MOST_CPUS;
    pthread_join(thread, NULL);
    return cpu;
}

static void choose_cpus(void)
{
    int first = usable_cpu(0), second = usable_cpu(first + 1);
    if (second < MOST_CPUS) {
        cpu_to_stop = first;
        cpu_to_poll = second;
    }
}

/* The calling thread; cpu -1 = anywhere. */
static void stay_on(int cpu)
{
    if (cpu >= 0)
        os_stay_on_cpu(cpu); /* refused: the figures have more spread */
}

static void start_threads(void *(*body)(void *), uint32_t count)
{
    uint32_t before, wanted = load_seq(&ready) + count;
    for (uint32_t i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, body, NULL) != 0)
            bench_child_fail(EXIT_CODE_ENVIRONMENT, "cannot start thread %u of %u", i + 1, count);
    }
    while ((before = load_seq(&ready)) < wanted)
        os_futex_wait(&ready, before, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
    /* This thread wakes promptly from here on, as the VM thread does; not earlier, since
     * the new threads would inherit it. */
    os_set_timer_slack_ns(1000);
    os_set_time_slice_ns(100000);
    os_sleep_ns(SETTLE_NS);
}

static double percentile(enum sample which, double percent)
{
    return bench_percentile(samples[which], sample_count[which], percent);
}

static void fill_figures(double *figures_out)
{
    figures_out[TTSP50] = percentile(TTSP, 50);
    figures_out[TTSP99] = percentile(TTSP, 99);
    figures_out[LAG50] = percentile(LAG, 50);
    figures_out[LAG99] = percentile(LAG, 99);
    figures_out[TOTAL50] = percentile(TOTAL, 50);
    figures_out[TOTAL99] = percentile(TOTAL, 99);
    figures_out[LEAVE50] = percentile(LEAVE, 50);
    figures_out[RESUME50] = percentile(RESUME, 50);
    figures_out[REACH50] = percentile(REACH, 50);
}

/* --- [child] our stops ---------------------------------------------------------------- */

static _Atomic uint32_t delivered; /* records; a futex */

static void sample_span(const struct stop_record *record, enum sample which, enum ledger_span span)
{
    if (stop_record_has_span(record, span))
        take_sample(which, (double)stop_record_span(record, span));
}

/* On the VM thread, after the last waiter has resumed. */
static void on_stop(const struct stop_record *record, void *unused)
{
    (void)unused;
    sample_span(record, TTSP, LEDGER_SPAN_ttsp);
    sample_span(record, LAG, LEDGER_SPAN_lag);
    sample_span(record, TOTAL, LEDGER_SPAN_total);
    sample_span(record, LEAVE, LEDGER_SPAN_leave);
    sample_span(record, RESUME, LEDGER_SPAN_resume);
    take_sample(REACH,
                (double)(record->stamp[LEDGER_STAMP_op_begin] - record->stamp[LEDGER_STAMP_begin]));
    stops_seen++;
    store_seq(&delivered, stops_seen);
    os_futex_wake(&delivered, 1, OS_FUTEX_ANY);
}

static struct participant *attach(const char *name)
{
    struct participant *self;
    if (participant_attach(PARTICIPANT_MUTATOR, name, &self) != ERR_OK)
        bench_child_fail(EXIT_CODE_ENVIRONMENT, "cannot attach a thread");
    participant_leave_safe(self, PARTICIPANT_GUEST);
    return self;
}

/* Threads have no end of their own: the last stop keeps them, the child's end ends them. */
static _Noreturn void *poll_for_ever(void *unused)
{
    (void)unused;
    struct participant *self = attach("poller");
    stay_on(cpu_to_poll);
    say_ready();
    for (;;)
        participant_poll(self);
}

static _Noreturn void *block_for_ever(void *unused)
{
    static _Atomic uint32_t never;
    (void)unused;
    participant_enter_safe(attach("sleeper"), PARTICIPANT_BLOCKED);
    say_ready();
    for (;;)
        os_futex_wait(&never, 0, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
}

/* Inside a stop, since that is where the VM thread runs what others ask of it. */
static void keep_vm_thread_there(void *unused)
{
    (void)unused;
    stay_on(cpu_to_stop);
}

/* Returns when everybody runs again. */
static void stop_once(uint32_t number, void (*run)(void *))
{
    uint32_t seen;
    stops_force(run, NULL);
    while ((seen = load_seq(&delivered)) < number)
        os_futex_wait(&delivered, seen, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
}

static void stop_ours(const struct variant *v, uint32_t stops)
{
    ledger_set_sink(on_stop, NULL);
    bench_child_start_stops();
    stop_once(1, keep_vm_thread_there);
    warm_up++;
    start_threads(v->is_blocked ? block_for_ever : poll_for_ever, v->threads);
    for (uint32_t i = 0; i < stops; i++) {
        os_sleep_ns(PAUSE_NS);
        stop_once(i + 2, NULL);
    }
    stops_exit();
    struct ledger_audit audit = ledger_audit(ledger_totals());
    if (flags->safepoint_recording && !audit.ok)
        bench_child_fail(EXIT_CODE_SELF_CHECK, "self-check failed: %s", audit.why);
}

/* --- [child] bare stops ------------------------------------------------------------------ */

static _Noreturn void *poll_bare_for_ever(void *unused)
{
    (void)unused;
    stay_on(cpu_to_poll);
    say_ready();
    bench_bare_poll_for_ever();
}

static void stop_bare(const struct variant *v, uint32_t stops)
{
    start_threads(poll_bare_for_ever, v->threads);
    stay_on(cpu_to_stop);
    for (uint32_t i = 1; i <= stops; i++) {
        os_sleep_ns(PAUSE_NS);
        struct bench_bare_stop stop = bench_bare_stop(v->threads);
        take_sample(TTSP, (double)stop.last_arrival_ns - (double)stop.begin_ns);
        take_sample(LAG, (double)stop.noticed_ns - (double)stop.last_arrival_ns);
        take_sample(TOTAL, (double)(stop.woken_ns - stop.begin_ns));
        stops_seen++;
        bench_bare_wait_resumed(v->threads * i);
    }
}

/* [child] */
static void measure(const void *argument, double *figures_out)
{
    const struct variant *v = argument;
    uint32_t stops = v->stops;
    warm_up = (stops + 9) / 10;
    if (v->threads == 1 && !v->is_blocked)
        choose_cpus();
    if (v->is_bare)
        stop_bare(v, stops + warm_up);
    else
        stop_ours(v, stops + warm_up);
    fill_figures(figures_out);
}

/* --- [command] the rows --------------------------------------------------------------- */

#define NO_BASE VARIANTS

static const struct row_plan {
    enum variant_id variant;
    enum figure figure;
    enum variant_id baseline;
    enum bench_goal_kind goal_kind;
    double goal;
} row_plans[] = {
    { BARE_1, TTSP50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { FLAG_1, TTSP50, BARE_1, BENCH_GOAL_AT_MOST, 500 },
    { GLOBAL_1, TTSP50, BARE_1, BENCH_GOAL_NONE, 0 },
    { BARE_1, TTSP99, NO_BASE, BENCH_GOAL_NONE, 0 },
    { FLAG_1, TTSP99, BARE_1, BENCH_GOAL_NONE, 0 },
    { GLOBAL_1, TTSP99, BARE_1, BENCH_GOAL_NONE, 0 },
    { BARE_1, LAG50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { FLAG_1, LAG50, BARE_1, BENCH_GOAL_AT_MOST, 1000 },
    { GLOBAL_1, LAG50, BARE_1, BENCH_GOAL_NONE, 0 },
    { FLAG_1, LAG99, NO_BASE, BENCH_GOAL_NONE, 0 },
    { BARE_1, TOTAL50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { FLAG_1, TOTAL50, BARE_1, BENCH_GOAL_NONE, 0 },
    { GLOBAL_1, TOTAL50, BARE_1, BENCH_GOAL_NONE, 0 },
    { FLAG_1, TOTAL99, NO_BASE, BENCH_GOAL_NONE, 0 },
    { BLOCKED_64, TTSP50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { BLOCKED_64, TTSP99, NO_BASE, BENCH_GOAL_NONE, 0 },
    { BLOCKED_64, LAG50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { BLOCKED_64, TOTAL50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { BLOCKED_1024, TTSP50, NO_BASE, BENCH_GOAL_AT_MOST, 3000 },
    { BARE_8, TTSP50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { FLAG_8, TTSP50, BARE_8, BENCH_GOAL_RATIO_AT_MOST, 2 },
    { BARE_8, LAG50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { FLAG_8, LAG50, BARE_8, BENCH_GOAL_NONE, 0 },
    { BARE_8, TOTAL50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { FLAG_8, TOTAL50, BARE_8, BENCH_GOAL_NONE, 0 },
    { BARE_64, TTSP50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { TREE_64, TTSP50, BARE_64, BENCH_GOAL_RATIO_AT_MOST, 2 },
    { BARE_64, LAG50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { TREE_64, LAG50, BARE_64, BENCH_GOAL_NONE, 0 },
    { BARE_64, TOTAL50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { TREE_64, TOTAL50, BARE_64, BENCH_GOAL_NONE, 0 },
    { ALL_64, LEAVE50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { TREE_64, LEAVE50, ALL_64, BENCH_GOAL_NONE, 0 },
    { ALL_64, RESUME50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { TREE_64, RESUME50, ALL_64, BENCH_GOAL_NONE, 0 },
    { OFF_0, REACH50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { ON_0, REACH50, OFF_0, BENCH_GOAL_MORE_AT_MOST, 300 },
    { OFF_SAFE_64, REACH50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { ON_SAFE_64, REACH50, OFF_SAFE_64, BENCH_GOAL_MORE_AT_MOST, 300 + 2 * 64 },
    { OFF_SAFE_1024, REACH50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { ON_SAFE_1024, REACH50, OFF_SAFE_1024, BENCH_GOAL_MORE_AT_MOST, 300 + 2 * 1024 },
    { OFF_1, REACH50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { ON_1, REACH50, OFF_1, BENCH_GOAL_MORE_AT_MOST, 300 + 60 },
    { OFF_8, REACH50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { FLAG_8, REACH50, OFF_8, BENCH_GOAL_MORE_AT_MOST, 300 + 60 * 8 },
    { SLEEP_1, TTSP50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { FUTEX_1, TTSP50, SLEEP_1, BENCH_GOAL_NONE, 0 },
    { SPIN_1, TTSP50, SLEEP_1, BENCH_GOAL_NONE, 0 },
    { SLEEP_1, LAG50, NO_BASE, BENCH_GOAL_NONE, 0 },
    { FUTEX_1, LAG50, SLEEP_1, BENCH_GOAL_NONE, 0 },
    { SPIN_1, LAG50, SLEEP_1, BENCH_GOAL_NONE, 0 },
};
#define ROWS (sizeof row_plans / sizeof *row_plans)

/* What recording costs for each participant, beyond what it costs with none. */
static const struct each_plan {
    enum variant_id off, on;
} each_plans[] = {
    { OFF_SAFE_64, ON_SAFE_64 },
    { OFF_SAFE_1024, ON_SAFE_1024 },
    { OFF_1, ON_1 },
    { OFF_8, FLAG_8 },
};
#define EACH_ROWS (sizeof each_plans / sizeof *each_plans)

static uint32_t threads_of(const struct bench *bench, enum variant_id variant)
{
    const struct variant *v = &variants[variant];
    return bench->is_quick ? v->quick_threads : v->threads;
}

static void add_rows(struct bench *bench, struct bench_row **rows, struct bench_row **each_rows)
{
    struct bench_row *by_figure[VARIANTS + 1][FIGURES];
    memset(by_figure, 0, sizeof by_figure); /* row NO_BASE stays NULL */
    for (size_t i = 0; i < ROWS; i++) {
        const struct row_plan *plan = &row_plans[i];
        rows[i] = bench_add(bench, "ns", by_figure[plan->baseline][plan->figure], "ttsp/%u-%s/%s",
                            threads_of(bench, plan->variant), variants[plan->variant].name,
                            figure_names[plan->figure]);
        bench_set_goal(rows[i], plan->goal_kind, plan->goal);
        by_figure[plan->variant][plan->figure] = rows[i];
    }
    for (size_t i = 0; i < EACH_ROWS; i++)
        each_rows[i] =
            bench_add(bench, "ns", NULL, "ttsp/%u-%s/each", threads_of(bench, each_plans[i].on),
                      variants[each_plans[i].on].name);
}

static bool run_variants(struct bench *bench, double figures_out[VARIANTS][FIGURES])
{
    for (int v = 0; v < VARIANTS; v++) {
        struct variant chosen = variants[v];
        chosen.threads = threads_of(bench, v);
        if (bench->is_quick)
            chosen.stops = chosen.quick_stops;
        struct bench_child child = { chosen.name, variants[v].flags, measure, &chosen };
        if (!bench_in_child(bench, &child, figures_out[v], FIGURES))
            return false;
    }
    return true;
}

void bench_ttsp(struct bench *bench)
{
    static double figures[VARIANTS][FIGURES];
    struct bench_row *rows[ROWS], *each_rows[EACH_ROWS];
    uint32_t rounds = bench_rounds(bench, 7, 1);
    add_rows(bench, rows, each_rows);
    for (uint32_t round = 0; round < rounds && bench_goes_on(bench, round, rounds); round++) {
        if (!run_variants(bench, figures))
            return;
        for (size_t i = 0; i < ROWS; i++)
            bench_put(rows[i], round, figures[row_plans[i].variant][row_plans[i].figure]);
        double with_none = figures[ON_0][REACH50] - figures[OFF_0][REACH50];
        for (size_t i = 0; i < EACH_ROWS; i++) {
            const struct each_plan *each = &each_plans[i];
            double cost = figures[each->on][REACH50] - figures[each->off][REACH50];
            bench_put(each_rows[i], round, (cost - with_none) / threads_of(bench, each->on));
        }
    }
}
