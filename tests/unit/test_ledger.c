/* test_ledger.c -- the account of a stop: field report C33, the log lines, the audit.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/mutators.h"

#include "safepoint/ledger_log.h"

#include <stdio.h>

#define C33_STOPS (TESTS_ARE_SLOW ? 8 : 50)
#define C33_DELAY (40 * MS)

static struct records records;
static struct mutator mutators[8];

static void start_eight(void)
{
    ledger_set_sink(keep_record, &records);
    start_stops_or_die(NULL);
    for (int i = 0; i < 8; i++)
        mutator_start(&mutators[i], "sleeper", sleep_until_quit);
    os_sleep_ns(20 * MS);
}

static void end_eight(void)
{
    stops_exit();
    ck_assert_msg(ledger_audit(ledger_totals()).ok, "%s", ledger_audit(ledger_totals()).why);
}

static int64_t median_of(enum ledger_span span)
{
    return (int64_t)hist_value_at(&ledger_totals()->span[span], 50);
}

/* --- C33: a delay shows in its own field and nowhere else ---------------------------- */

struct c33_case {
    const char *name;
    int stage; /* of the coordinator; -1 = a slow mutator, -2 = queued, -3 = control: none */
    int grows; /* the span that must; -1 = none */
};

static const struct c33_case c33_cases[] = {
    { "nothing (control)", -3, -1 },
    { "lock wait before arming", COORDINATOR_STAGE_LOCK, LEDGER_SPAN_ttsp },
    { "slow mutator", -1, LEDGER_SPAN_ttsp },
    { "clean-up", COORDINATOR_STAGE_CLEANUP, LEDGER_SPAN_cleanup },
    { "operation", COORDINATOR_STAGE_OPERATION, LEDGER_SPAN_op },
    { "release", COORDINATOR_STAGE_WAKE, LEDGER_SPAN_leave },
    { "queued behind another", -2, LEDGER_SPAN_queued },
};

/* Without polls for as long as the delay, then one poll. */
static void poll_seldom(struct mutator *m, struct participant *self)
{
    while (!load_acquire(&m->quit)) {
        if (load_acquire(&m->go)) {
            spin_for(C33_DELAY);
            store_release(&m->go, 0);
        }
        participant_poll(self);
    }
}

static void sleep_in_the_stop(void *unused)
{
    (void)unused;
    os_sleep_ns(C33_DELAY);
}

static void *force_the_one_in_front(void *argument)
{
    store_release((_Atomic uint32_t *)argument, 1);
    stops_force(sleep_in_the_stop, NULL);
    return NULL;
}

static void one_stop_behind_another(void)
{
    pthread_t front;
    _Atomic uint32_t is_asking = 0;
    ck_assert_int_eq(pthread_create(&front, NULL, force_the_one_in_front, &is_asking), 0);
    while (!load_acquire(&is_asking))
        os_cpu_pause();
    os_sleep_ns(1 * MS);
    uint32_t before = records.count;
    (void)before;
    stops_force(NULL, NULL);
    pthread_join(front, NULL);
}

/* The smallest and the largest of a span over the stops that count. */
static void check_field(const struct c33_case *c, enum ledger_span span)
{
    int64_t least = INT64_MAX, median = 0;
    static int64_t sorted[MOST_RECORDS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < records.count; i++) {
        /* Behind another: every second record is the one in front. */
        if (c->stage == -2 &&
            stop_record_span(&records.record[i], LEDGER_SPAN_op) > 20 * (int64_t)MS)
            continue;
        sorted[n++] = stop_record_span(&records.record[i], span);
    }
    ck_assert_uint_ge(n, C33_STOPS / 2);
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && sorted[k] < sorted[k - 1]; k--) {
            int64_t swap = sorted[k];
            sorted[k] = sorted[k - 1];
            sorted[k - 1] = swap;
        }
    least = sorted[0];
    median = sorted[n / 2];
    const char *name = ledger_span_rows[span].name;
    printf(" %s %.3f ms,", name, (double)median / 1e6);
    if (c->grows == (int)span)
        ck_assert_msg(median >= (int64_t)(C33_DELAY * 9 / 10) && least >= 0,
                      "%s: %s should grow by 40 ms, median %lld ns of %u", c->name, name,
                      (long long)median, n);
    else
        ck_assert_msg(median <= (int64_t)(C33_DELAY / 4) && least >= 0,
                      "%s: %s should stay small, median %lld ns of %u", c->name, name,
                      (long long)median, n);
}

