/* bench_interp.c -- how fast are guest programs, beside Lua and an interpreting Java?
 *
 * Question   How long do small programs take that each lean on one thing: calls, loops,
 *            methods, fields, closures, strings, objects, arrays?
 * Unit       ms, by the program's own clock: start, reading and compiling are not in it.
 *            Lua has no fine clock but that of the processor time it used; the others tell
 *            the time that passed, so on a busy machine Lua looks better than it is.
 * Compared   With Lua 5.4 and with java -Xint, when they are found: the same algorithm with
 *            the same sizes, written as one writes it in each language.  The sources stand
 *            in interp/ and are part of this program.
 * Check      Each run has to print the result that stands in the table below.
 * Warm-up    None but what the source says: a run is a new process, as for its user.
 * Rounds     5 (--quick: 1, without Java).  In each, every program runs in one engine after
 *            the other.
 *
 * The trap: fib(32) has seven digits and a number prints six; the programs print results
 * that all three languages write alike.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/bench/bench_priv.h"

#include "base/err.h"
#include "base/flags.h"
#include "base/insist.h"
#include "base/os.h"
#include "tools/bench/bench_answer.h"
#include "tools/bench/bench_command.h"
#include "tools/bench/bench_folder.h"
#include "tools/process.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
/* A run takes 0.2 s here, 20 times that under a sanitizer; the rest is for busy machines. */
#define RUN_LIMIT_NS (60 * SECOND_NS)
/* To tell its version; a cold and busy Java took 3 s. */
#define PROBE_LIMIT_NS   (10 * SECOND_NS)
#define COMPILE_LIMIT_NS (60 * SECOND_NS)
#define NAME_BYTES       64
#define MOST_FLAGS       64

enum engine_id { LUA, JAVA, OURS, ENGINES }; /* baselines stand above their users */

static const char *const engine_names[ENGINES] = { "lua-5.4", "java-xint", "stillpoint" };

static const struct program {
    const char *name, *java_class;
    const char *result;
    double most_of_lua; /* 0 = no goal */
} programs[] = {
    { "fib", "Fib", "178309", 1.3 },     { "while", "While", "500000", 1.3 },
    { "for", "For", "2000", 0 },         { "method_calls", "MethodCalls", "400000", 0 },
    { "fields", "Fields", "92900", 0 },  { "closures", "Closures", "500000", 0 },
    { "strings", "Strings", "2000", 0 }, { "binary_trees", "BinaryTrees", "650990", 0 },
    { "arrays", "Arrays", "239800", 0 },
};
#define PROGRAMS (sizeof programs / sizeof *programs)

/* The flags that were set for this process go on to the guest programs. */
struct setup {
    bool is_there[ENGINES];
    char path[ENGINES][PATH_MAX];
    char flag_text[4096];
    const char *flags[MOST_FLAGS];
    size_t flag_count;
    struct bench_row *rows[PROGRAMS][ENGINES];
};

static struct setup the_setup; /* too big for the stack */

/* --- failures ------------------------------------------------------------------------ */

static void fail(struct bench *bench, int exit_code, const char *what, const char *why)
{
    if (bench->failure[0])
        return;
    snprintf(bench->failure, sizeof bench->failure, "%.80s: %.160s", what, why);
    bench->failure_exit = exit_code;
}

/* What the command line or the machine did to our program is no fault of ours, and what
 * happens to another engine never is. */
static int exit_code_of(enum engine_id engine, const struct bench_command_result *result)
{
    if (engine != OURS)
        return EXIT_CODE_ENVIRONMENT;
    if (result->has_ended && result->status == EXIT_CODE_USAGE)
        return EXIT_CODE_USAGE;
    if (result->has_ended &&
        (result->status == EXIT_CODE_ENVIRONMENT || result->status == EXIT_CODE_OUT_OF_MEMORY))
        return EXIT_CODE_ENVIRONMENT;
    return process_failure_exit(result->has_ended, result->status);
}

static void fail_by_end(struct bench *bench, const char *name, enum engine_id engine,
                        const struct bench_command_result *result)
{
    char why[160], line[100];
    bench_answer_first_line(result->err, line, sizeof line);
    if (bench_folder_is_to_go())
        snprintf(why, sizeof why, "was interrupted");
    else if (!result->has_ended)
        snprintf(why, sizeof why, "hung and was ended");
    else if (result->status >= 256)
        snprintf(why, sizeof why, "died of signal %d", result->status - 256);
    else
        snprintf(why, sizeof why, "exit code %d%s%s", result->status, line[0] ? ": " : "", line);
    fail(bench, exit_code_of(engine, result), name, why);
}

