/* test_log.c -- claims about the lines of -Xlog: their layout, their files, whole lines.
 *
 * Read next: test_log_option.c for what may be typed after -Xlog.
 *
 * The golden lines are real ones of OpenJDK 17 and 25: what was printed is given to
 * our log again, and the bytes must be the same.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "base/log_priv.h"
#include "base/os.h"
#include "tests/unit/log_tests.h"

#include <check.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- layout ------------------------------------------------------------------------------ */

#define STOP_LINE                                                                                  \
    "Safepoint \"ThreadDump\", Time since last: 18723670 ns, Reaching safepoint: 94822 ns, "       \
    "At safepoint: 45468 ns, Leaving safepoint: 14823 ns, Total: 155113 ns, "                      \
    "Threads: 2 runnable, 12 total"
#define ROW_LINE                                                                                   \
    "ThreadDump                   [             12               2 ][            94822      60291" \
    "     155113 ]               0"

/* jdk 25: the columns widen as longer levels and tags come. */
static const struct {
    unsigned ms;
    enum log_tags tags;
    enum log_level level;
    const char *prefix, *message;
} golden[] = {
    { 5, LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "[0.005s][info][gc,init] ",
      "CardTable entry size: 512" },
    { 5, LOG_TAGS_GC_HEAP, LOG_LEVEL_DEBUG, "[0.005s][debug][gc,heap] ",
      "Minimum heap 16777216  Initial heap 16777216  Maximum heap 134217728" },
    { 5, LOG_TAGS_GC, LOG_LEVEL_INFO, "[0.005s][info ][gc     ] ", "Using G1" },
    { 6, LOG_TAGS_GC_ERGO_HEAP, LOG_LEVEL_DEBUG, "[0.006s][debug][gc,ergo,heap] ",
      "Expand the heap. requested expansion amount: 16777216B expansion amount: 16777216B" },
    { 6, LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "[0.006s][info ][gc,init     ] ",
      "CPUs: 2 total, 2 available" },
    { 38, LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO, "[0.038s][info ][safepoint,stats] ", ROW_LINE },
    { 38, LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO, "[0.038s][info ][safepoint      ] ", STOP_LINE },
    { 38, LOG_TAGS_GC_HEAP, LOG_LEVEL_DEBUG, "[0.038s][debug][gc,heap        ] ",
      "GC(0)  garbage-first heap   total reserved 131072K" },
    /* jdk 17: a warning with no text, between empty and full lines */
    { 45, LOG_TAGS_SAFEPOINT, LOG_LEVEL_WARNING, "[0.045s][warning][safepoint      ] ", "" },
    { 45, LOG_TAGS_SAFEPOINT, LOG_LEVEL_WARNING, "[0.045s][warning][safepoint      ] ",
      "# SafepointSynchronize::begin: Timeout detected:" },
    { 71, LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO, "[0.071s][info   ][safepoint,stats] ",
      ROW_LINE },
};

START_TEST(lines_are_byte_for_byte_those_of_hotspot)
{
    char expected[4096] = "";
    size_t used = 0;
    configure("-Xlog:disable", "");
    configure("-Xlog:all=debug:file=%s:uptime,level,tags", path);
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        log_line_at(START_NS + golden[i].ms * MS, golden[i].tags, golden[i].level, "%s",
                    golden[i].message);
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%s\n",
                                 golden[i].prefix, golden[i].message);
    }
    ck_assert_str_eq(read_file(path), expected);
}
END_TEST

START_TEST(the_columns_of_one_output_do_not_widen_those_of_another)
{
    char other[140];
    snprintf(other, sizeof other, "%s2", path);
    configure("-Xlog:disable", "");
    configure("-Xlog:all=debug:file=%s", path);
    configure("-Xlog:gc=debug:file=%s", other);
    log_line_at(START_NS, LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_WARNING, "x");
    log_line_at(START_NS, LOG_TAGS_GC, LOG_LEVEL_INFO, "y");
    ck_assert_str_eq(read_file(path), "[0.000s][warning][safepoint,stats] x\n"
                                      "[0.000s][info   ][gc             ] y\n");
    ck_assert_str_eq(read_file(other), "[0.000s][info][gc] y\n");
    unlink(other);
}
END_TEST

