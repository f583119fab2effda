/* bench_report.c -- what was measured, as a table with verdicts and as JSON.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/bench/bench_priv.h"
#include "tools/host_json.h"
#include "tools/json_writer.h"
#include "tools/text.h"

#include <math.h>
#include <string.h>

#define FIGURE_BYTES 24

enum relation { RELATION_NONE, RELATION_RATIO, RELATION_DIFFERENCE };

/* The rounds' values, or how they relate to the baseline's; returns how many. */
static size_t rounds_of(const struct bench_row *row, enum relation relation, double *values_out)
{
    size_t n = 0;
    for (int i = 0; i < BENCH_MOST_ROUNDS; i++) {
        double value = row->value[i];
        double base = relation != RELATION_NONE && row->baseline ? row->baseline->value[i] : NAN;
        value = relation == RELATION_RATIO        ? value / base
                : relation == RELATION_DIFFERENCE ? value - base
                                                  : value;
        if (isfinite(value))
            values_out[n++] = value;
    }
    return n;
}

static double median_of(const struct bench_row *row, enum relation relation)
{
    double values[BENCH_MOST_ROUNDS];
    return bench_percentile(values, rounds_of(row, relation, values), 50);
}

/* --- the table ------------------------------------------------------------------------ */

/* Columns: name 31, without the benchmark's own; median 8, min..max 17, ratio 6, to what
 * 10, goal 23. */
#define COLUMNS "%-31s %8s %17s %6s %-10s %s\n"

static void number_text(char *text_out, double value, const char *unit)
{
    const char *sign = value < 0 ? "-" : "";
    double size = fabs(value);
    if (strcmp(unit, "ns") != 0)
        snprintf(text_out, FIGURE_BYTES, "%.1f", value);
    else if (size < 9.9995)
        snprintf(text_out, FIGURE_BYTES, "%s%.3fns", sign, size);
    else if (size < 99.95)
        snprintf(text_out, FIGURE_BYTES, "%s%.1fns", sign, size);
    else {
        snprintf(text_out, FIGURE_BYTES, "%s", sign);
        text_ns(text_out + strlen(sign), FIGURE_BYTES - strlen(sign), (uint64_t)llround(size));
    }
}

/* Of "ttsp/1-polling/bare/lag" against "ttsp/1-polling/flag/lag": "bare". */
static void short_name(char *text_out, size_t bytes, const char *base, const char *name)
{
    size_t from = 0, base_end = strlen(base), name_end = strlen(name);
    for (size_t i = 0; base[i] && base[i] == name[i]; i++)
        if (base[i] == '/')
            from = i + 1;
    size_t end = base_end;
    for (size_t back = 1; base_end - back > from && name_end - back > from; back++) {
        if (base[base_end - back] != name[name_end - back])
            break;
        if (base[base_end - back] == '/')
            end = base_end - back;
    }
    snprintf(text_out, bytes, "%.*s", (int)(end - from), base + from);
}

static bool fulfils(const struct bench_row *row, double value)
{
    return row->goal_kind == BENCH_GOAL_RATIO_AT_LEAST ? value >= row->goal : value <= row->goal;
}

/* "met" or "MISSED" by the median; "?" behind it when a quarter of the rounds or more
 * say the other thing. */
static const char *verdict(const struct bench_row *row, double *median_out)
{
    double values[BENCH_MOST_ROUNDS];
    enum relation relation = row->goal_kind == BENCH_GOAL_AT_MOST        ? RELATION_NONE
                             : row->goal_kind == BENCH_GOAL_MORE_AT_MOST ? RELATION_DIFFERENCE
                                                                         : RELATION_RATIO;
    size_t n = rounds_of(row, relation, values), others = 0;
    *median_out = bench_percentile(values, n, 50);
    bool is_met = fulfils(row, *median_out);
    for (size_t i = 0; i < n; i++)
        others += fulfils(row, values[i]) != is_met;
    bool is_unsure = others * 4 >= n && others > 0;
    return is_met ? (is_unsure ? "met?" : "met") : is_unsure ? "MISSED?" : "MISSED";
}