/* --- the engines --------------------------------------------------------------------- */

static bool has_succeeded(const struct bench_command_result *result)
{
    return result->has_ended && result->status == 0;
}

/* One line for each, so that a report says what it was compared with. */
static void say_found(struct setup *setup, enum engine_id engine, const char *version)
{
    char line[100];
    bench_answer_first_line(version, line, sizeof line);
    printf("%s: %s, %s\n", engine_names[engine], setup->path[engine], line);
    setup->is_there[engine] = true;
}

static void say_left_out(enum engine_id engine, const char *why)
{
    printf("%s: left out, %s\n", engine_names[engine], why);
}

static void find_lua(struct setup *setup)
{
    static const char *const names[] = { "lua5.4", "lua54", "lua-5.4", "lua" };
    struct bench_command_result result;
    const char *why = "not found";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = setup->path[LUA];
        const char *const argv[] = { path, "-v", NULL };
        if (!bench_command_find(names[i], path, sizeof setup->path[LUA]))
            continue;
        why = "what was found does not say that it is Lua 5.4";
        if (bench_command_run(argv, PROBE_LIMIT_NS, &result) && has_succeeded(&result) &&
            strncmp(result.out, "Lua 5.4", strlen("Lua 5.4")) == 0) {
            say_found(setup, LUA, result.out);
            return;
        }
        if (bench_folder_is_to_go())
            return;
    }
    say_left_out(LUA, why);
}

/* All classes at once: the compiler's start is most of what it takes.  NULL, or why not. */
static const char *compile_java(const char *compiler)
{
    char files[PROGRAMS][NAME_BYTES];
    const char *argv[PROGRAMS + 4] = { compiler, "-d", "." };
    struct bench_command_result result;
    for (size_t i = 0; i < PROGRAMS; i++) {
        snprintf(files[i], NAME_BYTES, "%s.java", programs[i].java_class);
        argv[i + 3] = files[i];
    }
    if (!bench_command_run(argv, COMPILE_LIMIT_NS, &result) || !result.has_ended)
        return "javac did not end";
    return result.status == 0 ? NULL : "javac did not compile the programs";
}

/* Whatever is broken about it, the benchmark goes on without. */
static void find_java(struct setup *setup)
{
    char compiler[PATH_MAX];
    const char *const argv[] = { setup->path[JAVA], "-Xint", "-version", NULL };
    struct bench_command_result result;
    const char *why;
    if (!bench_command_find("java", setup->path[JAVA], sizeof setup->path[JAVA]))
        why = "java not found";
    else if (!bench_command_find("javac", compiler, sizeof compiler))
        why = "javac not found";
    else if (!bench_command_run(argv, PROBE_LIMIT_NS, &result) || !has_succeeded(&result))
        why = "java -Xint -version did not end well";
    else
        why = compile_java(compiler);
    if (why)
        say_left_out(JAVA, why);
    else
        say_found(setup, JAVA, result.err);
}

/* Flags as they are shown are flags as they are typed, one blank between two. */
static bool collect_flags(struct bench *bench, struct setup *setup)
{
    size_t room = sizeof setup->flag_text;
    bool fits = flags_describe_set(setup->flag_text, room) < room;
    for (char *rest = setup->flag_text, *flag; fits && (flag = strtok_r(rest, " ", &rest));) {
        fits = flag[0] == '-' && setup->flag_count < MOST_FLAGS; /* else a value has blanks */
        if (fits)
            setup->flags[setup->flag_count++] = flag;
    }
    if (!fits)
        fail(bench, EXIT_CODE_USAGE, "interp", "cannot hand on the flags that are set");
    return fits;
}

static bool find_engines(struct bench *bench, struct setup *setup)
{
    memset(setup, 0, sizeof *setup);
    if (!collect_flags(bench, setup))
        return false;
    if (!os_program_path(setup->path[OURS], sizeof setup->path[OURS])) {
        fail(bench, EXIT_CODE_ENVIRONMENT, "interp", "the path of this program is not known");
        return false;
    }
    setup->is_there[OURS] = true;
    find_lua(setup);
    if (bench->is_quick)
        say_left_out(JAVA, "--quick does without");
    else
        find_java(setup);
    putchar('\n');
    fflush(stdout);
    return !bench_folder_is_to_go();
}