START_TEST(uptime_has_three_decimals_rounded_and_never_a_sign)
{
    static const struct {
        uint64_t ns;
        const char *line;
    } times[] = { { 0, "[0.000s] x\n" },
                  { 499999, "[0.000s] x\n" },
                  { 500000, "[0.001s] x\n" },
                  { 999500000, "[1.000s] x\n" },
                  { 61234567890, "[61.235s] x\n" },
                  { UINT64_C(86400000000000) * 400, "[34560000.000s] x\n" } };
    char expected[400] = "[0.000s] before the start\n";
    configure("-Xlog:gc:file=%s:uptime", path);
    log_line_at(START_NS - 7, LOG_TAGS_GC, LOG_LEVEL_INFO, "before the start");
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        log_line_at(START_NS + times[i].ns, LOG_TAGS_GC, LOG_LEVEL_INFO, "x");
        strcat(expected, times[i].line);
    }
    ck_assert_str_eq(read_file(path), expected);
}
END_TEST

static void assert_matches(const char *text, const char *pattern)
{
    regex_t regex;
    ck_assert_msg(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0, "%s", pattern);
    ck_assert_msg(regexec(&regex, text, 0, NULL, 0) == 0, "%s does not match %s", text, pattern);
    regfree(&regex);
}

START_TEST(decorators_come_in_hotspots_order_whatever_was_typed)
{
    static const char *const typed[] = {
        "tags,level,tid,pid,hostname,uptimenanos,timenanos,uptimemillis,timemillis,uptime,utctime,"
        "time",
        "tg,l,ti,p,hn,un,tn,um,tm,u,utc,t",
        "t,utc,u,tm,um,tn,un,hn,p,ti,l,tg",
        "u,u,tags,time,utctime,timemillis,uptimemillis,timenanos,uptimenanos,hostname,pid,tid,"
        "level",
    };
    char argument[300], pattern[600];
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        snprintf(argument, sizeof argument, "-Xlog:gc*:file=%%s:%s", typed[i]);
        configure(argument, path);
        log_line_at(START_NS + 16420727, LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "Memory: 1M");
        snprintf(
            pattern, sizeof pattern,
            "^\\[[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}[+-][0-9]{4}\\]"
            "\\[[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}\\+0000\\]"
            "\\[0\\.016s\\]\\[[0-9]{13}ms\\]\\[16ms\\]\\[5016420727ns\\]\\[16420727ns\\]"
            "\\[[^]]+\\]\\[%d\\]\\[%d\\]\\[info\\]\\[gc,init\\] Memory: 1M\n$",
            os_pid(), os_tid());
        assert_matches(read_file(path), pattern);
        log_close();
    }
}
END_TEST

START_TEST(decorators_are_default_unless_given_and_none_leaves_the_text_alone)
{
    configure("-Xlog:disable", "");
    configure("-Xlog:gc:file=%s:none", path);
    log_line_at(START_NS, LOG_TAGS_GC, LOG_LEVEL_INFO, "%s", " bare");
    configure("-Xlog:gc:file=%s", path); /* as HotSpot: default again */
    log_line_at(START_NS, LOG_TAGS_GC, LOG_LEVEL_INFO, "a");
    configure("-Xlog:gc:file=%s:l", path);
    log_line_at(START_NS, LOG_TAGS_GC, LOG_LEVEL_ERROR, "b");
    ck_assert_str_eq(read_file(path), " bare\n[0.000s][info][gc] a\n[error] b\n");
}
END_TEST

