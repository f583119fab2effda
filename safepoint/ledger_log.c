/* ledger_log.c -- see ledger_log.h.
 *
 * The fields of a line add up to its Total, in every dialect.  "runnable" is the number of
 * tickets issued, as HotSpot's is the number of threads its first pass found running.
 *
 *   dialect   as            one stop                            the table
 *   11        11.0          four lines, in seconds              sync cleanup vmop total
 *   17        17.0.8 to 17  Reaching Cleanup At                 sync cleanup vmop total
 *   21        21.0.7 to 21  Reaching Cleanup At Leaving         sync cleanup vmop total
 *   25        25            Reaching At Leaving, and Threads    sync vmop total
 *
 *   Reaching = sync = ttsp + lag     Cleanup = cleanup
 *   At       = op (21), op + leave (17), cleanup + op (25)
 *   Leaving  = leave
 *   vmop     = the rest of total: op + leave, with cleanup in 25
 * A JDK 11 has no such table; its column for 17 stands in.
 *
 * SPDX-License-Identifier: MIT */
#include "safepoint/ledger_log.h"

#include "base/flags.h"
#include "base/log.h"
#include "base/os.h"

#include <stdio.h>

#define ROWS_PER_HEADER 30 /* as HotSpot */

static long long span(const struct stop_record *r, enum ledger_span s)
{
    return (long long)stop_record_span(r, s);
}

static long long reaching(const struct stop_record *r)
{
    return span(r, LEDGER_SPAN_ttsp) + span(r, LEDGER_SPAN_lag);
}

static long long since_last(const struct stop_record *r)
{
    return r->previous_woken_ns == 0
               ? 0
               : (long long)(r->stamp[LEDGER_STAMP_begin] - r->previous_woken_ns);
}

/* --- one stop ---------------------------------------------------------------------------- */

int ledger_log_format(enum xlog_dialect dialect, const struct stop_record *r, char *text_out,
                      size_t bytes)
{
    long long cleanup = span(r, LEDGER_SPAN_cleanup), op = span(r, LEDGER_SPAN_op),
              leave = span(r, LEDGER_SPAN_leave);
    char cleanup_text[48] = "", leaving_text[48] = "", threads_text[64] = "";
    if (dialect == XLOG_DIALECT_17 || dialect == XLOG_DIALECT_21)
        snprintf(cleanup_text, sizeof cleanup_text, "Cleanup: %lld ns, ", cleanup);
    if (dialect == XLOG_DIALECT_21 || dialect == XLOG_DIALECT_25)
        snprintf(leaving_text, sizeof leaving_text, "Leaving safepoint: %lld ns, ", leave);
    if (dialect == XLOG_DIALECT_25)
        snprintf(threads_text, sizeof threads_text, ", Threads: %u runnable, %u total", r->tickets,
                 r->participants);
    long long at = dialect == XLOG_DIALECT_17   ? op + leave
                   : dialect == XLOG_DIALECT_21 ? op
                                                : cleanup + op;
    return snprintf(text_out, bytes,
                    "Safepoint \"%s\", Time since last: %lld ns, Reaching safepoint: %lld ns, "
                    "%sAt safepoint: %lld ns, %sTotal: %lld ns%s",
                    operation_name(r->operation), since_last(r), reaching(r), cleanup_text, at,
                    leaving_text, span(r, LEDGER_SPAN_total), threads_text);
}

static double seconds(long long ns) { return (double)ns / 1e9; }

/* Four lines, at the times of their events. */
static void log_stop_as_11(const struct stop_record *r)
{
    uint64_t begin = r->stamp[LEDGER_STAMP_begin], end = r->stamp[LEDGER_STAMP_woken];
    log_line_of(XLOG_DIALECT_11, begin, LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO,
                "Application time: %.7f seconds", seconds(since_last(r)));
    log_line_of(XLOG_DIALECT_11, begin, LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO,
                "Entering safepoint region: %s", operation_name(r->operation));
    log_line_of(XLOG_DIALECT_11, end, LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO,
                "Leaving safepoint region");
    log_line_of(XLOG_DIALECT_11, end, LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO,
                "Total time for which application threads were stopped: %.7f seconds, Stopping "
                "threads took: %.7f seconds",
                seconds(span(r, LEDGER_SPAN_total)), seconds(reaching(r)));
}

static void log_stop(enum xlog_dialect dialect, const struct stop_record *r)
{
    char line[400];
    if (dialect == XLOG_DIALECT_11) {
        log_stop_as_11(r);
        return;
    }
    ledger_log_format(dialect, r, line, sizeof line);
    log_line_of(dialect, os_now_ns(), LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO, "%s", line);
}

/* --- the table ------------------------------------------------------------------------------ */

const char *ledger_log_header(enum xlog_dialect dialect)
{
    return dialect == XLOG_DIALECT_25
               ? "VM Operation                 [ threads: total initial_running ]"
                 "[ time:       sync    vmop      total ] page_trap_count"
               : "VM Operation                 [ threads: total initial_running ]"
                 "[ time:       sync    cleanup       vmop      total ] page_trap_count";
}

