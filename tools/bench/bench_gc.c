/* bench_gc.c -- what allocating and collecting costs.
 *
 * Question   What does an object cost, and what a collection, beside a heap that is never
 *            collected, and beside Java's collectors on the same programs?
 * Unit       ns of an object; ms of an iteration of GCBench, of a run of binary-trees; ms of
 * pauses. Compared   Each program with -XX:+UseEpsilonGC, in a heap that is large enough for it.
 * Java, if there is one, with G1, Serial and Parallel, in the heap that ours has. Check      Each
 * run has to make as many objects as stands in the tables below. Rounds     5 (--quick: 1, without
 * Java); in each, every variant once, in a new process.
 *
 * The traps: Epsilon touches new memory all the time and pays for page faults where a collector
 * uses warm memory again, so it is no lower bound.  Java compiles; its programs run once before
 * they are timed, ours do not.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/bench/bench_priv.h"

#include "base/err.h"
#include "base/insist.h"
#include "base/os.h"
#include "tools/bench/bench_answer.h"
#include "tools/bench/bench_command.h"
#include "tools/bench/bench_folder.h"
#include "tools/bench/bench_gc_log.h"
#include "tools/bench/bench_gc_mutators.h"
#include "tools/process.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#define RUN_LIMIT_NS UINT64_C(60000000000)
#define ITERATIONS   5 /* of GCBench in a run; the guest's and Java's too */

/* How much a run does, and what it has to have made then. */
static const struct sizes {
    uint64_t objects; /* of the allocation rows, for each thread */
    int deepest;      /* tree */
    uint64_t gcbench_nodes, binary_trees_nodes;
    const char *gcbench_text, *binary_trees_text; /* as a guest program prints them */
} usual = { 5000000, 16, 1824086, 650990, "1.82409e+06", "650990" },
  quick = { 200000, 10, 16214, 6075, "16214", "6075" };
static const struct sizes *sizes; /* of this command */

static const char epsilon[] = "-XX:+UseEpsilonGC", log_name[] = "gc.log";

/* --- C programs -------------------------------------------------------------------------- */

enum work { ALLOCATE_1, ALLOCATE_2, GCBENCH, BINARY_TREES };

static const struct c_variant {
    const char *name;
    enum work work;
    const char *flags[4];
} c_variants[] = {
    { "allocate/1-thread", ALLOCATE_1, { "-Xmx32m", "-Xms32m" } },
    { "allocate/2-threads", ALLOCATE_2, { "-Xmx32m", "-Xms32m" } },
    { "gcbench-c", GCBENCH, { "-Xmx37m", "-Xms37m" } },
    { "binary-trees-c", BINARY_TREES, { "-Xmx64m", "-Xms64m" } },
};
#define C_VARIANTS (sizeof c_variants / sizeof *c_variants)

enum c_figure { TIME, PAUSE_P50, PAUSE_MOST, SHARE, FIGURES };

static void *allocate_beside(void *unused)
{
    struct stillpoint_thread *self;
    struct stillpoint_mutator *m;
    uint64_t ns;
    (void)unused;
    if (stillpoint_attach("second", &self) != STILLPOINT_OK ||
        stillpoint_heap_attach(self, &m) != STILLPOINT_OK)
        return NULL;
    stillpoint_leave_native(self);
    uint64_t objects = bench_gc_allocate(m, sizes->objects, &ns);
    stillpoint_enter_native(self);
    stillpoint_heap_detach(m);
    stillpoint_detach(self);
    return objects == sizes->objects ? (void *)&epsilon : NULL; /* anything but NULL */
}

