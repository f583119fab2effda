/* test_log_dialect.c -- the dialects of the log, and files that rotate.
 *
 * Read next: safepoint/ledger_log.c, base/log.c (rotation).
 *
 * Golden are lines as OpenJDK 17.0.15, 21.0.13 and 25.0.5 printed them: a record with their
 * spans must give the same bytes.  Of JDK 11 the four lines' form is known, and its numbers
 * are ours.
 *
 * SPDX-License-Identifier: MIT */
#include "base/flags.h"
#include "base/os.h"
#include "base/prng.h"
#include "safepoint/ledger_log.h"
#include "tests/unit/log_tests.h"

#include <check.h>
#include <string.h>

/* A record with these spans, whose stop began at begin. */
static struct stop_record record_of(uint64_t begin, uint64_t since, uint64_t reaching,
                                    uint64_t cleanup, uint64_t op, uint64_t leave)
{
    struct stop_record r = { .operation = OPERATION_THREAD_DUMP, .tickets = 2, .participants = 12 };
    r.previous_woken_ns = begin - since;
    r.stamp[LEDGER_STAMP_begin] = begin;
    r.stamp[LEDGER_STAMP_last_arrival] = begin + reaching - reaching / 4;
    r.stamp[LEDGER_STAMP_noticed] = begin + reaching;
    r.stamp[LEDGER_STAMP_op_begin] = r.stamp[LEDGER_STAMP_noticed] + cleanup;
    r.stamp[LEDGER_STAMP_op_end] = r.stamp[LEDGER_STAMP_op_begin] + op;
    r.stamp[LEDGER_STAMP_released] = r.stamp[LEDGER_STAMP_op_end] + leave / 2;
    r.stamp[LEDGER_STAMP_woken] = r.stamp[LEDGER_STAMP_op_end] + leave;
    return r;
}

/* --- the text of a line --------------------------------------------------------------------- */

static const struct {
    enum xlog_dialect dialect;
    uint64_t since, reaching, cleanup, op, leave;
    uint32_t total_threads;
    const char *line, *row;
} golden[] = {
    { XLOG_DIALECT_17, 12173380, 44047835, 41552, 1841000, 344, 13,
      "Safepoint \"ThreadDump\", Time since last: 12173380 ns, Reaching safepoint: 44047835 ns, "
      "Cleanup: 41552 ns, At safepoint: 1841344 ns, Total: 45930731 ns",
      "ThreadDump                   [             13               2 ][         44047835      41552"
      "    1841344   45930731 ]               0" },
    { XLOG_DIALECT_21, 15186621, 41907122, 11608, 39629, 544297, 12,
      "Safepoint \"ThreadDump\", Time since last: 15186621 ns, Reaching safepoint: 41907122 ns, "
      "Cleanup: 11608 ns, At safepoint: 39629 ns, Leaving safepoint: 544297 ns, Total: 42502656 ns",
      "ThreadDump                   [             12               2 ][         41907122      11608"
      "     583926   42502656 ]               0" },
    { XLOG_DIALECT_25, 18723670, 94822, 468, 45000, 14823, 12,
      "Safepoint \"ThreadDump\", Time since last: 18723670 ns, Reaching safepoint: 94822 ns, "
      "At safepoint: 45468 ns, Leaving safepoint: 14823 ns, Total: 155113 ns, Threads: 2 runnable, "
      "12 total",
      "ThreadDump                   [             12               2 ][            94822      60291"
      "     155113 ]               0" },
};
#define GOLDEN (sizeof golden / sizeof *golden)

START_TEST(lines_and_rows_are_those_of_the_jdk)
{
    char text[400];
    struct stop_record r = record_of(START_NS + 40 * MS, golden[_i].since, golden[_i].reaching,
                                     golden[_i].cleanup, golden[_i].op, golden[_i].leave);
    r.participants = golden[_i].total_threads;
    ledger_log_format(golden[_i].dialect, &r, text, sizeof text);
    ck_assert_str_eq(text, golden[_i].line);
    ledger_log_row(golden[_i].dialect, &r, text, sizeof text);
    ck_assert_str_eq(text, golden[_i].row);
}
END_TEST