START_TEST(folding_keeps_a_text_with_line_breaks_on_one_line)
{
    configure("-Xlog:gc:file=%s:none:foldmultilines=true", path);
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "a\nb\\c\n");
    configure("-Xlog:gc:file=%s:none:foldmultilines=false", path);
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "a\nb\\c");
    ck_assert_str_eq(read_file(path), "a\\nb\\\\c\\n\na\nb\\c\n");
}
END_TEST

START_TEST(a_very_long_text_is_cut_and_says_so)
{
    static char text[40000];
    memset(text, '\n', sizeof text - 1); /* the worst: folded, each is two bytes */
    configure("-Xlog:gc:file=%s:none:foldmultilines=true", path);
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "%s", text);
    const char *line = read_file(path);
    size_t bytes = strlen(line);
    ck_assert_uint_eq(bytes, 2 * ((16 << 10) - 4) + 4);
    ck_assert_str_eq(line + bytes - 6, "\\n...\n");
}
END_TEST

START_TEST(a_line_keeps_its_place_among_what_the_program_prints)
{
    ck_assert(freopen(path, "w", stdout) != NULL);
    printf("one\n");
    configure("-Xlog:gc::none", "");
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "two");
    printf("three\n");
    fflush(stdout);
    ck_assert_str_eq(read_file(path), "one\ntwo\nthree\n");
}
END_TEST

START_TEST(stderr_is_an_output_too)
{
    ck_assert(freopen(path, "w", stderr) != NULL);
    configure("-Xlog:gc:stderr:none", "");
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "x");
    ck_assert_str_eq(read_file(path), "x\n");
}
END_TEST

/* --- files ----------------------------------------------------------------------------------- */

START_TEST(names_of_files_take_every_accepted_form)
{
    static const char *const forms[] = { "-Xlog:gc:file=%s:none", "-Xlog:gc:%s:none",
                                         "-Xlog:gc:\"%s\":none", "-Xlog:gc:file=\"%s\":none",
                                         "-Xlog:gc:%s:none:" };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        configure(forms[i], path);
        log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "%zu", i);
        char expected[8];
        snprintf(expected, sizeof expected, "%zu\n", i); /* and the file was emptied */
        ck_assert_str_eq(read_file(path), expected);
        log_close();
    }
}
END_TEST

START_TEST(p_and_t_in_a_name_become_process_and_start_time_once_and_quotes_hide_colons)
{
    char name[300], expected[300], stamp[32];
    log_start(os_now_ns());
    log_file_stamp(log_wall_ns(), stamp, sizeof stamp);
    assert_matches(stamp, "^[0-9]{4}-[0-9]{2}-[0-9]{2}_[0-9]{2}-[0-9]{2}-[0-9]{2}$");
    snprintf(name, sizeof name, "\"%s/a:%%p_%%p_%%t_%%%%.log\"", folder);
    configure("-Xlog:gc:file=%s:none", name);
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "x");
    snprintf(expected, sizeof expected, "%s/a:%d_%%p_%s_%%%%.log", folder, os_pid(), stamp);
    if (access(expected, F_OK) != 0) { /* the second may have turned in between: one back */
        log_file_stamp(log_wall_ns() - 1000 * MS, stamp, sizeof stamp);
        snprintf(expected, sizeof expected, "%s/a:%d_%%p_%s_%%%%.log", folder, os_pid(), stamp);
    }
    ck_assert_str_eq(read_file(expected), "x\n");
    unlink(expected);
}
END_TEST

START_TEST(two_options_for_one_file_share_it)
{
    configure("-Xlog:gc:file=%s:none", path);
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "a");
    configure("-Xlog:safepoint:%s:none", path); /* not emptied again, gc stays on */
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "b");
    log_line(LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO, "c");
    ck_assert_str_eq(read_file(path), "a\nb\nc\n");
}
END_TEST

