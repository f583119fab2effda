/* test_flags.c -- claims about the -XX flags: what is taken, what is refused, and
 * with which words.
 *
 * SPDX-License-Identifier: MIT */
#include "base/flags.h"
#include "base/flags_priv.h"
#include "base/spelling.h"

#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct flags_error error;

static void begin_clean(void) { flags_reset(); }

/* Every row in a loop of one claim begins at the defaults. */
static void take(const char *argument)
{
    error.message[0] = '\0';
    enum flags_result result = flags_parse_one(argument, &error);
    ck_assert_msg(result == FLAGS_OK, "%s gave %d, %s", argument, result, error.message);
}

static const struct {
    const char *argument, *line;
} refused[] = {
    { "-XX:SafepontSpinMicros=5",
      "unknown flag -XX:SafepontSpinMicros=5; did you mean -XX:SafepointSpinMicros?" },
    { "-XX:safepointspinmicros=5",
      "unknown flag -XX:safepointspinmicros=5; did you mean -XX:SafepointSpinMicros?" },
    { "-XX:SafepointSpin=5",
      "unknown flag -XX:SafepointSpin=5; did you mean -XX:SafepointSpinMicros?" },
    { "-XX:SafepointSpinMicors",
      "unknown flag -XX:SafepointSpinMicors; did you mean -XX:SafepointSpinMicros?" },
    { "-XX:+SafepointRecordin",
      "unknown flag -XX:+SafepointRecordin; did you mean -XX:+SafepointRecording?" },
    { "-XX:-SafepointRecordin",
      "unknown flag -XX:-SafepointRecordin; did you mean -XX:-SafepointRecording?" },
    { "-XX:safepointrecording",
      "unknown flag -XX:safepointrecording; did you mean -XX:+SafepointRecording?" },
    { "-XX:+bulkpolicy", "unknown flag -XX:+bulkpolicy; did you mean -XX:BulkPolicy?" },
    { "-XX:+UseShenandoahGC", "unknown flag -XX:+UseShenandoahGC; `stillpoint flags` lists them" },
    { "-XX:x\ny=1", "unknown flag -XX:x?y=1; `stillpoint flags` lists them" },
    { "-XX:", "-XX: names no flag; `stillpoint flags` lists them" },
    { "-XX:+", "-XX:+ names no flag; `stillpoint flags` lists them" },
    { "-XX:=5", "-XX:=5 names no flag; `stillpoint flags` lists them" },
    { "-XX:SafepointSpinMicros",
      "-XX:SafepointSpinMicros needs a value: -XX:SafepointSpinMicros=N (us)" },
    { "-XX:SafepointSpinMicros=",
      "-XX:SafepointSpinMicros needs a value: -XX:SafepointSpinMicros=N (us)" },
    { "-XX:BulkPolicy", "-XX:BulkPolicy needs a value: -XX:BulkPolicy=whole|chunked" },
    { "-XX:BulkPolicy=", "-XX:BulkPolicy needs a value: -XX:BulkPolicy=whole|chunked" },
    { "-XX:BulkChunkBytes", "-XX:BulkChunkBytes needs a value: -XX:BulkChunkBytes=N (bytes)" },
    { "-XX:InjectDelay", "-XX:InjectDelay needs a value: -XX:InjectDelay=TEXT" },
    { "-XX:SafepointSpinMicros=9999999",
      "-XX:SafepointSpinMicros=9999999: out of range, 0 to 1000000 (us)" },
    { "-XX:SafepointSpinMicros=1000001",
      "-XX:SafepointSpinMicros=1000001: out of range, 0 to 1000000 (us)" },
    { "-XX:SafepointSpinMicros=18446744073709551616",
      "-XX:SafepointSpinMicros=18446744073709551616: out of range, 0 to 1000000 (us)" },
    { "-XX:SafepointSpinMicros=18446744073709551626",
      "-XX:SafepointSpinMicros=18446744073709551626: out of range, 0 to 1000000 (us)" },
    { "-XX:SafepointSpinMicros=0x10000000000000005",
      "-XX:SafepointSpinMicros=0x10000000000000005: out of range, 0 to 1000000 (us)" },
    { "-XX:SafepointSpinMicros=-1",
      "-XX:SafepointSpinMicros=-1: not a whole number, 0 to 1000000 (us)" },
    { "-XX:SafepointSpinMicros=+1",
      "-XX:SafepointSpinMicros=+1: not a whole number, 0 to 1000000 (us)" },
    { "-XX:SafepointSpinMicros= 1",
      "-XX:SafepointSpinMicros= 1: not a whole number, 0 to 1000000 (us)" },
    { "-XX:SafepointSpinMicros=1k",
      "-XX:SafepointSpinMicros=1k: not a whole number, 0 to 1000000 (us)" },
    { "-XX:SafepointSpinMicros=0x",
      "-XX:SafepointSpinMicros=0x: not a whole number, 0 to 1000000 (us)" },
    { "-XX:SafepointSpinMicros=1e3",
      "-XX:SafepointSpinMicros=1e3: not a whole number, 0 to 1000000 (us)" },
    { "-XX:BulkChunkBytes=1.5m",
      "-XX:BulkChunkBytes=1.5m: not a whole number (k, m, g or t may follow), 4k to 1g (bytes)" },
    { "-XX:BulkChunkBytes=1mb",
      "-XX:BulkChunkBytes=1mb: not a whole number (k, m, g or t may follow), 4k to 1g (bytes)" },
    { "-XX:BulkChunkBytes=k",
      "-XX:BulkChunkBytes=k: not a whole number (k, m, g or t may follow), 4k to 1g (bytes)" },
    { "-XX:BulkChunkBytes=4095", "-XX:BulkChunkBytes=4095: out of range, 4k to 1g (bytes)" },
    { "-XX:BulkChunkBytes=1073741825",
      "-XX:BulkChunkBytes=1073741825: out of range, 4k to 1g (bytes)" },
    { "-XX:BulkChunkBytes=2g", "-XX:BulkChunkBytes=2g: out of range, 4k to 1g (bytes)" },
    { "-XX:BulkChunkBytes=16777216t",
      "-XX:BulkChunkBytes=16777216t: out of range, 4k to 1g (bytes)" },
    { "-XX:BulkPolicy=hole", "-XX:BulkPolicy=hole: not one of whole, chunked" },
    { "-XX:BulkPolicy=Whole", "-XX:BulkPolicy=Whole: not one of whole, chunked" },
    { "-XX:InjectLedgerFault=x",
      "-XX:InjectLedgerFault=x: not one of none, lost-arrival, bad-span, hist-count" },
    { "-XX:+BulkPolicy", "-XX:+BulkPolicy: not a boolean flag, use -XX:BulkPolicy=whole|chunked" },
    { "-XX:+BulkPolicy=whole",
      "-XX:+BulkPolicy=whole: not a boolean flag, use -XX:BulkPolicy=whole|chunked" },
    { "-XX:-SafepointSpinMicros",
      "-XX:-SafepointSpinMicros: not a boolean flag, use -XX:SafepointSpinMicros=N" },
    { "-XX:SafepointRecording", "-XX:SafepointRecording: a boolean flag, use "
                                "-XX:+SafepointRecording or -XX:-SafepointRecording" },
    { "-XX:SafepointRecording=true", "-XX:SafepointRecording=true: a boolean flag, use "
                                     "-XX:+SafepointRecording or -XX:-SafepointRecording" },
    { "-Xmx", "-Xmx needs a value: -XmxN (bytes)" },
    { "-Xmxlots", "-Xmxlots: not a whole number (k, m, g or t may follow), 0 to 64t (bytes)" },
    { "-Xmx=64m", "-Xmx=64m: not a whole number (k, m, g or t may follow), 0 to 64t (bytes)" },
    { "-Xms-1", "-Xms-1: not a whole number (k, m, g or t may follow), 0 to 64t (bytes)" },
    { "-Xms65t", "-Xms65t: out of range, 0 to 64t (bytes)" },
    { "-Xss8k", "-Xss8k: out of range, 16k to 1g (bytes)" },
    { "-XX:MaxHeapSize", "-XX:MaxHeapSize needs a value: -XX:MaxHeapSize=N (bytes)" },
    { "-XX:UseEpsilonGC", "-XX:UseEpsilonGC: a boolean flag, use -XX:+UseEpsilonGC or "
                          "-XX:-UseEpsilonGC" },
    { "-XX:GuaranteedSafepointInterval=2147483648",
      "-XX:GuaranteedSafepointInterval=2147483648: out of range, 0 to 2147483647 (ms)" },
    { "-XX:LoopStripMiningIter=1000000001",
      "-XX:LoopStripMiningIter=1000000001: out of range, 0 to 1000000000" },
    { "-XX:+SafepointRecording=1", "-XX:+SafepointRecording=1: a boolean flag, use "
                                   "-XX:+SafepointRecording or -XX:-SafepointRecording" },
};