/* All figures of the line between `last` and Total, and Total. */
static void add_up(const char *line, long long *sum_out, long long *total_out)
{
    static const char *const names[] = { "Reaching safepoint: ", "Cleanup: ", "At safepoint: ",
                                         "Leaving safepoint: " };
    *sum_out = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(line, names[i]);
        *sum_out += at ? strtoll(at + strlen(names[i]), NULL, 10) : 0;
    }
    *total_out = strtoll(strstr(line, "Total: ") + strlen("Total: "), NULL, 10);
}

START_TEST(the_fields_add_up_to_total_in_every_dialect)
{
    struct prng prng;
    prng_seed(&prng, 4711);
    for (int n = 0; n < 20000; n++) {
        struct stop_record r = record_of(
            START_NS, prng_below(&prng, 1000), prng_below(&prng, UINT64_C(1) << 40),
            prng_below(&prng, 3), prng_below(&prng, UINT64_C(1) << 33), prng_below(&prng, 100000));
        for (int d = XLOG_DIALECT_17; d <= XLOG_DIALECT_25; d++) {
            char line[400];
            long long sum, total;
            ledger_log_format(d, &r, line, sizeof line);
            add_up(line, &sum, &total);
            ck_assert_msg(sum == total, "seed 4711, record %d, dialect %d: %s", n, d, line);
        }
    }
}
END_TEST

/* --- outputs -----------------------------------------------------------------------------------
 */

static char *lines_of(const char *options)
{
    char argument[300];
    struct stop_record r = record_of(START_NS + 40 * MS, 12345678, 44047835, 41552, 1841000, 344);
    snprintf(argument, sizeof argument, "-Xlog:safepoint:file=%s:none:%s", path, options);
    ck_assert_msg(log_configure(argument, &error) == ERR_OK, "%s", error.message);
    ledger_log_stop(&r);
    log_close();
    return strdup(read_file(path));
}

START_TEST(dialect_11_writes_four_lines_in_seconds)
{
    char *text = lines_of("dialect=11");
    ck_assert_str_eq(text, "Application time: 0.0123457 seconds\n"
                           "Entering safepoint region: ThreadDump\n"
                           "Leaving safepoint region\n"
                           "Total time for which application threads were stopped: 0.0459307 "
                           "seconds, Stopping threads took: 0.0440478 seconds\n");
    free(text);
}
END_TEST

START_TEST(each_output_has_its_own_dialect_and_the_others_that_of_the_flag)
{
    char other[140], argument[300];
    struct stop_record r = record_of(START_NS + 40 * MS, 1, 100, 20, 3, 4);
    snprintf(other, sizeof other, "%s/other", folder);
    flags_set_for_test("-XX:XlogDialect=17");
    snprintf(argument, sizeof argument, "-Xlog:safepoint*:file=%s:none:dialect=21", path);
    ck_assert_int_eq(log_configure(argument, &error), ERR_OK);
    snprintf(argument, sizeof argument, "-Xlog:safepoint*:file=%s:none", other);
    ck_assert_int_eq(log_configure(argument, &error), ERR_OK);
    log_take_dialect(); /* the flag may be typed after -Xlog */
    ledger_log_stop(&r);
    log_close();
    ck_assert_ptr_nonnull(strstr(read_file(path), "Cleanup: 20 ns, At safepoint: 3 ns, Leaving"));
    ck_assert_ptr_nonnull(strstr(content, "cleanup       vmop"));
    ck_assert_ptr_null(strstr(content, "Threads:"));
    ck_assert_ptr_nonnull(strstr(read_file(other), "At safepoint: 7 ns, Total: 127 ns\n"));
    ck_assert_ptr_null(strstr(content, "Leaving"));
    unlink(other);
    flags_reset();
    log_take_dialect();
}
END_TEST

START_TEST(a_dialect_that_no_output_takes_is_off)
{
    char argument[300];
    snprintf(argument, sizeof argument, "-Xlog:safepoint:file=%s::dialect=17", path);
    ck_assert_int_eq(log_configure(argument, &error), ERR_OK);
    ck_assert(log_dialect_is_on(XLOG_DIALECT_17, LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO));
    ck_assert(!log_dialect_is_on(XLOG_DIALECT_25, LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO));
    ck_assert(!log_dialect_is_on(XLOG_DIALECT_11, LOG_TAGS_SAFEPOINT, LOG_LEVEL_WARNING));
}
END_TEST

/* --- rotation ------------------------------------------------------------------------------------
 */

