/* test_log_option.c -- claims about the grammar of -Xlog: selections, and what is refused.
 *
 * Read next: base/log_option.c; test_log.c for how the lines look.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "base/log_priv.h"
#include "tests/unit/log_tests.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- selections --------------------------------------------------------------------------- */

enum {
    OFF = LOG_LEVEL_OFF,
    INFO = LOG_LEVEL_INFO,
    DEBUG = LOG_LEVEL_DEBUG,
    TRACE = LOG_LEVEL_TRACE
};

/* Thresholds of gc | gc,init | gc,heap | gc,ergo,heap | safepoint | safepoint,stats. */
static const struct {
    const char *selections;
    int gc, init, heap, ergo, safepoint, stats;
} chosen[] = {
    { "all", INFO, INFO, INFO, INFO, INFO, INFO },
    { "", INFO, INFO, INFO, INFO, INFO, INFO },
    { "all=trace", TRACE, TRACE, TRACE, TRACE, TRACE, TRACE },
    { "gc", INFO, OFF, OFF, OFF, OFF, OFF },
    { "gc*", INFO, INFO, INFO, INFO, OFF, OFF },
    { "gc=debug", DEBUG, OFF, OFF, OFF, OFF, OFF },
    { "gc+heap", OFF, OFF, INFO, OFF, OFF, OFF },
    { "heap+gc", OFF, OFF, INFO, OFF, OFF, OFF },
    { "heap", OFF, OFF, OFF, OFF, OFF, OFF },
    { "heap*", OFF, OFF, INFO, INFO, OFF, OFF },
    { "heap+gc*=debug", OFF, OFF, DEBUG, DEBUG, OFF, OFF },
    { "gc+ergo+heap", OFF, OFF, OFF, INFO, OFF, OFF },
    { "safepoint*", OFF, OFF, OFF, OFF, INFO, INFO },
    { "safepoint+stats", OFF, OFF, OFF, OFF, OFF, INFO },
    { "stats*=trace", OFF, OFF, OFF, OFF, OFF, TRACE },
    { "all=trace,safepoint=off", TRACE, TRACE, TRACE, TRACE, OFF, TRACE },
    { "safepoint=off,all=trace", TRACE, TRACE, TRACE, TRACE, TRACE, TRACE },
    { "gc*=info,gc+heap=debug,gc=off", OFF, INFO, DEBUG, INFO, OFF, OFF },
    { "safepoint*=info,gc*=info,gc+heap=debug,gc+ergo+heap=debug", INFO, INFO, DEBUG, DEBUG, INFO,
      INFO },
};

static void assert_thresholds(int i)
{
    const int expected[] = { chosen[i].gc,   chosen[i].init,      chosen[i].heap,
                             chosen[i].ergo, chosen[i].safepoint, chosen[i].stats };
    static const enum log_tags sets[] = { LOG_TAGS_GC,        LOG_TAGS_GC_INIT,
                                          LOG_TAGS_GC_HEAP,   LOG_TAGS_GC_ERGO_HEAP,
                                          LOG_TAGS_SAFEPOINT, LOG_TAGS_SAFEPOINT_STATS };
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        for (int level = LOG_LEVEL_TRACE; level < LOG_LEVEL_OFF; level++)
            ck_assert_msg(log_is_on(sets[s], (enum log_level)level) == (level >= expected[s]),
                          "-Xlog:%s: %s at %s", chosen[i].selections, log_tags_text(sets[s]),
                          log_level_words[level]);
    }
}

START_TEST(a_selection_is_exact_unless_starred_and_the_last_match_counts)
{
    char argument[300];
    ck_assert(freopen("/dev/null", "w", stderr) != NULL); /* "matches no line" is expected */
    configure("-Xlog:disable", "");
    snprintf(argument, sizeof argument, "-Xlog:%s:file=%%s", chosen[_i].selections);
    configure(argument, path);
    assert_thresholds(_i);
}
END_TEST

START_TEST(without_options_only_warnings_are_on_and_go_to_stdout)
{
    ck_assert(log_is_on(LOG_TAGS_SAFEPOINT, LOG_LEVEL_WARNING));
    ck_assert(!log_is_on(LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO));
    ck_assert(freopen(path, "w", stdout) != NULL);
    log_line_at(START_NS, LOG_TAGS_GC, LOG_LEVEL_INFO, "quiet");
    log_line_at(START_NS, LOG_TAGS_GC, LOG_LEVEL_WARNING, "loud");
    configure("-Xlog:safepoint=debug", ""); /* gc keeps its warnings */
    log_line_at(START_NS, LOG_TAGS_GC, LOG_LEVEL_ERROR, "still");
    log_line_at(START_NS, LOG_TAGS_SAFEPOINT, LOG_LEVEL_DEBUG, "more");
    configure("-Xlog", "");
    log_line_at(START_NS, LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "all");
    configure("-Xlog:disable", "");
    log_line_at(START_NS, LOG_TAGS_GC, LOG_LEVEL_ERROR, "off");
    ck_assert_str_eq(read_file(path), "[0.000s][warning][gc] loud\n"
                                      "[0.000s][error  ][gc] still\n"
                                      "[0.000s][debug  ][safepoint] more\n"
                                      "[0.000s][info   ][gc,init  ] all\n");
}
END_TEST

