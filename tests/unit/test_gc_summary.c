/* test_gc_summary.c -- what all collections of a program came to, in the log and as a table.
 *
 * Read next: gc/gc_figures.c, tools/run/gc_summary.c.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/gc_figures.h"
#include "tests/unit/gc_log_tests.h"
#include "tools/run/gc_summary.h"

/* So many pauses of 1, 2, 3 ... ms, in 10 s. */
static const struct collection_totals *totals_of(uint64_t collections)
{
    static struct collection_totals t;
    memset(&t, 0, sizeof t);
    t.since_ns = START_NS;
    t.collections = collections;
    for (uint64_t i = 0; i < collections; i++) {
        t.per_cause[i % 5]++;
        hist_record(&t.pause_ns, (i + 1) * MS);
    }
    t.allocated_bytes = collections * 300 * MIB;
    t.tlab_waste_bytes = collections * 3 * MIB;
    t.tlab_refills = collections * 1200;
    t.moved_bytes = collections * 7 * MIB;
    t.weak_cleared = collections * 2;
    t.user_ns = collections * 2 * MS;
    t.system_ns = collections * MS;
    t.verify_ns = collections == 5 ? 250 * MS : 0;
    return &t;
}

static const char *totals_text(uint64_t collections, uint64_t elapsed_ns)
{
    static struct gc_log_block block;
    gc_log_totals_block(totals_of(collections), START_NS + elapsed_ns, &block);
    return text_of(&block, LOG_LEVEL_INFO);
}

START_TEST(the_summary_of_no_collection_is_one_line)
{
    ck_assert_str_eq(totals_text(0, 10000 * MS), "Collections: 0\n");
}
END_TEST

START_TEST(a_few_pauses_have_a_maximum_and_no_percentile)
{
    ck_assert_str_eq(totals_text(1, 10000 * MS),
                     "Collections: 1, System.gc() 1\n"
                     "Pauses: max 1.000ms, sum 1.000ms, 0.01% of 10.000s\n"
                     "Allocated: 300M, 30.0M/s, TLAB waste: 1.0%, refills: 1200\n"
                     "Moved: 7168K, weak references cleared: 2, User=0.00s Sys=0.00s\n");
    ck_assert_str_eq(
        totals_text(5, 10000 * MS),
        "Collections: 5, System.gc() 2, G1 Compaction Pause 1, G1 Humongous Allocation "
        "1, Diagnostic Command 1\n"
        "Pauses: max 5.000ms, sum 15.000ms, 0.15% of 10.000s\n"
        "Allocated: 1500M, 150.0M/s, TLAB waste: 1.0%, refills: 6000\n"
        "Moved: 35840K, weak references cleared: 10, User=0.01s Sys=0.01s\n"
        "Verification: 0.250s\n");
}
END_TEST

/* The histogram may say a little too much: HIST_RELATIVE_ERROR. */
START_TEST(a_thousand_pauses_have_percentiles)
{
    struct gc_figures f = gc_figures_of(totals_of(1000), START_NS + 1000000 * MS);
    static const double expected_ms[] = { 500, 900, 990 };
    for (int i = 0; i < GC_FIGURES_PERCENTILES; i++) {
        ck_assert(f.pause[i].is_known);
        double is_ms = (double)f.pause[i].ns / 1e6;
        ck_assert_double_ge(is_ms, expected_ms[i]);
        ck_assert_double_le(is_ms, expected_ms[i] * (1 + HIST_RELATIVE_ERROR));
    }
    const char *text = totals_text(1000, 1000000 * MS);
    ck_assert_ptr_nonnull(strstr(text, "Pauses: p50 50"));
    ck_assert_ptr_nonnull(
        strstr(text, "ms, max 1000.000ms, sum 500500.000ms, 50.05% of 1000.000s"));
    f = gc_figures_of(totals_of(20), START_NS + MS);
    ck_assert(f.pause[0].is_known && !f.pause[1].is_known && !f.pause[2].is_known);
}
END_TEST

