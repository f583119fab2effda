/* ledger_log.c -- see ledger_log.h.
 *
 * The fields of a line add up to its Total: Reaching = ttsp + lag, At = cleanup +
 * op, Leaving = leave.  "runnable" is the number of tickets issued, as HotSpot's
 * is the number of threads its first pass found running.  The table's columns:
 * sync = Reaching; vmop and total end with the last wake, as HotSpot's do.
 *
 * SPDX-License-Identifier: MIT */
#include "safepoint/ledger_log.h"

#include "base/flags.h"
#include "base/log.h"

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

int ledger_log_format(const struct stop_record *r, char *text_out, size_t bytes)
{
    long long since = r->previous_woken_ns == 0
                          ? 0
                          : (long long)(r->stamp[LEDGER_STAMP_begin] - r->previous_woken_ns);
    return snprintf(text_out, bytes,
                    "Safepoint \"%s\", Time since last: %lld ns, Reaching safepoint: %lld ns, "
                    "At safepoint: %lld ns, Leaving safepoint: %lld ns, Total: %lld ns, "
                    "Threads: %u runnable, %u total",
                    operation_name(r->operation), since, reaching(r),
                    span(r, LEDGER_SPAN_cleanup) + span(r, LEDGER_SPAN_op),
                    span(r, LEDGER_SPAN_leave), span(r, LEDGER_SPAN_total), r->tickets,
                    r->participants);
}

static void log_row(const struct stop_record *r)
{
    static unsigned rows;
    if (rows++ % ROWS_PER_HEADER == 0)
        log_line(LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO,
                 "VM Operation                 [ threads: total initial_running ]"
                 "[ time:       sync    vmop      total ] page_trap_count");
    log_line(LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO,
             "%-28s [       %8u        %8u ][       %10lld %10lld %10lld ]%16d",
             operation_name(r->operation), r->participants, r->tickets, reaching(r),
             span(r, LEDGER_SPAN_total) - reaching(r), span(r, LEDGER_SPAN_total), 0);
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
    if (log_is_on(LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO))
        log_row(r);
    if (log_is_on(LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO)) {
        char line[400];
        ledger_log_format(r, line, sizeof line);
        log_line(LOG_TAGS_SAFEPOINT, LOG_LEVEL_INFO, "%s", line);
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
    log_line(LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO, "Maximum sync time  %lld ns",
             (long long)sums->most_reaching_ns);
    log_line(LOG_TAGS_SAFEPOINT_STATS, LOG_LEVEL_INFO,
             "Maximum vm operation time (except for Exit VM operation)  %lld ns",
             (long long)sums->most_vmop_ns);
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
