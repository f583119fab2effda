/* report_table.c -- see report.h.
 *
 * Columns: name 18, stops 6, seven figures of 7, then who was last most often,
 * cut so that a line has at most 100 columns.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/ttsp/report.h"

#include "tools/text.h"

#include <stdarg.h>
#include <string.h>

#define FIGURE_BYTES   16
#define NAME_COLUMNS   18
#define LAST_COLUMNS   25
#define REPORT_COLUMNS 100

static void percentile_text(char *text_out, const struct hist *h, double percent)
{
    uint64_t ns;
    if (hist_percentile(h, percent, &ns))
        text_ns(text_out, FIGURE_BYTES, ns);
    else
        snprintf(text_out, FIGURE_BYTES, "-");
}

static void max_text(char *text_out, const struct hist *h)
{
    if (hist_count(h))
        text_ns(text_out, FIGURE_BYTES, hist_max(h));
    else
        snprintf(text_out, FIGURE_BYTES, "-");
}

/* A file may have a longer name than the column has room for. */
struct column_name {
    char text[NAME_COLUMNS + 1];
};

static struct column_name column_name(const struct scenario *scenario)
{
    struct column_name name;
    size_t bytes = NAME_COLUMNS - 2;
    if (strlen(scenario->name) <= NAME_COLUMNS) {
        snprintf(name.text, sizeof name.text, "%s", scenario->name);
        return name;
    }
    while (bytes > 0 && ((unsigned char)scenario->name[bytes] & 0xc0) == 0x80)
        bytes--; /* not within a character of UTF-8 */
    snprintf(name.text, sizeof name.text, "%.*s..", (int)bytes, scenario->name);
    return name;
}

void report_table_head(FILE *out)
{
    fprintf(out, "%-18s %6s %20s %6s %6s %6s %6s\n", "", "", "------- TTSP -------", "lag", "op",
            "leave", "resume");
    fprintf(out, "%-18s %6s %6s%7s%7s%7s%7s%7s%7s %s\n", "scenario", "stops", "p50", "p99", "max",
            "p50", "p50", "p50", "p99", "last thread: what");
}

static const struct ledger_group *commonest(const struct ledger_sums *sums)
{
    const struct ledger_group *best = NULL;
    for (uint32_t i = 0; i < sums->group_count; i++)
        if (!best || sums->groups[i].count > best->count)
            best = &sums->groups[i];
    return best;
}

static void last_text(char *text_out, size_t bytes, const struct ledger_sums *sums)
{
    const struct ledger_group *g = commonest(sums);
    if (!g) {
        snprintf(text_out, bytes, "-");
        return;
    }
    unsigned percent = (unsigned)(100 * g->count / sums->stops);
    if (percent == 100)
        snprintf(text_out, bytes, "%s: %s", g->thread, g->kind);
    else
        snprintf(text_out, bytes, "%s: %s %u%%", g->thread, g->kind, percent);
}

void report_table_row(FILE *out, const struct scenario *scenario,
                      const struct scenario_result *result)
{
    const struct ledger_sums *sums = &result->sums;
    const struct hist *ttsp = &sums->span[LEDGER_SPAN_ttsp];
    char figure[7][FIGURE_BYTES], last[100];
    if (!result->is_complete) {
        fprintf(out, "%-18s  %.*s\n", column_name(scenario).text, REPORT_COLUMNS - 20,
                result->failure);
        return;
    }
    percentile_text(figure[0], ttsp, 50);
    percentile_text(figure[1], ttsp, 99);
    max_text(figure[2], ttsp);
    percentile_text(figure[3], &sums->span[LEDGER_SPAN_lag], 50);
    percentile_text(figure[4], &sums->span[LEDGER_SPAN_op], 50);
    percentile_text(figure[5], &sums->span[LEDGER_SPAN_leave], 50);
    percentile_text(figure[6], &sums->span[LEDGER_SPAN_resume], 99);
    last_text(last, sizeof last, sums);
    fprintf(out, "%-18s %6llu %6s %6s %6s %6s %6s %6s %6s %.*s\n", column_name(scenario).text,
            (unsigned long long)sums->stops, figure[0], figure[1], figure[2], figure[3], figure[4],
            figure[5], figure[6], LAST_COLUMNS, last);
}

/* One more line for the scenario above, cut at the edge of the report. */
__attribute__((format(printf, 2, 3))) static void note_more(FILE *out, const char *format, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    fprintf(out, "  %28s%.*s\n", "", REPORT_COLUMNS - 30, text);
}

