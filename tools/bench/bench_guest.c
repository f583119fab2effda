/* bench_guest.c -- what threads of guest programs cost, and what they bring.
 *
 * Question   Do two threads do independent work twice as fast as one?  What do strips cost a
 *            counted loop?  What do a thread, a lock, a barrier cost?
 * Unit       ns: of an iteration (of all threads together), a start and join, an acquire and
 *            release, a meeting.  By the program's own clock.
 * Compared   The work of two threads with that of one; a loop with strips with the same loop
 *            without polls; a guest thread with a bare pthread that does nothing.
 * Check      Each run has to print the result that stands in the table below.
 * Rounds     7 (--quick: 1); in each, every variant once, in a new process.
 *
 * The trap: a loop without polls says in `doing` that it runs, which costs it a check in each
 * iteration; without that it would be some 4 % faster here, and strips as fast as no polls.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/bench/bench_priv.h"

#include "base/err.h"
#include "base/insist.h"
#include "base/os.h"
#include "tools/bench/bench_answer.h"
#include "tools/bench/bench_command.h"
#include "tools/bench/bench_folder.h"
#include "tools/process.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

/* A run takes 0.2 s here, 20 times that under a sanitizer; the rest is for busy machines. */
#define RUN_LIMIT_NS UINT64_C(60000000000)

static const char *const programs[] = { "independent", "counted", "spawn", "lock", "barrier" };

static const struct variant {
    const char *name, *program, *flag;
    uint32_t arguments;
    const char *result;
    double count; /* of what there is in a run */
    const char *baseline;
    enum bench_goal_kind goal_kind;
    double goal;
} variants[] = {
    { "independent/1-thread", "independent", NULL, 1, "1", 8e6, NULL, BENCH_GOAL_NONE, 0 },
    { "independent/2-threads", "independent", NULL, 2, "2", 16e6, "independent/1-thread",
      BENCH_GOAL_RATIO_AT_MOST, 1 / 1.8 },
    { "counted-loop/no-polls", "counted", "-XX:-UseCountedLoopSafepoints", 0, "true", 20e6, NULL,
      BENCH_GOAL_NONE, 0 },
    { "counted-loop/strips", "counted", NULL, 0, "true", 20e6, "counted-loop/no-polls",
      BENCH_GOAL_RATIO_AT_MOST, 1 / 0.95 },
    { "counted-loop/polls", "counted", "-XX:LoopStripMiningIter=1", 0, "true", 20e6,
      "counted-loop/no-polls", BENCH_GOAL_NONE, 0 },
    { "spawn-join", "spawn", NULL, 0, "2000", 2000, "pthread-create-join", BENCH_GOAL_NONE, 0 },
    { "lock/1-thread", "lock", NULL, 1, "1e+06", 1e6, NULL, BENCH_GOAL_NONE, 0 },
    { "lock/2-threads", "lock", NULL, 2, "1e+06", 1e6, "lock/1-thread", BENCH_GOAL_NONE, 0 },
    { "barrier/2-threads", "barrier", NULL, 0, "20000", 20000, NULL, BENCH_GOAL_NONE, 0 },
};
#define VARIANTS     (sizeof variants / sizeof *variants)
#define BARE_THREADS 2000

static struct bench_row *rows[VARIANTS], *bare_row;
static char own_path[PATH_MAX];

static void fail(struct bench *bench, int exit_code, const char *what, const char *why)
{
    if (bench->failure[0])
        return;
    snprintf(bench->failure, sizeof bench->failure, "%.80s: %.160s", what, why);
    bench->failure_exit = exit_code;
}

static void *do_nothing(void *unused) { return unused; }

/* ns of one start and join; NAN when the system starts none. */
static double measure_bare_threads(void)
{
    uint64_t start = os_now_ns();
    for (int i = 0; i < BARE_THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, do_nothing, NULL) != 0)
            return NAN;
        pthread_join(thread, NULL);
    }
    return (double)(os_now_ns() - start) / BARE_THREADS;
}

static void fail_by_end(struct bench *bench, const char *name,
                        const struct bench_command_result *result)
{
    char why[160], line[100];
    bench_answer_first_line(result->err, line, sizeof line);
    if (bench_folder_is_to_go())
        snprintf(why, sizeof why, "was interrupted");
    else if (!result->has_ended)
        snprintf(why, sizeof why, "hung and was ended");
    else
        snprintf(why, sizeof why, "ended with %d%s%s", result->status, line[0] ? ": " : "", line);
    fail(bench, process_failure_exit(result->has_ended, result->status), name, why);
}

/* NAN, and the bench has failed, when it did not end well or is wrong. */
static double measure(struct bench *bench, const struct variant *v)
{
    char file[64], why[BENCH_ANSWER_WHY_BYTES];
    const char *argv[8] = { own_path, "run" };
    struct bench_command_result result;
    size_t n = 2;
    double ms = NAN;
    snprintf(file, sizeof file, "%s.lox", v->program);
    if (v->flag)
        argv[n++] = v->flag;
    argv[n++] = file;
    for (uint32_t i = 0; i < v->arguments; i++)
        argv[n++] = "x";
    if (!bench_command_run(argv, RUN_LIMIT_NS, &result))
        fail(bench, EXIT_CODE_ENVIRONMENT, v->name, strerror(errno));
    else if (!result.has_ended || result.status != 0)
        fail_by_end(bench, v->name, &result);
    else if (!bench_answer_read(result.out, v->result, &ms, why, sizeof why))
        fail(bench, EXIT_CODE_SELF_CHECK, v->name, why);
    return ms * 1e6 / v->count;
}

static const struct bench_row *row_named(const char *name)
{
    if (strcmp(name, "pthread-create-join") == 0)
        return bare_row;
    for (size_t i = 0; i < VARIANTS; i++)
        if (strcmp(variants[i].name, name) == 0)
            return rows[i];
    INSIST(false, "no row %s", name);
    return NULL;
}

static void add_rows(struct bench *bench)
{
    bare_row = bench_add(bench, "ns", NULL, "guest/pthread-create-join");
    for (size_t i = 0; i < VARIANTS; i++) { /* baselines stand above their users */
        const struct variant *v = &variants[i];
        rows[i] = bench_add(bench, "ns", v->baseline ? row_named(v->baseline) : NULL, "guest/%s",
                            v->name);
        bench_set_goal(rows[i], v->goal_kind, v->goal);
    }
}

static bool write_sources(struct bench *bench)
{
    char name[64];
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        snprintf(name, sizeof name, "bench/guest/%s.lox", programs[i]);
        if (!bench_write_source(bench, name))
            return false;
    }
    return true;
}

static void run_rounds(struct bench *bench)
{
    uint32_t rounds = bench_rounds(bench, 7, 1);
    for (uint32_t round = 0; round < rounds && bench_goes_on(bench, round, rounds); round++) {
        bench_put(bare_row, round, measure_bare_threads());
        for (size_t i = 0; i < VARIANTS && !bench->failure[0]; i++)
            bench_put(rows[i], round, measure(bench, &variants[i]));
    }
}

void bench_guest(struct bench *bench)
{
    if (bench->only_checks_flags)
        return; /* flags of the command line are not handed on */
    if (!bench_folder_create()) {
        fail(bench, EXIT_CODE_ENVIRONMENT, "no temporary folder", strerror(errno));
        return;
    }
    if (!os_program_path(own_path, sizeof own_path))
        fail(bench, EXIT_CODE_ENVIRONMENT, "guest", "the path of this program is not known");
    else if (write_sources(bench)) {
        add_rows(bench);
        run_rounds(bench);
    }
    bench_folder_remove();
}