START_TEST(every_wrong_argument_is_refused_with_its_line_and_changes_nothing)
{
    struct flags before = *flags;
    const char *argument = refused[_i].argument;
    ck_assert_msg(flags_parse_one(argument, &error) == FLAGS_ERROR, "%s was taken", argument);
    ck_assert_str_eq(error.message, refused[_i].line);
    ck_assert_msg(memcmp(&before, flags, sizeof before) == 0, "%s changed a value", argument);
}
END_TEST

START_TEST(a_very_long_argument_is_refused_within_the_message)
{
    char argument[4000];
    memset(argument, 'a', sizeof argument - 1);
    argument[sizeof argument - 1] = '\0';
    memcpy(argument, "-XX:", 4);
    ck_assert_int_eq(flags_parse_one(argument, &error), FLAGS_ERROR);
    ck_assert_uint_eq(strlen(error.message), sizeof error.message - 1);
}
END_TEST

START_TEST(what_does_not_begin_with_XX_is_left_to_others)
{
    static const char *const others[] = { "",       "-",   "-XX",    "-Xlog",  "--json", "XX:+A",
                                          "-xx:+A", "-Xm", "-xmx1m", "-XMX1m", "-Xint" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(flags_parse_one(others[i], &error) == FLAGS_NOT_A_FLAG, "%s", others[i]);
}
END_TEST

START_TEST(numbers_are_decimal_or_hexadecimal_and_sizes_take_suffixes)
{
    static const struct {
        const char *value;
        uint64_t bytes;
    } sizes[] = { { "4096", 4096 },
                  { "4k", 4096 },
                  { "4K", 4096 },
                  { "0x1000", 4096 },
                  { "0X1000", 4096 },
                  { "0x10k", 16384 },
                  { "1m", 1 << 20 },
                  { "3M", 3 << 20 },
                  { "1g", 1 << 30 },
                  { "1G", 1 << 30 },
                  { "1073741824", 1 << 30 },
                  { "0004096", 4096 },
                  { "0xfFfFf", 0xfffff } };
    static const struct {
        const char *value;
        uint64_t micros;
    } numbers[] = { { "0", 0 }, { "1000000", 1000000 }, { "0x1f", 31 }, { "010", 10 } };
    char argument[80];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        flags_reset();
        snprintf(argument, sizeof argument, "-XX:BulkChunkBytes=%s", sizes[i].value);
        take(argument);
        ck_assert_msg(flags->bulk_chunk_bytes == sizes[i].bytes, "%s gave %llu", argument,
                      (unsigned long long)flags->bulk_chunk_bytes);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        flags_reset();
        snprintf(argument, sizeof argument, "-XX:SafepointSpinMicros=%s", numbers[i].value);
        take(argument);
        ck_assert_msg(flags->safepoint_spin_micros == numbers[i].micros, "%s gave %llu", argument,
                      (unsigned long long)flags->safepoint_spin_micros);
    }
}
END_TEST