START_TEST(a_file_that_cannot_be_opened_changes_nothing_and_leaves_nothing_behind)
{
    char argument[300], expected[300];
    snprintf(argument, sizeof argument, "-Xlog:gc=trace:file=%s/no/such/x.log", folder);
    ck_assert_int_eq(log_configure(argument, &error), ERR_BAD_FILE);
    snprintf(expected, sizeof expected,
             "-Xlog: cannot open %s/no/such/x.log: No such file or directory", folder);
    ck_assert_str_eq(error.message, expected);
    snprintf(argument, sizeof argument, "-Xlog:gc=trace:file=%s", folder);
    ck_assert_int_eq(log_configure(argument, &error), ERR_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.message, "Is a directory"));
    ck_assert(!log_is_on(LOG_TAGS_GC, LOG_LEVEL_INFO));
}
END_TEST

START_TEST(a_write_error_is_said_once_and_remembered)
{
    ck_assert(freopen(path, "w", stderr) != NULL);
    if (access("/dev/full", W_OK) != 0) {
        printf("not tested: this system has no /dev/full\n");
        return;
    }
    configure("-Xlog:gc:file=/dev/full", "");
    ck_assert(!log_has_failed());
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "a");
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "b");
    log_flush();
    ck_assert(log_has_failed());
    ck_assert_str_eq(read_file(path), "stillpoint: log output /dev/full: No space left on device; "
                                      "lines are lost\n");
}
END_TEST

START_TEST(more_files_than_the_table_holds_are_refused)
{
    char argument[300], name[140];
    int opened = 0;
    enum err err = ERR_OK;
    for (; opened < 100 && err == ERR_OK; opened += err == ERR_OK) {
        snprintf(argument, sizeof argument, "-Xlog:gc:file=%s%d", path, opened);
        err = log_configure(argument, &error);
    }
    ck_assert_int_eq(err, ERR_BAD_FLAG);
    ck_assert_int_eq(opened, 8);
    ck_assert_str_eq(error.message, "-Xlog: more than 8 files");
    snprintf(name, sizeof name, "%s8", path);
    ck_assert_int_ne(access(name, F_OK), 0);
    for (int i = 0; i < opened; i++) {
        snprintf(name, sizeof name, "%s%d", path, i);
        ck_assert_int_eq(unlink(name), 0);
    }
}
END_TEST

/* --- stops and threads ------------------------------------------------------------------ */

START_TEST(a_line_between_forbid_and_allow_aborts)
{
    ck_assert(freopen("/dev/null", "w", stderr) != NULL);
    log_forbid(true);
    log_line(LOG_TAGS_GC, LOG_LEVEL_TRACE, "off, and yet a bug");
}
END_TEST

static void *log_one_line(void *unused)
{
    (void)unused;
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "other");
    return NULL;
}

START_TEST(forbidding_concerns_one_thread_and_ends)
{
    pthread_t t;
    configure("-Xlog:gc:file=%s:none", path);
    log_forbid(true);
    ck_assert_int_eq(pthread_create(&t, NULL, log_one_line, NULL), 0);
    pthread_join(t, NULL);
    log_forbid(false);
    log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "own");
    ck_assert_str_eq(read_file(path), "other\nown\n");
}
END_TEST

enum { WRITERS = 4, LINES = 400, REPEATS = 60 };

struct writer {
    pthread_t thread;
    int number;
    FILE *unlocked; /* the control: the line in two parts, no lock around them */
};

static void *write_lines(void *argument)
{
    struct writer *w = argument;
    char text[REPEATS + 1];
    memset(text, 'a' + w->number, REPEATS);
    text[REPEATS] = '\0';
    for (int i = 0; i < LINES; i++)
        if (w->unlocked) {
            fprintf(w->unlocked, "%d %04d ", w->number, i);
            fprintf(w->unlocked, "%s\n", text);
        } else {
            log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "%d %04d %s", w->number, i, text);
        }
    return NULL;
}

