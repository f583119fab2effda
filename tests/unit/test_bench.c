/* test_bench.c -- what the benchmark of guest programs stands on: reading an answer,
 * running another program within a limit, the private folder.
 *
 * tests/cli/commands.sh runs the benchmark, also with an engine that computes wrongly.
 *
 * SPDX-License-Identifier: MIT */
#include "base/os.h"
#include "tools/bench/bench_answer.h"
#include "tools/bench/bench_command.h"
#include "tools/bench/bench_folder.h"
#include "tools/bench/bench_gc_log.h"

#include "tests/unit/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

/* --- answers ------------------------------------------------------------------ */

static bool read_answer(const char *text, double *ms_out, char *why_out)
{
    why_out[0] = '\0';
    return bench_answer_read(text, "178309", ms_out, why_out, BENCH_ANSWER_WHY_BYTES);
}

START_TEST(a_right_answer_gives_its_time_in_each_language)
{
    static const struct {
        const char *text;
        double ms;
    } cases[] = { { "178309\n88.0312\n", 88.0312 },     /* Lox: %g */
                  { "178309\n1.23457e+06\n", 1234570 }, /* Lox, slow */
                  { "178309\n154.639\n", 154.639 },     /* Lua */
                  { "178309\n505.757106\n", 505.757106 } /* Java */,
                  { "178309\n1.0E-4\n", 0.0001 }, /* Java, fast */
                  { "178309\n88\n", 88 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[BENCH_ANSWER_WHY_BYTES];
        double ms = -1;
        ck_assert_msg(read_answer(cases[i].text, &ms, why), "%s: %s", cases[i].text, why);
        ck_assert_double_eq(ms, cases[i].ms);
    }
}
END_TEST

START_TEST(a_wrong_answer_gives_no_time_and_is_named)
{
    static const struct {
        const char *text, *why;
    } cases[] = { { "178310\n88\n", "computed 178310, not 178309" },
                  { "17830\n88\n", "computed 17830, not 178309" },
                  { "1783090\n88\n", "computed 1783090, not 178309" },
                  { "178309 \n88\n", "computed 178309 , not 178309" },
                  { "\n88\n", "computed , not 178309" },
                  { "178309.0\n88\n", "computed 178309.0, not 178309" },
                  { "88\n178309\n", "computed 88, not 178309" },
                  { "123456789012345678901234567890\n88\n", "computed 123456789012345678901234," },
                  { "", "two lines" },
                  { "\n", "two lines" },
                  { "178309", "two lines" },
                  { "178309\n", "two lines" },
                  { "178309\n88", "two lines" },
                  { "178309\n88\n\n", "two lines" },
                  { "178309\n88\nmore\n", "two lines" },
                  { "178309\n\n", "\"\", which is no time" },
                  { "178309\n0\n", "\"0\", which is no time" },
                  { "178309\n-88\n", "no time" },
                  { "178309\n+88\n", "no time" },
                  { "178309\n 88\n", "no time" },
                  { "178309\n88 \n", "no time" },
                  { "178309\n88ms\n", "no time" },
                  { "178309\n0x58\n", "no time" },
                  { "178309\nnan\n", "no time" },
                  { "178309\ninf\n", "no time" },
                  { "178309\n1e999\n", "no time" },
                  { "178309\nnil\n", "no time" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[BENCH_ANSWER_WHY_BYTES];
        double ms = -1;
        ck_assert_msg(!read_answer(cases[i].text, &ms, why), "\"%s\" is taken", cases[i].text);
        ck_assert_msg(strstr(why, cases[i].why), "\"%s\": %s", cases[i].text, why);
        ck_assert_double_eq(ms, -1);
    }
}
END_TEST

START_TEST(the_longest_complaint_fits)
{
    char why[BENCH_ANSWER_WHY_BYTES], text[600];
    double ms;
    memset(text, '1', sizeof text);
    memcpy(text + sizeof text - 4, "\n1\n", 4);
    ck_assert(
        !bench_answer_read(text, "98765432109876543210987654321098765", &ms, why, sizeof why));
    ck_assert_msg(strlen(why) < sizeof why - 1, "%zu bytes: %s", strlen(why), why);
    memset(text, '2', sizeof text);
    memcpy(text, "1\n", 2);
    memcpy(text + sizeof text - 2, "\n", 2);
    text[10] = '?';
    ck_assert(!bench_answer_read(text, "1", &ms, why, sizeof why));
    ck_assert_msg(strlen(why) < sizeof why - 1, "%zu bytes: %s", strlen(why), why);
}
END_TEST

START_TEST(a_first_line_is_cut_to_fit)
{
    char line[8];
    bench_answer_first_line("one\ntwo\n", line, sizeof line);
    ck_assert_str_eq(line, "one");
    bench_answer_first_line("", line, sizeof line);
    ck_assert_str_eq(line, "");
    bench_answer_first_line("123456789", line, sizeof line);
    ck_assert_str_eq(line, "1234567");
}
END_TEST

/* --- programs ----------------------------------------------------------------- */

static void open_folder(void) { ck_assert(bench_folder_create()); }
static void remove_folder(void) { bench_folder_remove(); }

static struct bench_command_result run_script(const char *script, uint64_t limit_ns)
{
    const char *const argv[] = { "/bin/sh", "-c", script, NULL };
    struct bench_command_result result;
    ck_assert(bench_command_run(argv, limit_ns, &result));
    return result;
}

START_TEST(a_program_gives_its_streams_and_its_end)
{
    struct bench_command_result r = run_script("echo out; echo err >&2; exit 3", 60 * SECOND_NS);
    ck_assert(r.has_ended);
    ck_assert_int_eq(r.status, 3);
    ck_assert_str_eq(r.out, "out\n");
    ck_assert_str_eq(r.err, "err\n");
    r = run_script("kill -KILL $$", 60 * SECOND_NS);
    ck_assert(r.has_ended);
    ck_assert_int_eq(r.status, 256 + SIGKILL);
}
END_TEST

START_TEST(a_program_reads_nothing_and_runs_in_the_folder)
{
    char wanted[300];
    struct bench_command_result r = run_script("cat; pwd", 60 * SECOND_NS);
    snprintf(wanted, sizeof wanted, "%s\n", bench_folder_path());
    ck_assert_str_eq(r.out, wanted);
    ck_assert_int_eq(r.status, 0);
}
END_TEST

START_TEST(a_program_is_not_steered_by_the_environment)
{
    setenv("JAVA_TOOL_OPTIONS", "-Xcomp", 1);
    setenv("LUA_INIT", "os.exit(1)", 1);
    setenv("STILLPOINT_TEST_CONTROL", "kept", 1);
    struct bench_command_result r = run_script(
        "echo \"$JAVA_TOOL_OPTIONS|$LUA_INIT|$STILLPOINT_TEST_CONTROL\"", 60 * SECOND_NS);
    ck_assert_str_eq(r.out, "||kept\n");
    ck_assert_str_eq(getenv("LUA_INIT"), "os.exit(1)"); /* here it is as it was */
}
END_TEST

START_TEST(a_flood_of_output_is_cut_and_does_not_block)
{
    struct bench_command_result r = run_script(
        "i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo 9876543210 >&2; i=$((i+1)); done",
        60 * SECOND_NS);
    ck_assert(r.has_ended);
    ck_assert_int_eq(r.status, 0);
    ck_assert_uint_eq(strlen(r.out), BENCH_COMMAND_TEXT_BYTES - 1);
    ck_assert_uint_eq(strlen(r.err), BENCH_COMMAND_TEXT_BYTES - 1);
    ck_assert_int_eq(strncmp(r.out, "0123456789\n", 11), 0);
}
END_TEST

/* One that ended and that nobody collects, as in a container without an init, is dead. */
static bool is_alive(int pid)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    int got = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return got == 1 && state != 'Z';
}

/* The script leaves the number of the sleeper in a file of the folder. */
static bool is_sleeper_alive(void)
{
    char path[300];
    int pid = 0;
    snprintf(path, sizeof path, "%s/sleeper", bench_folder_path());
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%d", &pid), 1);
    fclose(file);
    for (int i = 0; i < 500 && is_alive(pid); i++)
        os_sleep_ns(10000000); /* a signal takes its time on a busy machine */
    return is_alive(pid);
}

START_TEST(a_program_that_hangs_is_ended_with_what_it_started)
{
    uint64_t start = os_now_ns();
    struct bench_command_result r =
        run_script("echo begun; sleep 1000 & echo $! >sleeper; wait", SECOND_NS);
    ck_assert(!r.has_ended);
    ck_assert_str_eq(r.out, "begun\n");
    ck_assert_uint_ge(os_now_ns() - start, SECOND_NS);
    ck_assert_uint_lt(os_now_ns() - start, 60 * SECOND_NS);
    ck_assert(!is_sleeper_alive());
}
END_TEST

START_TEST(a_program_hangs_also_when_only_its_child_keeps_the_streams)
{
    struct bench_command_result r = run_script("sleep 1000 & echo $! >sleeper", SECOND_NS);
    ck_assert(!r.has_ended);
    ck_assert(!is_sleeper_alive());
}
END_TEST

START_TEST(a_program_hangs_also_when_it_closed_its_streams)
{
    struct bench_command_result r =
        run_script("exec >&- 2>&-; echo $$ >sleeper; exec sleep 1000", SECOND_NS);
    ck_assert(!r.has_ended);
    ck_assert(!is_sleeper_alive());
}
END_TEST

START_TEST(a_program_that_is_not_there_says_so)
{
    const char *const argv[] = { "/nonexistent/program", NULL };
    struct bench_command_result r;
    ck_assert(bench_command_run(argv, 60 * SECOND_NS, &r));
    ck_assert(r.has_ended);
    ck_assert_int_eq(r.status, 127);
    ck_assert_str_eq(r.err, "cannot be started: No such file or directory\n");
}
END_TEST

START_TEST(a_program_is_found_in_absolute_folders_of_the_path)
{
    char path[300], wanted[300], search[600];
    const char *folder = bench_folder_path();
    ck_assert(bench_folder_write("plain", "x", 1));
    struct bench_command_result r = run_script("cp plain tool && chmod +x tool", 60 * SECOND_NS);
    ck_assert_int_eq(r.status, 0);
    ck_assert_int_eq(chdir(folder), 0);
    setenv("PATH", ".::relative", 1);
    ck_assert(!bench_command_find("tool", path, sizeof path));
    snprintf(search, sizeof search, "/nonexistent::%s", folder);
    setenv("PATH", search, 1);
    ck_assert(bench_command_find("tool", path, sizeof path));
    snprintf(wanted, sizeof wanted, "%s/tool", folder);
    ck_assert_str_eq(path, wanted);
    ck_assert(!bench_command_find("plain", path, sizeof path)); /* may not be executed */
    ck_assert(!bench_command_find(".", path, sizeof path));     /* a folder */
    ck_assert(!bench_command_find("tool", path, 10));           /* no room */
    unsetenv("PATH");
    ck_assert(!bench_command_find("tool", path, sizeof path));
}
END_TEST

/* --- the folder --------------------------------------------------------------- */

START_TEST(the_folder_goes_with_its_files)
{
    char path[300], file[320];
    ck_assert(bench_folder_create());
    snprintf(path, sizeof path, "%s", bench_folder_path());
    ck_assert(os_is_directory(path));
    ck_assert(bench_folder_write("a", "text", 4));
    ck_assert(bench_folder_write(".b", "", 0));
    ck_assert(!bench_folder_write("a", "again", 5)); /* a name is used once */
    ck_assert(!bench_folder_write("no/such/folder", "", 0));
    snprintf(file, sizeof file, "%s/a", path);
    ck_assert_int_eq(access(file, R_OK), 0);
    bench_folder_remove();
    ck_assert_int_ne(access(path, F_OK), 0);
    bench_folder_remove(); /* nothing is there: nothing happens */
}
END_TEST

static volatile sig_atomic_t handled;
static void count_signal(int signal_number) { handled += signal_number == SIGTERM; }

START_TEST(a_folder_that_cannot_be_made_leaves_the_signals_alone)
{
    signal(SIGTERM, count_signal);
    setenv("TMPDIR", "/nonexistent", 1);
    ck_assert(!bench_folder_create());
    raise(SIGTERM);
    ck_assert_int_eq(handled, 1);
}
END_TEST

START_TEST(a_signal_waits_for_the_folder_to_be_removed)
{
    char path[300];
    signal(SIGTERM, count_signal);
    signal(SIGHUP, SIG_IGN);
    ck_assert(bench_folder_create());
    snprintf(path, sizeof path, "%s", bench_folder_path());
    raise(SIGHUP);
    ck_assert(!bench_folder_is_to_go()); /* ignored before, ignored now */
    raise(SIGTERM);
    ck_assert(bench_folder_is_to_go());
    ck_assert_int_eq(handled, 0);
    struct bench_command_result r = run_script("sleep 1000", 500 * SECOND_NS);
    ck_assert(!r.has_ended); /* and not after 500 seconds */
    bench_folder_remove();
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert_int_eq(handled, 1);
}
END_TEST

static TCase *add_case(Suite *s, const char *name)
{
    TCase *tc = tcase_create(name);
    tcase_set_timeout(tc, 60);
    suite_add_tcase(s, tc);
    return tc;
}

/* --- pauses of a log ------------------------------------------------------------------- */

START_TEST(pauses_are_read_from_our_log_and_from_java)
{
    static const struct {
        const char *line;
        uint64_t ns; /* 0 = it tells of none */
    } cases[] = {
        { "[0.576s][info][gc] GC(162) Pause Full (System.gc()) 55M->5M(24M) 3.121ms\n", 3121000 },
        { "[0.030s][info][gc] GC(7) Pause Full (G1 Compaction Pause) 2047K->368K(2048K) 0.249ms\n",
          249000 },
        { "[0.1s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(34M) "
          "12.368ms\n",
          12368000 },
        { "[0.1s][info][gc] GC(3) Pause Young (Allocation Failure) 10M->9M(37M) 0.031ms\n", 31000 },
        { "[0.1s][info][gc] GC(9) Pause Remark 20M->20M(37M) 0.5ms", 500000 },
        { "[0.576s][info][gc,start] GC(162) Pause Full (System.gc())\n", 0 },
        { "[0.1s][info][gc] GC(19) Concurrent Mark Cycle 40.1ms\n", 0 },
        { "[0.1s][info][gc] GC(9) Pause Full (System.gc()) 55M->5M(24M) ms\n", 0 },
        { "[0.1s][info][gc] GC(9) Pause Full (System.gc()) 55M->5M(24M) -1ms\n", 0 },
        { "[0.005s][info][gc] Using G1\n", 0 },
        { "", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct hist pauses;
        memset(&pauses, 0, sizeof pauses);
        bool is_pause = bench_gc_log_line(cases[i].line, &pauses);
        ck_assert_msg(is_pause == (cases[i].ns > 0) && hist_max(&pauses) == cases[i].ns,
                      "%s: %llu ns", cases[i].line, (unsigned long long)hist_max(&pauses));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("bench");
    TCase *answers = add_case(s, "answers");
    tcase_add_test(answers, pauses_are_read_from_our_log_and_from_java);
    tcase_add_test(answers, a_right_answer_gives_its_time_in_each_language);
    tcase_add_test(answers, a_wrong_answer_gives_no_time_and_is_named);
    tcase_add_test(answers, the_longest_complaint_fits);
    tcase_add_test(answers, a_first_line_is_cut_to_fit);
    TCase *programs = add_case(s, "programs");
    tcase_add_checked_fixture(programs, open_folder, remove_folder);
    tcase_add_test(programs, a_program_gives_its_streams_and_its_end);
    tcase_add_test(programs, a_program_reads_nothing_and_runs_in_the_folder);
    tcase_add_test(programs, a_program_is_not_steered_by_the_environment);
    tcase_add_test(programs, a_flood_of_output_is_cut_and_does_not_block);
    tcase_add_test(programs, a_program_that_hangs_is_ended_with_what_it_started);
    tcase_add_test(programs, a_program_hangs_also_when_only_its_child_keeps_the_streams);
    tcase_add_test(programs, a_program_hangs_also_when_it_closed_its_streams);
    tcase_add_test(programs, a_program_that_is_not_there_says_so);
    tcase_add_test(programs, a_program_is_found_in_absolute_folders_of_the_path);
    TCase *folder = add_case(s, "folder");
    tcase_add_test(folder, the_folder_goes_with_its_files);
    tcase_add_test(folder, a_folder_that_cannot_be_made_leaves_the_signals_alone);
    tcase_add_test(folder, a_signal_waits_for_the_folder_to_be_removed);
    return run_suite(s);
}