/* [child] False: another number of objects than there has to be. */
static bool do_work(enum work work, struct stillpoint_mutator *m, uint64_t *ns_out)
{
    switch (work) {
    case ALLOCATE_1:
    case ALLOCATE_2:
        return bench_gc_allocate(m, sizes->objects, ns_out) == sizes->objects;
    case GCBENCH:
        return bench_gc_gcbench(m, sizes->deepest, ITERATIONS, ns_out) == sizes->gcbench_nodes;
    case BINARY_TREES:
        return bench_gc_binary_trees(m, sizes->deepest, ns_out) == sizes->binary_trees_nodes;
    }
    return false;
}

/* [child] */
static void run_c(const void *argument, double *figures_out)
{
    const struct c_variant *v = argument;
    char message[512];
    struct stillpoint_thread *self;
    struct stillpoint_mutator *m;
    pthread_t second;
    void *is_fine = (void *)&epsilon; /* anything but NULL */
    uint64_t ns = 0;
    bench_child_start_stops();
    if (stillpoint_heap_start(message, sizeof message) != STILLPOINT_OK)
        bench_child_fail(EXIT_CODE_ENVIRONMENT, "%.200s", message);
    bool has_second = v->work == ALLOCATE_2;
    if (stillpoint_attach("first", &self) != STILLPOINT_OK ||
        stillpoint_heap_attach(self, &m) != STILLPOINT_OK ||
        (has_second && pthread_create(&second, NULL, allocate_beside, NULL) != 0))
        bench_child_fail(EXIT_CODE_ENVIRONMENT, "the system starts no thread");
    stillpoint_leave_native(self);
    bool is_right = do_work(v->work, m, &ns);
    stillpoint_enter_native(self);
    if (has_second)
        pthread_join(second, &is_fine);
    if (!is_right || !is_fine)
        bench_child_fail(EXIT_CODE_SELF_CHECK,
                         "made another number of objects, or ran out of heap");
    struct stillpoint_heap_figures f;
    stillpoint_get_heap_figures(&f);
    double count = v->work == GCBENCH        ? ITERATIONS
                   : v->work == BINARY_TREES ? 1
                                             : (double)sizes->objects;
    figures_out[TIME] = (double)ns / count / (v->work <= ALLOCATE_2 ? 1 : 1e6);
    if (f.collections == 0)
        return;
    figures_out[PAUSE_P50] = f.pause.p50_ns ? (double)f.pause.p50_ns / 1e6 : NAN;
    figures_out[PAUSE_MOST] = (double)f.pause.max_ns / 1e6;
    figures_out[SHARE] = 100 * (double)f.pauses_sum_ns / (double)ns;
}

static struct bench_row *c_rows[C_VARIANTS][2][FIGURES];

static void add_c_rows(struct bench *bench)
{
    for (size_t i = 0; i < C_VARIANTS; i++) {
        const char *name = c_variants[i].name;
        const char *unit = c_variants[i].work <= ALLOCATE_2 ? "ns" : "ms";
        struct bench_row **control = c_rows[i][0], **row = c_rows[i][1];
        control[TIME] = bench_add(bench, unit, NULL, "gc/%s/epsilon", name);
        row[TIME] = bench_add(bench, unit, control[TIME], "gc/%s/g1", name);
        row[PAUSE_P50] = bench_add(bench, "ms", NULL, "gc/%s/g1/pause-p50", name);
        row[PAUSE_MOST] = bench_add(bench, "ms", NULL, "gc/%s/g1/pause-max", name);
        row[SHARE] = bench_add(bench, "%", NULL, "gc/%s/g1/share-%%", name);
    }
}

static void measure_c(struct bench *bench, uint32_t round, size_t number, bool is_collected)
{
    const struct c_variant *v = &c_variants[number];
    const char *control[] = { epsilon, "-Xmx4g", "-Xms4g", NULL };
    struct bench_child child = { v->name, is_collected ? v->flags : control, run_c, v };
    double figures[FIGURES];
    if (!bench_in_child(bench, &child, figures, FIGURES) || bench->only_checks_flags)
        return;
    for (int i = 0; i < FIGURES; i++)
        if (c_rows[number][is_collected][i])
            bench_put(c_rows[number][is_collected][i], round, figures[i]);
}