START_TEST(close_goes_back_to_the_start_columns_decorators_and_levels)
{
    ck_assert(freopen(path, "w", stdout) != NULL);
    configure("-Xlog:all=trace::level,tags:foldmultilines=true", "");
    log_line(LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_WARNING, "a");
    log_close();
    log_line_at(START_NS, LOG_TAGS_GC, LOG_LEVEL_INFO, "off again");
    log_line_at(START_NS, LOG_TAGS_GC, LOG_LEVEL_ERROR, "b\nc");
    ck_assert_str_eq(read_file(path), "[warning][safepoint,stats] a\n[0.000s][error][gc] b\nc\n");
}
END_TEST

/* --- the grammar ------------------------------------------------------------------------------ */

#define LEVELS "; levels: off, trace, debug, info, warning, error"
#define DECORATORS                                                                                 \
    "; decorators: none, or time/t, utctime/utc, uptime/u, timemillis/tm, uptimemillis/um, "       \
    "timenanos/tn, uptimenanos/un, hostname/hn, pid/p, tid/ti, level/l, tags/tg"
#define OPTIONS                                                                                    \
    ": unknown; options: foldmultilines=true|false, filecount=N, filesize=SIZE, "                  \
    "dialect=11|17|21|25"
#define OUTPUTS "; outputs: stdout, stderr, file=NAME, NAME"
#define QUOTES  "-Xlog: the name of an output is quoted as a whole, or not at all"

static const struct {
    const char *argument, *line; /* a line that ends in ... is a beginning */
} refused[] = {
    { "-Xlog:safepont", "-Xlog: 'safepont' is no tag; did you mean 'safepoint'?" },
    { "-Xlog:safepoint+stat*", "-Xlog: 'stat' is no tag; did you mean 'stats'?" },
    { "-Xlog:gc+hepa=debug", "-Xlog: 'hepa' is no tag; did you mean 'heap'?" },
    { "-Xlog:zzzzzz", "-Xlog: 'zzzzzz' is no tag; tags: all, age, alloc, ..." },
    { "-Xlog:gc+", "-Xlog: '' is no tag; tags: all, ..." },
    { "-Xlog:*", "-Xlog: '' is no tag; tags: all, ..." },
    { "-Xlog:gc,,heap", "-Xlog: '' is no tag; tags: all, ..." },
    { "-Xlog:gc*+heap", "-Xlog: 'gc*' is no tag; ..." },
    { "-Xlog:all+gc", "-Xlog: 'all' is no tag; did you mean 'alloc'?" },
    { "-Xlog:all*", "-Xlog: 'all' is no tag; did you mean 'alloc'?" },
    { "-Xlog:gc+gc", "-Xlog: 'gc+gc' has the tag 'gc' twice" },
    { "-Xlog:gc=bar", "-Xlog: 'bar' is no level" LEVELS },
    { "-Xlog:gc=", "-Xlog: '' is no level" LEVELS },
    { "-Xlog:gc=INFO", "-Xlog: 'INFO' is no level" LEVELS },
    { "-Xlog:gc:stdout:foo", "-Xlog: 'foo' is no decorator" DECORATORS },
    { "-Xlog:gc:stdout:u,,t", "-Xlog: '' is no decorator" DECORATORS },
    { "-Xlog:gc:stdout:none,t", "-Xlog: 'none' is no decorator" DECORATORS },
    { "-Xlog:gc:stdout::filecount=5", "-Xlog: output option 'filecount=5': only files rotate" },
    { "-Xlog:gc:stderr::foldmultilines=true,filesize=1m",
      "-Xlog: output option 'filesize=1m': only files rotate" },
    { "-Xlog:gc:file=x::filecount=1001",
      "-Xlog: output option 'filecount=1001': not a number from 0 to 1000" },
    { "-Xlog:gc:file=x::filecount=-1",
      "-Xlog: output option 'filecount=-1': not a number from 0 to 1000" },
    { "-Xlog:gc:file=x::filesize=2x",
      "-Xlog: output option 'filesize=2x': not a size from 0 to 1024g (k, m or g may follow)" },
    { "-Xlog:gc:file=x::filesize=99999999999g",
      "-Xlog: output option 'filesize=99999999999g': not a size from 0 to 1024g (k, m or g may "
      "follow)" },
    { "-Xlog:gc:stdout::dialect=18",
      "-Xlog: output option 'dialect=18': there are 11, 17, 21 and 25" },
    { "-Xlog:gc:stdout::foo=bar", "-Xlog: output option 'foo=bar'" OPTIONS },
    { "-Xlog:gc:stdout::foldmultilines=yes", "-Xlog: output option 'foldmultilines=yes'" OPTIONS },
    { "-Xlog:gc:file=", "-Xlog: no file is named" OUTPUTS },
    { "-Xlog:gc:\"\"", "-Xlog: no file is named" OUTPUTS },
    { "-Xlog:gc:\"x\"y", QUOTES },
    { "-Xlog:gc:\"x", QUOTES },
    { "-Xlog:gc:x\"y", QUOTES },
    { "-Xlog:async", "-Xlog:async is not in this version" },
    { "-Xloggc:x", "-Xloggc:x: unknown; -Xlog[:selections..." },
};