START_TEST(each_kind_of_flag_is_taken_and_remembers_where_it_came_from)
{
    char borrowed[] = "-XX:InjectDelay=lock:5";
    ck_assert_int_eq(flags_origin_of("SafepointPoll"), FLAGS_ORIGIN_DEFAULT);
    take("-XX:SafepointPoll=global");
    take("-XX:-SafepointRecording");
    take("-XX:+PrintFlagsFinal");
    take("-XX:InjectLedgerFault=hist-count");
    take(borrowed);
    memset(borrowed, '#', sizeof borrowed - 1); /* the argument was copied */
    ck_assert_int_eq(flags->safepoint_poll, SAFEPOINT_POLL_GLOBAL);
    ck_assert(!flags->safepoint_recording);
    ck_assert(flags->print_flags_final);
    ck_assert_int_eq(flags->inject_ledger_fault, INJECT_LEDGER_FAULT_HIST_COUNT);
    ck_assert_str_eq(flags->inject_delay, "lock:5");
    ck_assert_int_eq(flags_origin_of("SafepointPoll"), FLAGS_ORIGIN_COMMAND_LINE);
    ck_assert_int_eq(flags_origin_of("SafepointWait"), FLAGS_ORIGIN_DEFAULT);
}
END_TEST

START_TEST(a_short_form_is_the_flag_of_the_long_name)
{
    take("-Xmx64m");
    take("-Xms0x100k");
    take("-Xss512K");
    ck_assert_uint_eq(flags->max_heap_size, 64 << 20);
    ck_assert_uint_eq(flags->initial_heap_size, 256 << 10);
    ck_assert_uint_eq(flags->thread_stack_size, 512 << 10);
    ck_assert_int_eq(flags_origin_of("MaxHeapSize"), FLAGS_ORIGIN_COMMAND_LINE);
    take("-XX:MaxHeapSize=65536k"); /* the same, said again */
    ck_assert(flags_override("-Xms256k", &error));
    ck_assert(!flags_override("-Xss1m", &error));
    ck_assert_str_eq(error.message, "-Xss512K contradicts -Xss1m, which is set here");
}
END_TEST