/* --- guest programs, and Java's ------------------------------------------------------------- */

static const struct variant {
    const char *name, *program;
    const char *flags[3];
    bool is_java;
} variants[] = {
    { "gcbench-lox/epsilon", "gcbench.lox", { epsilon, "-Xmx4g", "-Xms4g" }, false },
    { "gcbench-lox/g1", "gcbench.lox", { "-Xmx64m", "-Xms64m" }, false },
    { "binary-trees-lox/epsilon", "binary_trees.lox", { epsilon, "-Xmx4g", "-Xms4g" }, false },
    { "binary-trees-lox/g1", "binary_trees.lox", { "-Xmx64m", "-Xms64m" }, false },
    { "gcbench-java/g1", "GCBench", { "-XX:+UseG1GC", "-Xmx37m", "-Xms37m" }, true },
    { "gcbench-java/serial", "GCBench", { "-XX:+UseSerialGC", "-Xmx37m", "-Xms37m" }, true },
    { "gcbench-java/parallel", "GCBench", { "-XX:+UseParallelGC", "-Xmx37m", "-Xms37m" }, true },
    { "binary-trees-java/g1", "BinaryTrees", { "-XX:+UseG1GC", "-Xmx64m", "-Xms64m" }, true },
    { "binary-trees-java/serial",
      "BinaryTrees",
      { "-XX:+UseSerialGC", "-Xmx64m", "-Xms64m" },
      true },
};
#define VARIANTS (sizeof variants / sizeof *variants)

static const char *const sources[] = { "bench/gc/gcbench.lox", "bench/gc/binary_trees.lox",
                                       "bench/java/GCBench.java", "bench/java/BinaryTrees.java" };

static struct bench_row *rows[VARIANTS], *most_rows[VARIANTS];
static char own_path[PATH_MAX], java_path[PATH_MAX];
static bool has_java;

static void fail(struct bench *bench, int exit_code, const char *what, const char *why)
{
    if (bench->failure[0])
        return;
    snprintf(bench->failure, sizeof bench->failure, "%.80s: %.160s", what, why);
    bench->failure_exit = exit_code;
}

/* Compiles the two classes; without a Java that can there are no such rows. */
static void find_java(struct bench *bench)
{
    char javac_path[PATH_MAX];
    struct bench_command_result result;
    const char *argv[] = { javac_path, "GCBench.java", "BinaryTrees.java", NULL };
    has_java = false;
    if (bench->is_quick)
        printf("java: left out, --quick does without\n\n");
    else if (!bench_command_find("java", java_path, sizeof java_path) ||
             !bench_command_find("javac", javac_path, sizeof javac_path))
        printf("java: left out, there is none in PATH\n\n");
    else if (!bench_command_run(argv, RUN_LIMIT_NS, &result) || !result.has_ended ||
             result.status != 0)
        printf("java: left out, javac does not work\n\n");
    else
        has_java = true;
    fflush(stdout);
}

static void add_rows(struct bench *bench)
{
    for (size_t i = 0; i < VARIANTS; i++) {
        const struct variant *v = &variants[i];
        if (v->is_java && !has_java)
            continue;
        bool is_compared = !v->is_java && i % 2 == 1; /* with the row above it */
        rows[i] = bench_add(bench, "ms", is_compared ? rows[i - 1] : NULL, "gc/%s", v->name);
        if (v->flags[0] != epsilon)
            most_rows[i] = bench_add(bench, "ms", NULL, "gc/%s/pause-max", v->name);
    }
}