START_TEST(c33_a_delay_shows_in_its_own_field_and_nowhere_else)
{
    const struct c33_case *c = &c33_cases[_i];
    start_eight();
    struct mutator slow = { 0 };
    if (c->stage == -1)
        mutator_start(&slow, "slow", poll_seldom);
    if (c->stage >= 0)
        coordinator_inject_delay(c->stage, C33_DELAY);
    for (int k = 0; k < C33_STOPS; k++) {
        store_release(&slow.go, c->stage == -1);
        if (c->stage == -1)
            os_sleep_ns(1 * MS); /* it has begun its long piece */
        if (c->stage == -2)
            one_stop_behind_another();
        else
            stops_force(NULL, NULL);
    }
    if (c->stage == -1)
        mutator_end(&slow);
    coordinator_inject_delay(COORDINATOR_STAGE_OPERATION, 0);
    end_eight();
    static const enum ledger_span fields[] = { LEDGER_SPAN_queued, LEDGER_SPAN_ttsp,
                                               LEDGER_SPAN_lag,    LEDGER_SPAN_cleanup,
                                               LEDGER_SPAN_op,     LEDGER_SPAN_leave };
    printf("%-24s", c->name);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        check_field(c, fields[i]);
    printf(" medians of %u stops\n", C33_STOPS);
    for (uint32_t i = 0; i < records.count; i++) {
        const struct stop_record *r = &records.record[i];
        int64_t parts =
            stop_record_span(r, LEDGER_SPAN_ttsp) + stop_record_span(r, LEDGER_SPAN_lag) +
            stop_record_span(r, LEDGER_SPAN_cleanup) + stop_record_span(r, LEDGER_SPAN_op) +
            stop_record_span(r, LEDGER_SPAN_leave);
        ck_assert_msg(parts == stop_record_span(r, LEDGER_SPAN_total), "stop %u: %lld != %lld ns",
                      i, (long long)parts, (long long)stop_record_span(r, LEDGER_SPAN_total));
    }
}
END_TEST

/* --- the lines ------------------------------------------------------------------------ */

struct parsed_line {
    char operation[40];
    long long since, reaching, at, leaving, total;
    unsigned runnable, threads;
};

static int parse_line(const char *line, struct parsed_line *p)
{
    const char *text = strstr(line, "Safepoint \"");
    return text ? sscanf(
                      text,
                      "Safepoint \"%39[^\"]\", Time since last: %lld ns, Reaching safepoint: %lld "
                      "ns, At safepoint: %lld ns, Leaving safepoint: %lld ns, Total: %lld ns, "
                      "Threads: %u runnable, %u total",
                      p->operation, &p->since, &p->reaching, &p->at, &p->leaving, &p->total,
                      &p->runnable, &p->threads)
                : 0;
}

/* A line of OpenJDK 25.0.5, as it came. */
static const char *const hotspot_line =
    "[0.038s][info ][safepoint      ] Safepoint \"ThreadDump\", Time since last: 18723670 ns, "
    "Reaching "
    "safepoint: 94822 ns, At safepoint: 45468 ns, Leaving safepoint: 14823 ns, Total: 155113 ns, "
    "Threads: 2 runnable, 12 total";