static void note_worst(FILE *out, const struct scenario *scenario, const struct ledger_group *w)
{
    char ttsp[FIGURE_BYTES];
    size_t room = REPORT_COLUMNS - 32 - strlen(w->thread), first = strlen(w->example);
    const char *place = strstr(w->example, ", at ");
    if (first > room && place)
        first = (size_t)(place - w->example) + 1; /* the place is worth a line of its own */
    text_ns(ttsp, sizeof ttsp, w->worst_ttsp_ns > 0 ? (uint64_t)w->worst_ttsp_ns : 0);
    fprintf(out, "  %-18s %7s  %s: %.*s\n", column_name(scenario).text, ttsp, w->thread,
            (int)(first < room ? first : room), w->example);
    if (place && w->example[first])
        note_more(out, "%s", place + 2);
}

static void note_one(FILE *out, const struct scenario *scenario,
                     const struct scenario_result *result)
{
    const struct ledger_sums *sums = &result->sums;
    if (sums->worst.count)
        note_worst(out, scenario, &sums->worst);
    if (result->has_program_ended) {
        char elapsed[FIGURE_BYTES];
        text_ns(elapsed, sizeof elapsed, result->elapsed_ns);
        note_more(out, "the program ended after %s of probing", elapsed);
    }
    if (sums->missed)
        note_more(out, "%llu probes were answered late, together with a later one",
                  (unsigned long long)sums->missed);
    if (sums->carried)
        note_more(out, "%llu waits at the gate lasted into the next stop",
                  (unsigned long long)sums->carried);
    if (result->stops_at_gate * 100 > sums->stops) {
        note_more(out, "in %llu stops threads had not yet left the gate of the stop before;",
                  (unsigned long long)result->stops_at_gate);
        note_more(out, "--every is shorter than their resume");
    }
    if (sums->ungrouped)
        note_more(out, "%llu stops had yet other last threads, which are not listed",
                  (unsigned long long)sums->ungrouped);
    if (result->failure[0])
        fprintf(out, "  %s FAILED: %.*s\n", column_name(scenario).text,
                REPORT_COLUMNS - 11 - (int)strlen(column_name(scenario).text), result->failure);
}

void report_notes(FILE *out, const struct scenario *const *run,
                  const struct scenario_result *results, size_t count)
{
    fprintf(out, "\nThe worst stop of each, its last thread and what that was doing when armed:\n");
    for (size_t i = 0; i < count; i++)
        if (results[i].is_complete)
            note_one(out, run[i], &results[i]);
    fprintf(out, "\n- = too few stops for that percentile (p99 needs 1000, p50 needs 20) or nobody "
                 "waited.\n");
}

/* The highest percentile that both have samples enough for. */
static bool common_percentile(const struct hist *a, const struct hist *b, double *percent_out,
                              uint64_t *a_out, uint64_t *b_out)
{
    static const double percents[] = { 99, 90, 50 };
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        *percent_out = percents[i];
        if (hist_percentile(a, percents[i], a_out) && hist_percentile(b, percents[i], b_out))
            return true;
    }
    return false;
}

struct cure_figures {
    double percent;
    const char *disease, *cure, *ratio;
};

/* In one line, or in two where names are long. */
static void write_cure(FILE *out, const struct scenario *disease, const struct scenario *cure,
                       struct cure_figures figures)
{
    char who[64], what[128];
    snprintf(who, sizeof who, "%s against %s:", column_name(disease).text, column_name(cure).text);
    snprintf(what, sizeof what, "p%g TTSP at \"%s\" %s, then %s: %s times.", figures.percent,
             disease->focus, figures.disease, figures.cure, figures.ratio);
    bool fits = strlen(who) + 1 + strlen(what) <= REPORT_COLUMNS;
    fprintf(out, "%s%s%s\n", who, fits ? " " : "\n  ", what);
}

void report_cures(FILE *out, const struct scenario *const *run,
                  const struct scenario_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; run[i]->cure && k < count; k++) {
            double percent;
            uint64_t disease, cure;
            char disease_text[FIGURE_BYTES], cure_text[FIGURE_BYTES], ratio[FIGURE_BYTES];
            if (strcmp(run[k]->name, run[i]->cure) != 0 ||
                !common_percentile(&results[i].focus, &results[k].focus, &percent, &disease, &cure))
                continue;
            text_ns(disease_text, sizeof disease_text, disease);
            text_ns(cure_text, sizeof cure_text, cure);
            text_ratio(ratio, sizeof ratio, (double)disease / (double)(cure ? cure : 1));
            write_cure(out, run[i], run[k],
                       (struct cure_figures){ percent, disease_text, cure_text, ratio });
        }
    }
}