int ledger_log_row(enum xlog_dialect dialect, const struct stop_record *r, char *text_out,
                   size_t bytes)
{
    char cleanup_text[24] = "";
    long long total = span(r, LEDGER_SPAN_total), vmop = total - reaching(r);
    if (dialect != XLOG_DIALECT_25) {
        snprintf(cleanup_text, sizeof cleanup_text, "%10lld ", span(r, LEDGER_SPAN_cleanup));
        vmop -= span(r, LEDGER_SPAN_cleanup);
    }
    return snprintf(text_out, bytes,
                    "%-28s [       %8u        %8u ][       %10lld %s%10lld %10lld ]%16d",
                    operation_name(r->operation), r->participants, r->tickets, reaching(r),
                    cleanup_text, vmop, total, 0);
}

static void log_row(enum xlog_dialect dialect, const struct stop_record *r)
{
    static unsigned rows[LOG_DIALECTS];
    char row[200];
    uint64_t now = os_now_ns();
    if (rows[dialect]++ % ROWS_PER_HEADER == 0)
        log_line_of(dialect, now, LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO, "%s",
                    ledger_log_header(dialect));
    ledger_log_row(dialect, r, row, sizeof row);
    log_line_of(dialect, now, LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO, "%s", row);
}

static void log_stages(const struct stop_record *r)
{
    char doing[96];
    stop_record_last_doing(r, doing, sizeof doing);
    log_line(
        LOG_TAGS_SAFEPOINT, LOG_LEVEL_DEBUG,
        "Last thread \"%s\": %s, queued: %lld ns, prepare: %lld ns, arm: %lld ns, scan: %lld ns, "
        "ttsp: %lld ns, lag: %lld ns, "
        "cleanup: %lld ns, op: %lld ns, wake: %lld ns, resume: %lld ns, arrived: %u, "
        "already safe: %u, by look: %u, carried: %u, requests: %u",
        stop_record_last_thread(r), doing, span(r, LEDGER_SPAN_queued),
        span(r, LEDGER_SPAN_prepare), span(r, LEDGER_SPAN_arm), span(r, LEDGER_SPAN_scan),
        span(r, LEDGER_SPAN_ttsp), span(r, LEDGER_SPAN_lag), span(r, LEDGER_SPAN_cleanup),
        span(r, LEDGER_SPAN_op), span(r, LEDGER_SPAN_wake), span(r, LEDGER_SPAN_resume),
        r->arrivals, r->already_safe, r->by_look, r->carried, r->requests);
}

void ledger_log_stop(const struct stop_record *r)
{
    if (!flags->safepoint_recording)
        return; /* figures of stamps that were not taken would be wrong */
    for (int d = 0; d < LOG_DIALECTS; d++) {
        if (log_dialect_is_on(d, LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO))
            log_row(d, r);
        if (log_dialect_is_on(d, LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO))
            log_stop(d, r);
    }
    if (log_is_on(LOG_TAGS_SAFEPOINT, LOG_LEVEL_DEBUG))
        log_stages(r);
}

static void log_percentiles(const char *what, const struct hist *h)
{
    static const double percents[] = { 50, 90, 99, 99.9 };
    char text[200];
    int n = snprintf(text, sizeof text, "%-10s", what);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        uint64_t ns;
        if (hist_percentile(h, percents[i], &ns))
            n += snprintf(text + n, sizeof text - (size_t)n, " p%g %llu ns,", percents[i],
                          (unsigned long long)ns);
    }
    snprintf(text + n, sizeof text - (size_t)n, " max %llu ns, mean %.0f ns, %llu samples",
             (unsigned long long)hist_max(h), hist_mean(h), (unsigned long long)hist_count(h));
    log_line(LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO, "%s", text);
    if (h->overflow)
        log_line(LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO, "%s: overflow=%llu", what,
                 (unsigned long long)h->overflow);
}

static void log_maxima(enum xlog_dialect dialect, const struct ledger_sums *sums)
{
    bool has_cleanup = dialect != XLOG_DIALECT_25; /* a column of its own */
    uint64_t now = os_now_ns();
    log_line_of(dialect, now, LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO,
                "Maximum sync time  %lld ns", (long long)sums->most_reaching_ns);
    if (has_cleanup)
        log_line_of(dialect, now, LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO,
                    "Maximum cleanup time  %lld ns", (long long)sums->most_cleanup_ns);
    log_line_of(dialect, now, LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO,
                "Maximum vm operation time (except for Exit VM operation)  %lld ns",
                (long long)(has_cleanup ? sums->most_op_and_leave_ns : sums->most_vmop_ns));
}

void ledger_log_summary(const struct ledger_sums *sums)
{
    if (!log_is_on(LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO))
        return;
    for (int k = 0; k < OPERATION_KINDS; k++)
        if (sums->per_operation[k])
            log_line(LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO, "%-28s%10llu", operation_name(k),
                     (unsigned long long)sums->per_operation[k]);
    if (!flags->safepoint_recording) {
        log_line(LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO, "Self-audit: off, nothing was recorded");
        return;
    }
    for (int d = 0; d < LOG_DIALECTS; d++)
        log_maxima(d, sums);
    for (int s = 0; s < LEDGER_SPANS; s++)
        if (hist_count(&sums->span[s]))
            log_percentiles(ledger_span_rows[s].name, &sums->span[s]);
    struct ledger_audit audit = ledger_audit(sums);
    log_line(LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO,
             "Self-audit: %s, %llu arrivals + %llu already safe of %llu, lost events: %llu%s%s",
             audit.ok ? "ok" : "FAILED", (unsigned long long)audit.arrivals,
             (unsigned long long)audit.already_safe, (unsigned long long)audit.expected,
             (unsigned long long)audit.lost_events, audit.ok ? "" : ", ", audit.why);
}