static void goal_text(char *text_out, size_t bytes, const struct bench_row *row)
{
    double median;
    char is[FIGURE_BYTES], goal[FIGURE_BYTES];
    const char *word = verdict(row, &median);
    number_text(is, median, row->unit);
    if (row->goal < 10)
        snprintf(goal, sizeof goal, "%gns", row->goal);
    else
        number_text(goal, row->goal, row->unit);
    switch (row->goal_kind) {
    case BENCH_GOAL_NONE:
        text_out[0] = '\0';
        break;
    case BENCH_GOAL_AT_MOST:
        snprintf(text_out, bytes, "<=%s %s", goal, word);
        break;
    case BENCH_GOAL_RATIO_AT_MOST:
        snprintf(text_out, bytes, "<=%gx %s", row->goal, word);
        break;
    case BENCH_GOAL_RATIO_AT_LEAST:
        snprintf(text_out, bytes, ">=%gx %s", row->goal, word);
        break;
    case BENCH_GOAL_MORE_AT_MOST:
        snprintf(text_out, bytes, "%s%s<=%s %s", median < 0 ? "" : "+", is, goal, word);
        break;
    }
}

static void table_row(FILE *out, const struct bench_row *row)
{
    double values[BENCH_MOST_ROUNDS];
    char median[FIGURE_BYTES], least[FIGURE_BYTES], most[FIGURE_BYTES], range[2 * FIGURE_BYTES + 2];
    char ratio[FIGURE_BYTES] = "", base[16] = "", goal[64] = "";
    size_t n = rounds_of(row, RELATION_NONE, values);
    if (n == 0)
        return; /* too few samples for this percentile */
    number_text(median, bench_percentile(values, n, 50), row->unit); /* sorts them */
    number_text(least, values[0], row->unit);
    number_text(most, values[n - 1], row->unit);
    snprintf(range, sizeof range, "%s..%s", least, most);
    if (row->baseline) {
        snprintf(ratio, sizeof ratio, "%.3g", median_of(row, RELATION_RATIO));
        short_name(base, sizeof base, row->baseline->name, row->name);
    }
    if (row->goal_kind != BENCH_GOAL_NONE)
        goal_text(goal, sizeof goal, row);
    fprintf(out, COLUMNS, strchr(row->name, '/') + 1, median, range, ratio, base, goal);
}

void bench_report_table(FILE *out, const struct bench *bench, size_t first)
{
    fprintf(out, COLUMNS, bench->running, "median", "min..max", "ratio", "to", "goal");
    for (size_t i = first; i < bench->row_count; i++)
        table_row(out, &bench->row[i]);
    fputc('\n', out);
    fflush(out);
}

void bench_report_foot(FILE *out)
{
    fputs(
        "ratio: the median of the rounds' ratios to the row named beside it, not of the medians.\n"
        "met? and MISSED?: a quarter of the rounds or more say the other thing.\n",
        out);
}

/* --- the JSON --------------------------------------------------------------------------- */

static void json_row(struct json_writer *json, const struct bench_row *row)
{
    double values[BENCH_MOST_ROUNDS];
    size_t n = rounds_of(row, RELATION_NONE, values);
    if (n == 0)
        return;
    json_writer_open_object(json, NULL);
    json_writer_string(json, "name", row->name);
    json_writer_string(json, "unit", row->unit);
    json_writer_double(json, "median", bench_percentile(values, n, 50)); /* sorts them */
    json_writer_double(json, "min", values[0]);
    json_writer_double(json, "max", values[n - 1]);
    json_writer_unsigned(json, "reps", n);
    if (row->baseline)
        json_writer_string(json, "baseline", row->baseline->name);
    else
        json_writer_null(json, "baseline");
    json_writer_double(json, "ratio", median_of(row, RELATION_RATIO)); /* null without a baseline */
    json_writer_close(json);
}

void bench_report_json(FILE *out, const struct bench *bench)
{
    struct json_writer json;
    json_writer_start(&json, out);
    json_writer_open_object(&json, NULL);
    json_writer_string(&json, "schema", "stillpoint-bench-1");
    host_json_write(&json, "host");
    json_writer_open_array(&json, "results");
    for (size_t i = 0; i < bench->row_count; i++)
        json_row(&json, &bench->row[i]);
    json_writer_close(&json);
    json_writer_close(&json);
    json_writer_end(&json);
}
