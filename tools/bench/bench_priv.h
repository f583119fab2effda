/* bench_priv.h -- what a benchmark is made of: rounds, rows, children.
 *
 * Read next: bench_zero.c (the shortest benchmark), then bench.c, bench_child.c and
 *            bench_report.c.
 * Layer:     tools/, for the files of this folder.
 *
 * A benchmark runs in rounds.  One round measures every variant once, so that two
 * variants that are compared are interleaved (A B A B): a machine that slows down for
 * a second slows both.  A row is one figure of one variant, with one value per round;
 * reported are its median, its smallest and its largest round, and its ratio to the
 * row it is compared with: the median of the rounds' ratios.
 *
 * Flags are read-only once the machinery runs, and it starts once per process: each
 * variant runs in a child of its own, and its figures come through a pipe.
 *
 * Who may call:  [command] the command's only thread   [child] a child's first thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_BENCH_BENCH_PRIV_H
#define TOOLS_BENCH_BENCH_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BENCH_MOST_ROUNDS   200
#define BENCH_MOST_ROWS     128
#define BENCH_NAME_BYTES    48
#define BENCH_FAILURE_BYTES 256

enum bench_goal_kind {
    BENCH_GOAL_NONE,
    BENCH_GOAL_AT_MOST,       /* the median itself */
    BENCH_GOAL_RATIO_AT_MOST, /* the median of the rounds' ratios to the baseline */
    BENCH_GOAL_RATIO_AT_LEAST,
    BENCH_GOAL_MORE_AT_MOST, /* the median of the rounds' differences to the baseline */
};

struct bench_row {
    char name[BENCH_NAME_BYTES]; /* "ttsp/1-polling/flag/ttsp-p50" */
    const char *unit;            /* "ns", "ms" or "GB/s" */
    const struct bench_row *baseline;
    enum bench_goal_kind goal_kind;
    double goal;
    double value[BENCH_MOST_ROUNDS]; /* NAN = this round has none */
};

struct bench {
    /* What was asked for. */
    bool is_quick;
    uint32_t reps; /* rounds, 0 = each benchmark's own number */

    bool only_checks_flags; /* no child is started: may the flags of each be set? */

    /* The benchmark that runs. */
    const char *running;
    bool shows_progress;

    struct bench_row row[BENCH_MOST_ROWS];
    size_t row_count;

    char failure[BENCH_FAILURE_BYTES]; /* the first one, one line, "" = none; ends the run */
    int failure_exit;
};

/* --- [command] rounds and rows ------------------------------------------------- */

/* How many rounds to run: --reps, else one of the two. */
uint32_t bench_rounds(const struct bench *bench, uint32_t usual, uint32_t quick);
/* Tells the progress line; false when the run has failed and should end. */
bool bench_goes_on(struct bench *bench, uint32_t round, uint32_t rounds);

/* A new row; baseline may be NULL and must be of the same unit.  It stays where it is
 * until the command ends. */
struct bench_row *bench_add(struct bench *bench, const char *unit, const struct bench_row *baseline,
                            const char *name, ...) __attribute__((format(printf, 4, 5)));
void bench_set_goal(struct bench_row *row, enum bench_goal_kind kind, double goal);
void bench_put(struct bench_row *row, uint32_t round, double value);

/* A source that is part of the program, "bench/gc/gcbench.lox", goes into the benchmark's folder
 * under its last name.  False, and the bench has failed: the system refuses it. */
bool bench_write_source(struct bench *bench, const char *embedded_name);

/* --- children ------------------------------------------------------------------- */

struct bench_child {
    const char *name;         /* for messages */
    const char *const *flags; /* set before run(), ended by NULL */
    /* [child] Measures, and fills the figures, which are NAN before. */
    void (*run)(const void *argument, double *figures_out);
    const void *argument;
};

/* [command] Forks, sets the flags, runs, collects.  False, and the bench has failed,
 * when the child did not live to tell or said why not.  With only_checks_flags nothing
 * is forked; it fails when the command line contradicts one of the flags. */
bool bench_in_child(struct bench *bench, const struct bench_child *child, double *figures_out,
                    size_t figure_count);
/* [child] Ends it with a line for the user. */
_Noreturn void bench_child_fail(int exit_code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* [child] start_stops(), or the end of the child. */
void bench_child_start_stops(void);

/* [any] Of count values in any order, which it sorts; percent 50 is the median.  NAN
 * when there are fewer than 10 samples beyond it (but of a median always one). */
double bench_percentile(double *values, size_t count, double percent);

/* --- [command] the report -------------------------------------------------------- */

/* Of the benchmark that runs: the rows from the first one on. */
void bench_report_table(FILE *out, const struct bench *bench, size_t first);
/* What the columns mean; once, below the last table. */
void bench_report_foot(FILE *out);
/* All rows, schema stillpoint-bench-1. */
void bench_report_json(FILE *out, const struct bench *bench);

/* --- [command] the benchmarks ---------------------------------------------------- */

void bench_gc(struct bench *bench);
void bench_guest(struct bench *bench);
void bench_interp(struct bench *bench);
void bench_poll(struct bench *bench);
void bench_ttsp(struct bench *bench);
void bench_zero(struct bench *bench);

#endif
