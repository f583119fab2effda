/* lox_case.h -- one Lox program with its expectations, and the verdict over one run of it.
 *
 * Read next: lox_case_judge() in lox_case.c; run_lox.c, which runs the programs.
 * Layer:     tests/.
 *
 * The expectations stand in comments, in the form that public collections of Lox programs
 * use, so that those run unchanged:
 *     // expect: TEXT                    a line of stdout; all of them, in this order
 *     // expect runtime error: TEXT      stderr's first line; the first line of the trace
 *                                        names the line of this comment; exit 70, or 71
 *                                        when TEXT begins with OutOfMemory (then TEXT may
 *                                        be the beginning of what is said)
 *     // Error at 'x': TEXT              compile error of this line, also "// Error: TEXT";
 *                                        all of them, in the order of the lines; exit 65
 *     // [line N] Error...               compile error of line N; "[c line N]" too;
 *                                        "[java line N]" is for another implementation
 *     // nontest                         the file is not a program to run
 * and of our own:
 *     // flags: -XX:...                  flags of the runtime for this program
 *     // args: a b                       arguments of the program
 *     // exit: N                         instead of the exit code that follows from the rest
 *     // stderr: TEXT                    stands somewhere in stderr
 *     // expect prefix: TEXT             a line of stdout that begins so
 *     // trace: TEXT                     a line of the trace; all of them, in this order
 *     // fails: TEXT                     (control programs) must fail, with TEXT in the report
 * Without any of them a program must print nothing and exit with 0.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_LOX_LOX_CASE_H
#define TESTS_LOX_LOX_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct slice {
    const char *at; /* into a text that outlives it; any byte may stand in it */
    size_t bytes;
};

struct lox_line {
    struct slice text;
    unsigned line;  /* of the source, from 1: where it is expected */
    bool is_prefix; /* the line that is seen may be longer */
};

struct lox_lines {
    struct lox_line *at;
    size_t count;
};

struct lox_case {
    const char *path;
    char *source;
    struct lox_lines output, errors, trace, stderr_texts;
    struct lox_line runtime_error; /* line 0: none */
    struct slice flags, args, fails;
    int exit_code; /* -1: as follows from the rest */
    bool is_no_test;
};

/* How a run ended. */
struct lox_outcome {
    int status;         /* exit code, or 256 + signal number, or -1 if the system hides it */
    bool has_timed_out; /* then the status says nothing */
    bool said_too_much; /* more than the runner keeps */
    struct slice out, err;
};

/* Reads the file at path, which must outlive the case.  False: it cannot be read (errno). */
bool lox_case_load(struct lox_case *lox_case, const char *path);
void lox_case_free(struct lox_case *lox_case);

/* True when the run was as expected; else each difference is a line or two of the report. */
bool lox_case_judge(const struct lox_case *lox_case, const struct lox_outcome *outcome,
                    FILE *report);

#endif