static char *old_name(const char *suffix)
{
    static char name[160];
    snprintf(name, sizeof name, "%s.%s", path, suffix);
    return name;
}

/* 100 bytes a line. */
static void write_lines(int from, int to)
{
    for (int i = from; i < to; i++)
        log_line(LOG_TAGS_GC, LOG_LEVEL_INFO, "%-98d.", i);
}

static bool has_line(const char *name, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d ", number);
    const char *all = read_file(name);
    for (const char *c = all; c; c = strchr(c, '\n') ? strchr(c, '\n') + 1 : NULL)
        if (strncmp(c, text, strlen(text)) == 0)
            return true;
    return false;
}

START_TEST(a_full_file_becomes_old_and_the_oldest_goes)
{
    configure("-Xlog:gc:file=%s:none:filecount=2,filesize=1k", path);
    write_lines(0, 11); /* the eleventh line fills 1 KiB: .0 */
    ck_assert(has_line(old_name("0"), 0) && has_line(old_name("0"), 10));
    write_lines(11, 22); /* .1 */
    ck_assert(has_line(old_name("1"), 11));
    write_lines(22, 35); /* .0 again */
    ck_assert(has_line(old_name("0"), 22) && !has_line(old_name("0"), 0));
    ck_assert(has_line(path, 34) && !has_line(path, 22));
    unlink(old_name("0"));
    unlink(old_name("1"));
}
END_TEST

START_TEST(control_without_rotation_the_file_is_emptied_at_the_start_and_grows)
{
    configure("-Xlog:gc:file=%s:none", path);
    write_lines(0, 30);
    ck_assert(has_line(path, 0) && has_line(path, 29));
    log_close();
    configure("-Xlog:gc:file=%s:none", path);
    ck_assert_str_eq(read_file(path), "");
}
END_TEST

START_TEST(what_is_there_at_the_start_is_put_away)
{
    for (int run = 0; run < 3; run++) {
        configure("-Xlog:gc:file=%s:none:filecount=11", path);
        write_lines(run * 10, run * 10 + 3);
        log_close();
    }
    ck_assert(has_line(old_name("00"), 0)); /* as many digits as 10 has */
    ck_assert(has_line(old_name("01"), 10));
    ck_assert(has_line(path, 20));
    unlink(old_name("00"));
    unlink(old_name("01"));
}
END_TEST

START_TEST(what_cannot_be_renamed_grows_on)
{
    char folder_in_the_way[160], command[200];
    snprintf(folder_in_the_way, sizeof folder_in_the_way, "%s", old_name("0"));
    snprintf(command, sizeof command, "mkdir %s", folder_in_the_way);
    configure("-Xlog:gc:file=%s:none:filecount=1,filesize=1k", path);
    ck_assert_int_eq(system(command), 0);
    write_lines(0, 40);
    ck_assert(has_line(path, 0) && has_line(path, 39)); /* nothing is lost */
    ck_assert_int_eq(rmdir(folder_in_the_way), 0);
}
END_TEST

START_TEST(devices_do_not_rotate)
{
    char argument[] = "-Xlog:gc:file=/dev/null::filecount=3,filesize=1";
    ck_assert_int_eq(log_configure(argument, &error), ERR_OK);
    write_lines(0, 3);
    ck_assert(os_is_special_file("/dev/null"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log_dialect");
    TCase *texts = add_case(suite, "texts");
    tcase_add_loop_test(texts, lines_and_rows_are_those_of_the_jdk, 0, GOLDEN);
    tcase_add_test(texts, the_fields_add_up_to_total_in_every_dialect);
    TCase *outputs = add_case(suite, "outputs");
    tcase_add_test(outputs, dialect_11_writes_four_lines_in_seconds);
    tcase_add_test(outputs, each_output_has_its_own_dialect_and_the_others_that_of_the_flag);
    tcase_add_test(outputs, a_dialect_that_no_output_takes_is_off);
    TCase *rotation = add_case(suite, "rotation");
    tcase_add_test(rotation, a_full_file_becomes_old_and_the_oldest_goes);
    tcase_add_test(rotation, control_without_rotation_the_file_is_emptied_at_the_start_and_grows);
    tcase_add_test(rotation, what_is_there_at_the_start_is_put_away);
    tcase_add_test(rotation, what_cannot_be_renamed_grows_on);
    tcase_add_test(rotation, devices_do_not_rotate);
    return run_suite(suite);
}