START_TEST(without_a_start_there_is_no_share_and_no_rate)
{
    struct collection_totals t = *totals_of(1);
    struct gc_log_block block;
    t.since_ns = 0;
    gc_log_totals_block(&t, START_NS, &block);
    must_have(&block, "Pauses: max 1.000ms, sum 1.000ms");
    must_have(&block, "Allocated: 300M, TLAB waste: 1.0%, refills: 1200");
    t.since_ns = START_NS + 1; /* a clock that went back would be another bug: nothing is divided */
    ck_assert_uint_eq(gc_figures_of(&t, START_NS).elapsed_ns, 0);
}
END_TEST

START_TEST(bytes_are_told_in_the_unit_that_hotspot_picks)
{
    static const struct {
        uint64_t value;
        const char *text;
    } rows[] = {
        { 0, "0B" },           { 100 * KIB - 1, "102399B" },
        { 100 * KIB, "100K" }, { 100 * MIB - 1, "102399K" },
        { 100 * MIB, "100M" }, { 100 * GIB - 1, "102399M" },
        { 100 * GIB, "100G" }, { UINT64_MAX, "17179869183G" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[32];
        gc_figures_bytes(rows[i].value, text, sizeof text);
        ck_assert_str_eq(text, rows[i].text);
    }
}
END_TEST

/* --- the table ----------------------------------------------------------------------------- */

static const char *table_of(const struct collection_totals *totals, uint64_t now_ns)
{
    static char text[4096];
    FILE *out = fmemopen(text, sizeof text, "w");
    ck_assert_ptr_nonnull(out);
    gc_summary_print(totals, now_ns, out);
    fclose(out);
    return text;
}

START_TEST(the_table_says_the_same_with_units)
{
    ck_assert_str_eq(table_of(totals_of(0), START_NS + MS),
                     "collections                          0\n");
    ck_assert_str_eq(table_of(totals_of(5), START_NS + 10000 * MS),
                     "collections                          5\n"
                     "  System.gc()                        2\n"
                     "  G1 Compaction Pause                1\n"
                     "  G1 Humongous Allocation            1\n"
                     "  Diagnostic Command                 1\n"
                     "pause, longest                  5.00ms   too few for percentiles\n"
                     "pauses, sum                     15.0ms   0.15 % of 10.0s\n"
                     "CPU time in pauses              15.0ms   user 10.0ms, system 5.00ms\n"
                     "moved                           35840K\n"
                     "weak references cleared             10\n"
                     "verification                     250ms   part of the pauses\n"
                     "allocated                        1500M   150 M/s\n"
                     "given up in TLABs               1.00 %   of that; 6000 refills\n");
    ck_assert_ptr_nonnull(strstr(table_of(totals_of(1000), START_NS + MS), "pause, p99 "));
}
END_TEST

START_TEST(the_table_fits_80_columns_whatever_it_says)
{
    struct collection_totals t = *totals_of(1000);
    t.allocated_bytes = t.tlab_refills = t.weak_cleared = t.moved_bytes = UINT64_MAX;
    t.user_ns = t.system_ns = t.verify_ns = UINT64_C(1) << 60;
    size_t column = 0;
    for (const char *c = table_of(&t, START_NS + 1); *c; c++) {
        column = *c == '\n' ? 0 : column + 1;
        ck_assert_uint_le(column, 80);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gc_summary");
    TCase *log = add_case(suite, "in the log");
    tcase_add_test(log, the_summary_of_no_collection_is_one_line);
    tcase_add_test(log, a_few_pauses_have_a_maximum_and_no_percentile);
    tcase_add_test(log, a_thousand_pauses_have_percentiles);
    tcase_add_test(log, without_a_start_there_is_no_share_and_no_rate);
    tcase_add_test(log, bytes_are_told_in_the_unit_that_hotspot_picks);
    TCase *table = add_case(suite, "as a table");
    tcase_add_test(table, the_table_says_the_same_with_units);
    tcase_add_test(table, the_table_fits_80_columns_whatever_it_says);
    return run_suite(suite);
}