static void run_writers(FILE *unlocked)
{
    struct writer writers[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ .number = i, .unlocked = unlocked };
        ck_assert_int_eq(pthread_create(&writers[i].thread, NULL, write_lines, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
}

/* Counts the lines that no writer wrote; each writer's whole lines must be in order. */
static int count_torn(const char *text, int *whole_out)
{
    int next[WRITERS] = { 0 }, torn = 0;
    *whole_out = 0;
    for (const char *c = text; *c; c += strcspn(c, "\n") + 1) {
        int number = c[0] - '0', i = atoi(c + 1);
        bool is_whole =
            strcspn(c, "\n") == 7 + REPEATS && number >= 0 && number < WRITERS && i == next[number];
        for (int k = 0; is_whole && k < REPEATS; k++)
            is_whole = c[7 + k] == 'a' + number;
        if (is_whole)
            next[number]++;
        *whole_out += is_whole;
        torn += !is_whole;
    }
    return torn;
}

START_TEST(several_threads_write_whole_lines_only_each_in_its_order)
{
    int whole;
    configure("-Xlog:gc:file=%s:none", path);
    run_writers(NULL);
    int torn = count_torn(read_file(path), &whole);
    ck_assert_msg(torn == 0 && whole == WRITERS * LINES, "%d torn, %d whole", torn, whole);
}
END_TEST

/* The disease, on the same counter: lines in two unlocked parts get torn.  Two parts
 * can by chance never be parted, so several rounds are tried before that is said. */
START_TEST(control_lines_written_in_two_parts_are_torn)
{
    enum { ROUNDS = 20 };
    int torn = 0, rounds = 0, whole;
    while (torn == 0 && rounds++ < ROUNDS) {
        FILE *f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        setvbuf(f, NULL, _IONBF, 0);
        run_writers(f);
        fclose(f);
        torn = count_torn(read_file(path), &whole);
    }
    if (torn == 0)
        printf("control: no line was torn here in %d rounds\n", ROUNDS);
}
END_TEST

/* --- the suite -------------------------------------------------------------------------- */

static void add_layout(TCase *tc)
{
    tcase_add_test(tc, lines_are_byte_for_byte_those_of_hotspot);
    tcase_add_test(tc, the_columns_of_one_output_do_not_widen_those_of_another);
    tcase_add_test(tc, uptime_has_three_decimals_rounded_and_never_a_sign);
    tcase_add_test(tc, decorators_come_in_hotspots_order_whatever_was_typed);
    tcase_add_test(tc, decorators_are_default_unless_given_and_none_leaves_the_text_alone);
    tcase_add_test(tc, folding_keeps_a_text_with_line_breaks_on_one_line);
    tcase_add_test(tc, a_very_long_text_is_cut_and_says_so);
    tcase_add_test(tc, a_line_keeps_its_place_among_what_the_program_prints);
}

static void add_files(TCase *tc)
{
    tcase_add_test(tc, stderr_is_an_output_too);
    tcase_add_test(tc, names_of_files_take_every_accepted_form);
    tcase_add_test(tc, p_and_t_in_a_name_become_process_and_start_time_once_and_quotes_hide_colons);
    tcase_add_test(tc, two_options_for_one_file_share_it);
    tcase_add_test(tc, a_file_that_cannot_be_opened_changes_nothing_and_leaves_nothing_behind);
    tcase_add_test(tc, a_write_error_is_said_once_and_remembered);
    tcase_add_test(tc, more_files_than_the_table_holds_are_refused);
}

static void add_threads(TCase *tc)
{
    tcase_add_test(tc, forbidding_concerns_one_thread_and_ends);
    tcase_add_test(tc, several_threads_write_whole_lines_only_each_in_its_order);
    tcase_add_test(tc, control_lines_written_in_two_parts_are_torn);
}

int main(void)
{
    Suite *suite = suite_create("log");
    add_layout(add_case(suite, "layout"));
    add_files(add_case(suite, "files"));
    add_threads(add_case(suite, "threads"));
    TCase *aborting = tcase_create("aborts"); /* no fixture: nothing would clean up after it */
    tcase_set_timeout(aborting, 60);
    tcase_add_test_raise_signal(aborting, a_line_between_forbid_and_allow_aborts, SIGABRT);
    suite_add_tcase(suite, aborting);
    return run_suite(suite);
}