/* --- the programs -------------------------------------------------------------------- */

static void source_name(char *name_out, const struct program *program, enum engine_id engine)
{
    snprintf(name_out, NAME_BYTES, "%s%s", engine == JAVA ? program->java_class : program->name,
             engine == JAVA  ? ".java"
             : engine == LUA ? ".lua"
                             : ".lox");
}

static bool write_sources(struct bench *bench)
{
    for (size_t i = 0; i < PROGRAMS * ENGINES; i++) {
        char name[NAME_BYTES], embedded_name[NAME_BYTES + 16];
        source_name(name, &programs[i / ENGINES], (enum engine_id)(i % ENGINES));
        snprintf(embedded_name, sizeof embedded_name, "bench/interp/%s", name);
        if (!bench_write_source(bench, embedded_name))
            return false;
    }
    return true;
}

static bool run_engine(const struct setup *setup, const struct program *program,
                       enum engine_id engine, struct bench_command_result *result_out)
{
    const char *argv[MOST_FLAGS + 4] = { setup->path[engine] };
    char name[NAME_BYTES];
    size_t n = 1;
    source_name(name, program, engine);
    if (engine == JAVA) {
        argv[n++] = "-Xint";
        argv[n++] = "-cp";
        argv[n++] = ".";
    } else if (engine == OURS) {
        argv[n++] = "run";
        for (size_t i = 0; i < setup->flag_count; i++)
            argv[n++] = setup->flags[i];
    }
    argv[n] = engine == JAVA ? program->java_class : name;
    return bench_command_run(argv, RUN_LIMIT_NS, result_out);
}

/* NAN, and the bench has failed, when it did not end well or is wrong. */
static double measure(struct bench *bench, const struct setup *setup, size_t number,
                      enum engine_id engine)
{
    struct bench_command_result result;
    const char *name = setup->rows[number][engine]->name;
    char why[BENCH_ANSWER_WHY_BYTES];
    double ms = NAN;
    if (!run_engine(setup, &programs[number], engine, &result))
        fail(bench, EXIT_CODE_ENVIRONMENT, name, strerror(errno));
    else if (!has_succeeded(&result))
        fail_by_end(bench, name, engine, &result);
    else if (!bench_answer_read(result.out, programs[number].result, &ms, why, sizeof why)) {
        char all[BENCH_ANSWER_WHY_BYTES + 24];
        snprintf(all, sizeof all, "self-check failed: %s", why);
        fail(bench, EXIT_CODE_SELF_CHECK, name, all);
    }
    return ms;
}

static void add_rows(struct bench *bench, struct setup *setup)
{
    for (size_t i = 0; i < PROGRAMS; i++) {
        struct bench_row **rows = setup->rows[i];
        for (int e = 0; e < ENGINES; e++) {
            const struct bench_row *baseline = e != OURS   ? NULL
                                               : rows[LUA] ? rows[LUA]
                                                           : rows[JAVA];
            if (setup->is_there[e])
                rows[e] = bench_add(bench, "ms", baseline, "interp/%s/%s", programs[i].name,
                                    engine_names[e]);
        }
        if (rows[LUA] && programs[i].most_of_lua > 0)
            bench_set_goal(rows[OURS], BENCH_GOAL_RATIO_AT_MOST, programs[i].most_of_lua);
    }
}

static void run_rounds(struct bench *bench, struct setup *setup)
{
    uint32_t rounds = bench_rounds(bench, 5, 1);
    for (uint32_t round = 0; round < rounds && bench_goes_on(bench, round, rounds); round++)
        for (size_t i = 0; i < PROGRAMS; i++)
            for (int e = 0; e < ENGINES && !bench->failure[0]; e++)
                if (setup->is_there[e])
                    bench_put(setup->rows[i][e], round, measure(bench, setup, i, e));
}

void bench_interp(struct bench *bench)
{
    struct setup *setup = &the_setup;
    if (bench->only_checks_flags)
        return; /* it sets none */
    if (!bench_folder_create()) {
        fail(bench, EXIT_CODE_ENVIRONMENT, "no temporary folder", strerror(errno));
        return;
    }
    if (write_sources(bench) && find_engines(bench, setup)) {
        add_rows(bench, setup);
        run_rounds(bench, setup);
    }
    bench_folder_remove();
}