/* In the benchmark's folder, which is the programs' current one. */
static bool run_variant(const struct variant *v, struct bench_command_result *result_out)
{
    char log_flag[64];
    const char *argv[12] = { v->is_java ? java_path : own_path };
    size_t n = 1;
    snprintf(log_flag, sizeof log_flag, "-Xlog:gc:file=%s:uptime,level,tags", log_name);
    if (!v->is_java)
        argv[n++] = "run";
    for (size_t i = 0; i < sizeof v->flags / sizeof *v->flags && v->flags[i]; i++)
        argv[n++] = v->flags[i];
    argv[n++] = log_flag;
    if (v->is_java) {
        argv[n++] = "-cp";
        argv[n++] = ".";
    }
    argv[n++] = v->program;
    argv[n] = sizes == &quick ? "short" : NULL; /* Java is not there then */
    return bench_command_run(argv, RUN_LIMIT_NS, result_out);
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

/* What it has to print; Java prints all digits. */
static const char *result_of(const struct variant *v, char *text_out, size_t bytes)
{
    bool is_gcbench = strncmp(v->name, "gcbench", 7) == 0;
    if (!v->is_java)
        return is_gcbench ? sizes->gcbench_text : sizes->binary_trees_text;
    snprintf(text_out, bytes, "%" PRIu64,
             is_gcbench ? sizes->gcbench_nodes : sizes->binary_trees_nodes);
    return text_out;
}

static double longest_pause_ms(void)
{
    static struct hist pauses;
    char path[PATH_MAX];
    memset(&pauses, 0, sizeof pauses);
    snprintf(path, sizeof path, "%s/%s", bench_folder_path(), log_name);
    return bench_gc_log_file(path, &pauses) && hist_count(&pauses) ? (double)hist_max(&pauses) / 1e6
                                                                   : NAN;
}

static void measure(struct bench *bench, uint32_t round, size_t number)
{
    const struct variant *v = &variants[number];
    struct bench_command_result result;
    char why[BENCH_ANSWER_WHY_BYTES], text[32];
    double ms = NAN;
    if (!run_variant(v, &result))
        fail(bench, EXIT_CODE_ENVIRONMENT, v->name, strerror(errno));
    else if (!result.has_ended || result.status != 0)
        fail_by_end(bench, v->name, &result);
    else if (!bench_answer_read(result.out, result_of(v, text, sizeof text), &ms, why, sizeof why))
        fail(bench, EXIT_CODE_SELF_CHECK, v->name, why);
    bench_put(rows[number], round, ms);
    if (most_rows[number])
        bench_put(most_rows[number], round, longest_pause_ms());
}

static bool write_sources(struct bench *bench)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (!bench_write_source(bench, sources[i]))
            return false;
    return true;
}

static void run_rounds(struct bench *bench)
{
    uint32_t rounds = bench_rounds(bench, 5, 1);
    for (uint32_t round = 0; round < rounds && bench_goes_on(bench, round, rounds); round++) {
        for (size_t i = 0; i < C_VARIANTS; i++)
            for (int is_collected = 0; is_collected < 2; is_collected++)
                measure_c(bench, round, i, is_collected);
        for (size_t i = 0; i < VARIANTS && !bench->failure[0]; i++)
            if (rows[i])
                measure(bench, round, i);
    }
}

void bench_gc(struct bench *bench)
{
    sizes = bench->is_quick ? &quick : &usual;
    if (bench->only_checks_flags) {
        for (size_t i = 0; i < C_VARIANTS; i++)
            for (int is_collected = 0; is_collected < 2; is_collected++)
                measure_c(bench, 0, i, is_collected);
        return;
    }
    if (!bench_folder_create()) {
        fail(bench, EXIT_CODE_ENVIRONMENT, "no temporary folder", strerror(errno));
        return;
    }
    if (!os_program_path(own_path, sizeof own_path))
        fail(bench, EXIT_CODE_ENVIRONMENT, "gc", "the path of this program is not known");
    else if (write_sources(bench)) {
        find_java(bench);
        add_c_rows(bench);
        add_rows(bench);
        run_rounds(bench);
    }
    bench_folder_remove();
}
