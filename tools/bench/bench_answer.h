/* bench_answer.h -- what a guest program of a benchmark prints: its result and its time.
 *
 * Layer: tools/.  Who may call: [any].
 *
 * A program prints two lines: what it computed, and the milliseconds that took by its own
 * clock, in whatever form its language writes a number.  So neither the start of an engine
 * nor the reading of the source is in the figure.
 *
 * Promises
 *   P1  A time is taken only from an answer whose result is the wanted one, and a program
 *       that printed more, or less, has not answered.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_BENCH_BENCH_ANSWER_H
#define TOOLS_BENCH_BENCH_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#define BENCH_ANSWER_WHY_BYTES 96 /* the longest complaint fits */

/* False: why_out completes "interp/fib/lua-5.4 ...", and *ms_out is untouched.  The time is
 * finite and above 0. */
bool bench_answer_read(const char *text, const char *wanted, double *ms_out, char *why_out,
                       size_t why_bytes);

/* The first line of a text without its end, cut to fit: for messages. */
void bench_answer_first_line(const char *text, char *line_out, size_t bytes);

#endif