START_TEST(the_line_is_the_one_of_hotspot_25)
{
    struct parsed_line theirs, ours;
    char line[400];
    struct stop_record r = { .operation = OPERATION_THREAD_DUMP,
                             .previous_woken_ns = 1000000,
                             .tickets = 2,
                             .participants = 12 };
    ck_assert_int_eq(parse_line(hotspot_line, &theirs), 8);
    r.stamp[LEDGER_STAMP_begin] = 1000000 + (uint64_t)theirs.since;
    r.stamp[LEDGER_STAMP_last_arrival] = r.stamp[LEDGER_STAMP_begin] + 94000;
    r.stamp[LEDGER_STAMP_noticed] = r.stamp[LEDGER_STAMP_begin] + 94822;
    r.stamp[LEDGER_STAMP_op_begin] = r.stamp[LEDGER_STAMP_noticed] + 468;
    r.stamp[LEDGER_STAMP_op_end] = r.stamp[LEDGER_STAMP_op_begin] + 45000;
    r.stamp[LEDGER_STAMP_woken] = r.stamp[LEDGER_STAMP_op_end] + 14823;
    ledger_log_format(XLOG_DIALECT_25, &r, line, sizeof line);
    ck_assert_str_eq(line, strstr(hotspot_line, "Safepoint"));
    ck_assert_int_eq(parse_line(line, &ours), 8);
    ck_assert_int_eq(ours.reaching + ours.at + ours.leaving, ours.total);
}
END_TEST

static const char *log_path(char *path_out, size_t bytes, int fd)
{
    snprintf(path_out, bytes, "/proc/self/fd/%d", fd);
    return path_out;
}

START_TEST(the_sums_can_be_recomputed_from_the_log)
{
    char option[200], path[64], line[600];
    struct log_error error;
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    log_start(os_now_ns());
    snprintf(option, sizeof option, "-Xlog:safepoint*:file=%s",
             log_path(path, sizeof path, fileno(file)));
    ck_assert_msg(log_configure(option, &error) == ERR_OK, "%s", error.message);
    ck_assert_int_eq(stops_start(), ERR_OK);
    mutator_start(&mutators[0], "poller", poll_until_quit);
    for (int k = 0; k < 200; k++)
        stops_force(NULL, NULL);
    mutator_end(&mutators[0]);
    stops_exit();
    log_close();
    long long count = 0, most_reaching = 0, sum_total = 0, summary_sync = -1;
    unsigned rows = 0, headers = 0;
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        struct parsed_line p;
        char *row = strstr(line, "Maximum sync time  ");
        if (row)
            summary_sync = atoll(row + strlen("Maximum sync time  "));
        headers += strstr(line, "VM Operation                 [ threads: total") != NULL;
        rows += strstr(line, "] ForceSafepoint               [") != NULL;
        if (parse_line(line, &p) != 8)
            continue;
        count++;
        sum_total += p.total;
        if (p.reaching > most_reaching)
            most_reaching = p.reaching;
        ck_assert_msg(p.reaching + p.at + p.leaving == p.total, "does not add up: %s", line);
    }
    const struct ledger_sums *sums = ledger_totals();
    ck_assert_int_eq(count, 200);
    ck_assert_uint_eq(sums->stops, 200);
    ck_assert_uint_eq(rows, 200);
    ck_assert_uint_eq(headers, 7); /* one every 30 rows */
    ck_assert_int_eq(most_reaching, sums->most_reaching_ns);
    ck_assert_int_eq(summary_sync, most_reaching);
    ck_assert_int_eq(sum_total, (long long)(hist_mean(&sums->span[LEDGER_SPAN_total]) * 200 + 0.5));
}
END_TEST

/* --- the audit -------------------------------------------------------------------------- */