START_TEST(every_wrong_option_is_refused_with_its_line_and_changes_nothing)
{
    const char *line = refused[_i].line, *dots = strstr(line, "...");
    ck_assert(log_is_option(refused[_i].argument));
    ck_assert_int_eq(log_configure(refused[_i].argument, &error), ERR_BAD_FLAG);
    if (dots)
        ck_assert_msg(strncmp(error.message, line, (size_t)(dots - line)) == 0, "%s, not %s",
                      error.message, line);
    else
        ck_assert_str_eq(error.message, line);
    ck_assert(!log_is_on(LOG_TAGS_GC, LOG_LEVEL_INFO));
    ck_assert(log_is_on(LOG_TAGS_GC, LOG_LEVEL_WARNING));
}
END_TEST

START_TEST(a_wrong_part_after_a_good_file_opens_nothing)
{
    char argument[300];
    static const char *const tails[] = { "foo", ":filecount=x" };
    for (int i = 0; i < 2; i++) {
        snprintf(argument, sizeof argument, "-Xlog:gc:file=%s:%s", path, tails[i]);
        ck_assert_int_eq(log_configure(argument, &error), ERR_BAD_FLAG);
        ck_assert_msg(access(path, F_OK) != 0, "%s left a file", argument);
    }
}
END_TEST

START_TEST(help_lists_every_tag_level_and_decorator_and_changes_nothing)
{
    static const char *const words[] = { "off, trace, debug, info",
                                         "uptimenanos (un)",
                                         "hostname (hn)",
                                         "foldmultilines",
                                         "stringdedup",
                                         "tracking",
                                         "filecount=N",
                                         "dialect=11",
                                         "filesize=SIZE",
                                         "safepoint,stats",
                                         "-Xlog:disable" };
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    log_print_help(f);
    fclose(f);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_msg(strstr(text, words[i]) != NULL, "no %s in\n%s", words[i], text);
    for (const char *c = text; *c; c += strcspn(c, "\n") + 1)
        ck_assert_uint_le(strcspn(c, "\n"), 100);
    free(text);
    ck_assert(log_is_help("-Xlog:help") && !log_is_help("-Xlog:gc"));
    ck_assert_int_eq(log_configure("-Xlog:help", &error), ERR_OK);
    ck_assert(!log_is_on(LOG_TAGS_GC, LOG_LEVEL_INFO));
    ck_assert(!log_is_option("-XX:+Xlog") && !log_is_option("--Xlog") && !log_is_option("-Xlo"));
}
END_TEST

START_TEST(a_selection_that_matches_no_line_is_said_on_stderr)
{
    ck_assert(freopen(path, "w", stderr) != NULL);
    configure("-Xlog:gc,gc+age=debug,plab*", "");
    ck_assert_str_eq(
        read_file(path),
        "stillpoint: -Xlog: 'gc+age=debug' matches no line of this version; -Xlog:help "
        "lists the tag sets\n"
        "stillpoint: -Xlog: 'plab*' matches no line of this version; -Xlog:help lists "
        "the tag sets\n");
}
END_TEST

/* --- the suite --------------------------------------------------------------------------- */

static void add_selections(TCase *tc)
{
    tcase_add_loop_test(tc, a_selection_is_exact_unless_starred_and_the_last_match_counts, 0,
                        (int)(sizeof chosen / sizeof *chosen));
    tcase_add_test(tc, without_options_only_warnings_are_on_and_go_to_stdout);
    tcase_add_test(tc, close_goes_back_to_the_start_columns_decorators_and_levels);
}

static void add_grammar(TCase *tc)
{
    tcase_add_loop_test(tc, every_wrong_option_is_refused_with_its_line_and_changes_nothing, 0,
                        (int)(sizeof refused / sizeof *refused));
    tcase_add_test(tc, a_wrong_part_after_a_good_file_opens_nothing);
    tcase_add_test(tc, help_lists_every_tag_level_and_decorator_and_changes_nothing);
    tcase_add_test(tc, a_selection_that_matches_no_line_is_said_on_stderr);
}

int main(void)
{
    Suite *suite = suite_create("log_option");
    add_selections(add_case(suite, "selections"));
    add_grammar(add_case(suite, "grammar"));
    return run_suite(suite);
}