/* Filled in is not set: what comes later replaces it, and no report names it. */
START_TEST(an_ergonomic_value_is_shown_but_counts_as_not_set)
{
    char text[200];
    flags_set_ergonomic("MaxHeapSize", 1 << 20);
    ck_assert_uint_eq(flags->max_heap_size, 1 << 20);
    ck_assert_int_eq(flags_origin_of("MaxHeapSize"), FLAGS_ORIGIN_ERGONOMIC);
    ck_assert_uint_eq(flags_describe_set(text, sizeof text), 0);
    flags_set_ergonomic("MaxHeapSize", 2 << 20);
    take("-Xms4m");
    ck_assert_msg(flags_check(&error), "%s", error.message); /* nobody typed a maximum */
    take("-Xmx8m");
    ck_assert_uint_eq(flags->max_heap_size, 8 << 20);
    flags_describe_set(text, sizeof text);
    ck_assert_str_eq(text, "-XX:MaxHeapSize=8m -XX:InitialHeapSize=4m");
}
END_TEST

START_TEST(a_flag_that_no_machine_can_honour_is_refused_at_the_end)
{
    static const struct {
        const char *argument, *line;
    } cases[] = {
        { "-XX:G1HeapRegionSize=3m",
          "-XX:G1HeapRegionSize=3m: not a power of two from 64k to 512m, nor 0" },
        { "-XX:G1HeapRegionSize=32k",
          "-XX:G1HeapRegionSize=32k: not a power of two from 64k to 512m, nor 0" },
        { "-XX:G1HeapRegionSize=64k", NULL },
        { "-XX:G1HeapRegionSize=512m", NULL },
        { "-XX:G1HeapRegionSize=0", NULL },
        { "-XX:+UseEpsilonGC", NULL },
        { "-XX:-UseEpsilonGC", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flags_reset();
        take(cases[i].argument);
        bool is_fine = flags_check(&error);
        ck_assert_msg(is_fine == !cases[i].line, "%s: %d", cases[i].argument, is_fine);
        if (cases[i].line)
            ck_assert_str_eq(error.message, cases[i].line);
    }
}
END_TEST

START_TEST(one_flag_twice_is_taken_only_with_one_value)
{
    static const struct {
        const char *first, *second, *line;
    } pairs[] = {
        { "-XX:BulkChunkBytes=1m", "-XX:BulkChunkBytes=1024K", NULL },
        { "-XX:+PrintFlagsFinal", "-XX:+PrintFlagsFinal", NULL },
        { "-XX:InjectDelay=lock:1", "-XX:InjectDelay=lock:1", NULL },
        { "-XX:BulkChunkBytes=1m", "-XX:BulkChunkBytes=2048k",
          "-XX:BulkChunkBytes=2048k contradicts -XX:BulkChunkBytes=1m" },
        { "-XX:+PrintFlagsFinal", "-XX:-PrintFlagsFinal",
          "-XX:-PrintFlagsFinal contradicts -XX:+PrintFlagsFinal" },
        /* the first value being the default does not make it weaker */
        { "-XX:SafepointWake=tree", "-XX:SafepointWake=all",
          "-XX:SafepointWake=all contradicts -XX:SafepointWake=tree" },
        { "-Xmx64m", "-Xmx64M", NULL },
        { "-Xmx64m", "-XX:MaxHeapSize=32m", "-XX:MaxHeapSize=32m contradicts -Xmx64m" },
        { "-XX:MaxHeapSize=32m", "-Xmx64m", "-Xmx64m contradicts -XX:MaxHeapSize=32m" },
        { "-XX:InjectDelay=lock:1",
          "-XX:InjectDelay=", "-XX:InjectDelay= contradicts -XX:InjectDelay=lock:1" },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        flags_reset();
        take(pairs[i].first);
        struct flags before = *flags;
        enum flags_result result = flags_parse_one(pairs[i].second, &error);
        ck_assert_msg(result == (pairs[i].line ? FLAGS_ERROR : FLAGS_OK), "%s then %s: %d",
                      pairs[i].first, pairs[i].second, result);
        if (pairs[i].line) {
            ck_assert_str_eq(error.message, pairs[i].line);
            ck_assert(memcmp(&before, flags, sizeof before) == 0);
        }
    }
}
END_TEST

START_TEST(contradictions_between_flags_are_refused_in_either_order)
{
    static const struct {
        const char *a, *b, *line;
    } pairs[] = {
        { "-XX:BulkChunkBytes=64k", "-XX:BulkPolicy=whole",
          "-XX:BulkChunkBytes=64k contradicts -XX:BulkPolicy=whole: one piece has no chunks" },
        { "-XX:SafepointSpinMicros=5", "-XX:SafepointWait=spin",
          "-XX:SafepointSpinMicros=5 contradicts -XX:SafepointWait=spin: only futex spins for a "
          "bounded time" },
        { "-XX:SafepointSpinMicros=5", "-XX:SafepointWait=sleep",
          "-XX:SafepointSpinMicros=5 contradicts -XX:SafepointWait=sleep: only futex spins for a "
          "bounded time" },
        { "-XX:InjectDelay=lock:1", "-XX:+PrintFlagsFinal",
          "-XX:InjectDelay=lock:1: a diagnostic flag, needs -XX:+UnlockDiagnosticVMOptions" },
        { "-XX:+SafepointRecording", "-XX:-UnlockDiagnosticVMOptions",
          "-XX:+SafepointRecording: a diagnostic flag, needs -XX:+UnlockDiagnosticVMOptions" },
        { "-Xms64m", "-Xmx32m",
          "-Xms64m contradicts -Xmx32m: the heap would begin larger than it may get" },
        { "-Xms32m", "-XX:MaxHeapSize=32m", NULL },
        { "-Xms64m", "-Xmx0", NULL },
        { "-XX:BulkChunkBytes=64k", "-XX:BulkPolicy=chunked", NULL },
        { "-XX:SafepointSpinMicros=5", "-XX:SafepointWait=futex", NULL },
        { "-XX:InjectDelay=lock:1", "-XX:+UnlockDiagnosticVMOptions", NULL },
        { "-XX:-SafepointRecording", "-XX:+UnlockDiagnosticVMOptions", NULL },
        { "-XX:BulkPolicy=whole", "-XX:SafepointWait=spin", NULL },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int swapped = 0; swapped < 2; swapped++) {
            flags_reset();
            take(swapped ? pairs[i].b : pairs[i].a);
            take(swapped ? pairs[i].a : pairs[i].b);
            bool is_fine = flags_check(&error);
            ck_assert_msg(is_fine == !pairs[i].line, "%s %s: %d", pairs[i].a, pairs[i].b, is_fine);
            if (pairs[i].line)
                ck_assert_str_eq(error.message, pairs[i].line);
        }
}
END_TEST

START_TEST(a_scenario_overrides_defaults_but_never_the_command_line)
{
    ck_assert(flags_override("-XX:BulkPolicy=whole", &error));
    ck_assert_int_eq(flags->bulk_policy, BULK_POLICY_WHOLE);
    ck_assert_int_eq(flags_origin_of("BulkPolicy"), FLAGS_ORIGIN_SCENARIO);
    ck_assert(flags_override("-XX:BulkPolicy=chunked", &error)); /* the next scenario */
    ck_assert_int_eq(flags->bulk_policy, BULK_POLICY_CHUNKED);
    take("-XX:SafepointPoll=global");
    ck_assert(flags_override("-XX:SafepointPoll=global", &error));
    ck_assert_int_eq(flags_origin_of("SafepointPoll"), FLAGS_ORIGIN_COMMAND_LINE);
    ck_assert(!flags_override("-XX:SafepointPoll=flag", &error));
    ck_assert_str_eq(error.message, "-XX:SafepointPoll=global contradicts -XX:SafepointPoll=flag, "
                                    "which is set here");
    ck_assert_int_eq(flags->safepoint_poll, SAFEPOINT_POLL_GLOBAL);
    ck_assert(flags_override("-XX:InjectDelay=wake:1", &error)); /* needs no unlocking */
    ck_assert(flags_check(&error));
    /* what contradicts must both be typed: a chunk size is idle in a scenario of one piece */
    take("-XX:BulkChunkBytes=64k");
    take("-XX:SafepointSpinMicros=5");
    ck_assert(flags_override("-XX:BulkPolicy=whole", &error));
    ck_assert(flags_override("-XX:SafepointWait=spin", &error));
    ck_assert_msg(flags_check(&error), "%s", error.message);
}
END_TEST

START_TEST(defaults_are_in_range_and_reset_brings_them_back)
{
    size_t numbers = 0;
    take("-XX:BulkChunkBytes=4k");
    take("-XX:InjectDelay=lock:5");
    flags_set_for_test("-XX:BulkChunkBytes=8k");
    ck_assert_uint_eq(flags->bulk_chunk_bytes, 8192);
    flags_reset();
    for (size_t i = 0; i < flag_row_count; i++) {
        const struct flag_row *row = &flag_rows[i];
        ck_assert_msg(row->initial >= row->least && row->initial <= row->most, "%s", row->spelling);
        ck_assert_int_eq(flags_origin_of(row->spelling), FLAGS_ORIGIN_DEFAULT);
        if (row->kind == FLAG_KIND_STRING)
            continue;
        ck_assert_msg(flag_row_number(row) == row->initial, "%s", row->spelling);
        numbers++;
    }
    ck_assert_uint_ge(numbers, 10); /* not vacuous */
    ck_assert_str_eq(flags->inject_delay, "");
    ck_assert_uint_eq(flags->bulk_chunk_bytes, 1 << 20);
    ck_assert_uint_eq(flags->safepoint_spin_micros, 20);
    ck_assert(flags->safepoint_recording && !flags->unlock_diagnostic_vm_options);
}
END_TEST

START_TEST(the_distance_counts_changes_and_swaps_of_neighbours)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } pairs[] = { { "", "", 0 },       { "", "abc", 3 },      { "abc", "", 3 },
                  { "abc", "ABC", 0 }, { "abc", "acb", 1 },   { "kitten", "sitting", 3 },
                  { "ca", "abc", 3 },  { "flaw", "lawn", 2 }, { "safepont", "safepoint", 1 } };
    char a[65] = "", b[2] = "a";
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        ck_assert_msg(spelling_distance(pairs[i].a, pairs[i].b) == pairs[i].distance,
                      "%s to %s: %zu", pairs[i].a, pairs[i].b,
                      spelling_distance(pairs[i].a, pairs[i].b));
    memset(a, 'a', 63);
    ck_assert_uint_eq(spelling_distance(a, b), 62);
    a[63] = 'a';
    ck_assert_uint_eq(spelling_distance(a, b), SIZE_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flags");
    TCase *tc = tcase_create("flags");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, begin_clean, flags_reset);
    tcase_add_loop_test(tc, every_wrong_argument_is_refused_with_its_line_and_changes_nothing, 0,
                        (int)(sizeof refused / sizeof *refused));
    tcase_add_test(tc, a_very_long_argument_is_refused_within_the_message);
    tcase_add_test(tc, what_does_not_begin_with_XX_is_left_to_others);
    tcase_add_test(tc, numbers_are_decimal_or_hexadecimal_and_sizes_take_suffixes);
    tcase_add_test(tc, each_kind_of_flag_is_taken_and_remembers_where_it_came_from);
    tcase_add_test(tc, a_short_form_is_the_flag_of_the_long_name);
    tcase_add_test(tc, an_ergonomic_value_is_shown_but_counts_as_not_set);
    tcase_add_test(tc, a_flag_that_no_machine_can_honour_is_refused_at_the_end);
    tcase_add_test(tc, one_flag_twice_is_taken_only_with_one_value);
    tcase_add_test(tc, contradictions_between_flags_are_refused_in_either_order);
    tcase_add_test(tc, a_scenario_overrides_defaults_but_never_the_command_line);
    tcase_add_test(tc, defaults_are_in_range_and_reset_brings_them_back);
    tcase_add_test(tc, the_distance_counts_changes_and_swaps_of_neighbours);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