START_TEST(the_audit_notices_a_ledger_that_is_broken_on_purpose)
{
    static const char *const faults[] = { "none", "lost-arrival", "bad-span", "hist-count" };
    char flag[64];
    snprintf(flag, sizeof flag, "-XX:InjectLedgerFault=%s", faults[_i]);
    start_stops_or_die(flag);
    mutator_start(&mutators[0], "poller", poll_until_quit);
    for (int k = 0; k < 30; k++)
        stops_force(NULL, NULL);
    mutator_end(&mutators[0]);
    stops_exit();
    struct ledger_audit audit = ledger_audit(ledger_totals());
    ck_assert_msg(audit.ok == (_i == 0), "%s: audit says %s (%s)", faults[_i],
                  audit.ok ? "ok" : "not ok", audit.why);
    ck_assert_msg((audit.why[0] != '\0') == (_i != 0), "%s: why is \"%s\"", faults[_i], audit.why);
}
END_TEST

START_TEST(resume_is_known_only_where_somebody_waited)
{
    start_eight(); /* all asleep: nobody waits at the gate */
    for (int k = 0; k < 30; k++)
        stops_force(NULL, NULL);
    end_eight();
    ck_assert_uint_eq(ledger_totals()->stops, 30);
    ck_assert_uint_eq(hist_count(&ledger_totals()->span[LEDGER_SPAN_resume]), 0);
    ck_assert_uint_eq(ledger_totals()->carried, 0);
    ck_assert_int_ge(median_of(LEDGER_SPAN_ttsp), 0);
}
END_TEST

START_TEST(a_waiter_that_sleeps_through_the_next_stop_is_carried)
{
    ledger_set_sink(keep_record, &records);
    start_stops_or_die(NULL);
    for (int i = 0; i < 8; i++)
        mutator_start(&mutators[i], "poller", poll_until_quit);
    for (int k = 0; k < 300; k++)
        stops_force(NULL, NULL); /* one right after the other: eight cannot all run */
    for (int i = 0; i < 8; i++)
        mutator_end(&mutators[i]);
    stops_exit();
    const struct ledger_sums *sums = ledger_totals();
    ck_assert_msg(sums->carried > 0, "nobody was carried in %llu stops",
                  (unsigned long long)sums->stops);
    ck_assert_msg(ledger_audit(sums).ok, "%s", ledger_audit(sums).why);
    ck_assert_uint_eq(sums->negative_spans, 0);
}
END_TEST

START_TEST(missed_probes_are_entered_from_their_own_instants)
{
    struct operation o;
    start_stops_or_die(NULL);
    memset(&o, 0, sizeof o);
    uint64_t first = os_now_ns() - 30 * MS;
    o.schedule = (struct operation_schedule){ first, 10 * MS, 3 };
    operation_request(&o);
    stops_exit();
    const struct hist *h = &ledger_totals()->scheduled;
    ck_assert_uint_eq(ledger_totals()->stops, 1);
    ck_assert_uint_eq(ledger_totals()->missed, 2);
    ck_assert_uint_eq(hist_count(h), 3);
    ck_assert_uint_ge(hist_max(h), 30 * MS);
    ck_assert_uint_ge(hist_min(h), 10 * MS);
    ck_assert_uint_eq(hist_max(h) - hist_min(h), 20 * MS);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ledger");
    TCase *tc = tcase_create("ledger");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, c33_a_delay_shows_in_its_own_field_and_nowhere_else, 0,
                        sizeof c33_cases / sizeof *c33_cases);
    tcase_add_test(tc, the_line_is_the_one_of_hotspot_25);
    tcase_add_test(tc, the_sums_can_be_recomputed_from_the_log);
    tcase_add_loop_test(tc, the_audit_notices_a_ledger_that_is_broken_on_purpose, 0, 4);
    tcase_add_test(tc, resume_is_known_only_where_somebody_waited);
    tcase_add_test(tc, a_waiter_that_sleeps_through_the_next_stop_is_carried);
    tcase_add_test(tc, missed_probes_are_entered_from_their_own_instants);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
