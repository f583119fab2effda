/* lox_case.c -- see lox_case.h.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem */
#include "tests/lox/lox_case.h"

#include "base/insist.h"

#include <stdlib.h>
#include <string.h>

#define EXIT_COMPILE_ERROR 65
#define EXIT_RUNTIME_ERROR 70
#define EXIT_OUT_OF_MEMORY 71
/* Of each kind of difference so many are shown; the first ones tell most. */
#define MOST_SHOWN 5

/* --- slices ----------------------------------------------------------------------- */

static struct slice slice_of(const char *text) { return (struct slice){ text, strlen(text) }; }

static bool slice_begins(struct slice whole, struct slice start)
{
    return whole.bytes >= start.bytes && memcmp(whole.at, start.at, start.bytes) == 0;
}

static bool slice_equals(struct slice a, struct slice b)
{
    return a.bytes == b.bytes && slice_begins(a, b);
}

static bool slice_begins_with(struct slice whole, const char *start)
{
    return slice_begins(whole, slice_of(start));
}

static struct slice slice_from(struct slice whole, size_t at)
{
    return (struct slice){ whole.at + at, whole.bytes - at };
}

/* Cuts the next line off *rest, without its newline; false at the end. */
static bool next_line(struct slice *rest, struct slice *line_out)
{
    if (rest->bytes == 0)
        return false;
    const char *newline = memchr(rest->at, '\n', rest->bytes);
    size_t bytes = newline ? (size_t)(newline - rest->at) : rest->bytes;
    *line_out = (struct slice){ rest->at, bytes };
    *rest = slice_from(*rest, bytes + (newline ? 1 : 0));
    return true;
}

/* "[line 12] rest": the number, and what stands behind the bracket; 0: not of this form. */
static unsigned bracketed_line(struct slice text, struct slice *rest_out)
{
    if (!slice_begins_with(text, "[line "))
        return 0;
    unsigned number = 0;
    size_t at = 6;
    for (; at < text.bytes && text.at[at] >= '0' && text.at[at] <= '9' && number < 100000000; at++)
        number = number * 10 + (unsigned)(text.at[at] - '0');
    if (!slice_begins_with(slice_from(text, at), "] "))
        return 0;
    *rest_out = slice_from(text, at + 2);
    return number;
}

static void add_line(struct lox_lines *lines, struct slice text, unsigned line, bool is_prefix)
{
    if ((lines->count & (lines->count - 1)) == 0) { /* full at each power of two */
        size_t room = lines->count ? 2 * lines->count : 1;
        lines->at = realloc(lines->at, room * sizeof *lines->at);
        INSIST(lines->at, "no memory for %zu lines", room);
    }
    lines->at[lines->count++] = (struct lox_line){ text, line, is_prefix };
}

/* --- reading the expectations ------------------------------------------------------- */

static void on_expect(struct lox_case *lox_case, struct slice text, unsigned line)
{
    if (slice_begins_with(text, " "))
        text = slice_from(text, 1);
    add_line(&lox_case->output, text, line, false);
}

static void on_expect_prefix(struct lox_case *lox_case, struct slice text, unsigned line)
{
    add_line(&lox_case->output, text, line, true);
}

static void on_runtime_error(struct lox_case *lox_case, struct slice text, unsigned line)
{
    bool is_prefix = slice_begins_with(text, "OutOfMemory");
    lox_case->runtime_error = (struct lox_line){ text, line, is_prefix };
}

/* text without the "Error" that was the mark; it is put back, as it stands before it. */
static void on_error(struct lox_case *lox_case, struct slice text, unsigned line)
{
    if (slice_begins_with(text, ":") || slice_begins_with(text, " at "))
        add_line(&lox_case->errors, (struct slice){ text.at - 5, text.bytes + 5 }, line, false);
}

static void on_bracket(struct lox_case *lox_case, struct slice text, unsigned line)
{
    struct slice rest;
    text = (struct slice){ text.at - 1, text.bytes + 1 };
    line = bracketed_line(text, &rest);
    if (line && slice_begins_with(rest, "Error"))
        add_line(&lox_case->errors, rest, line, false);
}

static void on_c_bracket(struct lox_case *lox_case, struct slice text, unsigned line)
{
    struct slice number = slice_from(text, 0);
    line = 0;
    while (number.bytes && number.at[0] >= '0' && number.at[0] <= '9') {
        line = line * 10 + (unsigned)(number.at[0] - '0');
        number = slice_from(number, 1);
    }
    if (line && slice_begins_with(number, "] Error"))
        add_line(&lox_case->errors, slice_from(number, 2), line, false);
}

static void on_trace(struct lox_case *lox_case, struct slice text, unsigned line)
{
    add_line(&lox_case->trace, text, line, false);
}

static void on_stderr(struct lox_case *lox_case, struct slice text, unsigned line)
{
    add_line(&lox_case->stderr_texts, text, line, false);
}

static void on_flags(struct lox_case *lox_case, struct slice text, unsigned line)
{
    (void)line;
    lox_case->flags = text;
}

static void on_args(struct lox_case *lox_case, struct slice text, unsigned line)
{
    (void)line;
    lox_case->args = text;
}

static void on_fails(struct lox_case *lox_case, struct slice text, unsigned line)
{
    (void)line;
    lox_case->fails = text;
}

static void on_exit_code(struct lox_case *lox_case, struct slice text, unsigned line)
{
    (void)line;
    lox_case->exit_code = 0;
    for (size_t i = 0; i < text.bytes && text.at[i] >= '0' && text.at[i] <= '9'; i++)
        lox_case->exit_code = lox_case->exit_code * 10 + (text.at[i] - '0');
}

static void on_no_test(struct lox_case *lox_case, struct slice text, unsigned line)
{
    (void)text, (void)line;
    lox_case->is_no_test = true;
}

static const struct {
    const char *mark;
    void (*found)(struct lox_case *lox_case, struct slice text, unsigned line);
} marks[] = {
    { "// expect:", on_expect },
    { "// expect prefix: ", on_expect_prefix },
    { "// expect runtime error: ", on_runtime_error },
    { "// Error", on_error },
    { "// [c line ", on_c_bracket },
    { "// [", on_bracket },
    { "// trace: ", on_trace },
    { "// stderr: ", on_stderr },
    { "// flags: ", on_flags },
    { "// args: ", on_args },
    { "// exit: ", on_exit_code },
    { "// fails: ", on_fails },
    { "// nontest", on_no_test },
};

static void read_line(struct lox_case *lox_case, struct slice line, unsigned number)
{
    if (line.bytes && line.at[line.bytes - 1] == '\r')
        line.bytes--;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t mark_bytes = strlen(marks[i].mark);
        const char *at = memmem(line.at, line.bytes, marks[i].mark, mark_bytes);
        if (at) {
            size_t from = (size_t)(at - line.at) + mark_bytes;
            marks[i].found(lox_case, slice_from(line, from), number);
            return;
        }
    }
}

/* Stable, and short lists: those of one line stay in the order they were written. */
static void sort_by_line(struct lox_lines *lines)
{
    for (size_t i = 1; i < lines->count; i++) {
        struct lox_line one = lines->at[i];
        size_t to = i;
        for (; to > 0 && lines->at[to - 1].line > one.line; to--)
            lines->at[to] = lines->at[to - 1];
        lines->at[to] = one;
    }
}

static bool read_file(const char *path, char **text_out, size_t *bytes_out)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return false;
    char *text = NULL;
    size_t bytes = 0, room = 4096, n;
    do {
        room *= 2;
        text = realloc(text, room);
        INSIST(text, "no memory for %s", path);
        n = fread(text + bytes, 1, room - bytes, file);
        bytes += n;
    } while (bytes == room);
    bool is_read = !ferror(file);
    fclose(file);
    if (!is_read) {
        free(text);
        return false;
    }
    *text_out = text;
    *bytes_out = bytes;
    return true;
}

bool lox_case_load(struct lox_case *lox_case, const char *path)
{
    size_t bytes;
    *lox_case = (struct lox_case){ .path = path, .exit_code = -1 };
    if (!read_file(path, &lox_case->source, &bytes))
        return false;
    struct slice rest = { lox_case->source, bytes }, line;
    for (unsigned number = 1; next_line(&rest, &line); number++)
        read_line(lox_case, line, number);
    sort_by_line(&lox_case->errors);
    return true;
}

void lox_case_free(struct lox_case *lox_case)
{
    free(lox_case->output.at);
    free(lox_case->errors.at);
    free(lox_case->trace.at);
    free(lox_case->stderr_texts.at);
    free(lox_case->source);
}

/* --- the verdict ------------------------------------------------------------------ */

struct verdict {
    FILE *report;
    bool is_good;
};

static void put(FILE *report, struct slice text)
{
    fputc('"', report);
    for (size_t i = 0; i < text.bytes && i < 200; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c >= ' ' && c < 127)
            fputc(c, report);
        else
            fprintf(report, "\\x%02x", c);
    }
    fputs(text.bytes > 200 ? "...\"" : "\"", report);
}

/* One difference; either text may be missing (at is NULL). */
static void differ(struct verdict *verdict, const char *what, size_t number, struct slice expected,
                   struct slice got)
{
    verdict->is_good = false;
    fprintf(verdict->report, "  %s", what);
    if (number)
        fprintf(verdict->report, " %zu", number);
    fputs(": expected ", verdict->report);
    if (expected.at)
        put(verdict->report, expected);
    else
        fputs("nothing more", verdict->report);
    fputs(", got ", verdict->report);
    if (got.at)
        put(verdict->report, got);
    else
        fputs("nothing", verdict->report);
    fputc('\n', verdict->report);
}

static bool fits(const struct lox_line *expected, struct slice got)
{
    return expected->is_prefix ? slice_begins(got, expected->text)
                               : slice_equals(got, expected->text);
}

/* The lines of seen against the expected ones.  has_numbers: each of them begins with
 * "[line N] ", N being the line of the expectation. */
static void compare_lines(struct verdict *verdict, const char *what,
                          const struct lox_lines *expected, struct slice seen, bool has_numbers)
{
    static const struct slice none = { NULL, 0 };
    size_t at = 0, shown = 0;
    struct slice line;
    for (; shown < MOST_SHOWN; at++) {
        bool is_seen = next_line(&seen, &line);
        struct slice text = line;
        const struct lox_line *wanted = at < expected->count ? &expected->at[at] : NULL;
        if (!is_seen && !wanted)
            return;
        bool is_right = is_seen && wanted;
        if (is_right && has_numbers)
            is_right = bracketed_line(line, &text) == wanted->line;
        if (is_right && fits(wanted, text))
            continue;
        shown++;
        differ(verdict, what, at + 1, wanted ? wanted->text : none, is_seen ? line : none);
        if (wanted && has_numbers)
            fprintf(verdict->report, "    expected for line %u\n", wanted->line);
    }
}

static bool is_trace_line(struct slice line, unsigned *number_out)
{
    struct slice rest;
    *number_out = bracketed_line(line, &rest);
    if (*number_out)
        return slice_begins_with(rest, "in ");
    return slice_begins_with(line, "... ") && line.bytes > 9 &&
           memcmp(line.at + line.bytes - 5, " more", 5) == 0;
}

/* What holds for every trace: its form, where it begins and where it ends. */
static void check_trace(struct verdict *verdict, const struct lox_case *lox_case,
                        struct slice trace)
{
    struct slice line = { NULL, 0 };
    for (size_t at = 1; next_line(&trace, &line); at++) {
        unsigned number;
        if (!is_trace_line(line, &number)) {
            differ(verdict, "trace line", at, slice_of("[line N] in ..."), line);
            return;
        }
        if (at == 1 && number != lox_case->runtime_error.line) {
            char wanted[40];
            snprintf(wanted, sizeof wanted, "[line %u] in ...", lox_case->runtime_error.line);
            differ(verdict, "trace line", 1, slice_of(wanted), line);
        }
    }
    struct slice script = slice_of("] in script");
    if (line.bytes < script.bytes ||
        memcmp(line.at + line.bytes - script.bytes, script.at, script.bytes) != 0)
        differ(verdict, "last trace line", 0, slice_of("[line N] in script"), line);
}

static void check_runtime_error(struct verdict *verdict, const struct lox_case *lox_case,
                                struct slice err)
{
    struct slice message = { NULL, 0 };
    next_line(&err, &message);
    if (!message.at || !fits(&lox_case->runtime_error, message))
        differ(verdict, "stderr line", 1, lox_case->runtime_error.text, message);
    check_trace(verdict, lox_case, err);
    if (lox_case->trace.count)
        compare_lines(verdict, "trace line", &lox_case->trace, err, false);
}

static void check_stderr(struct verdict *verdict, const struct lox_case *lox_case, struct slice err)
{
    static const struct lox_lines nothing;
    const struct lox_lines *texts = &lox_case->stderr_texts;
    for (size_t i = 0; i < texts->count; i++)
        if (err.bytes == 0 || !memmem(err.at, err.bytes, texts->at[i].text.at, texts->at[i].text.bytes))
            differ(verdict, "stderr contains", 0, texts->at[i].text, err);
    if (lox_case->errors.count)
        compare_lines(verdict, "compile error", &lox_case->errors, err, true);
    else if (lox_case->runtime_error.line)
        check_runtime_error(verdict, lox_case, err);
    else if (!texts->count)
        compare_lines(verdict, "stderr line", &nothing, err, false);
}

static int expected_exit(const struct lox_case *lox_case)
{
    if (lox_case->exit_code >= 0)
        return lox_case->exit_code;
    if (lox_case->errors.count)
        return EXIT_COMPILE_ERROR;
    if (!lox_case->runtime_error.line)
        return 0;
    return lox_case->runtime_error.is_prefix ? EXIT_OUT_OF_MEMORY : EXIT_RUNTIME_ERROR;
}

static void check_end(struct verdict *verdict, const struct lox_case *lox_case,
                      const struct lox_outcome *outcome)
{
    int expected = expected_exit(lox_case), status = outcome->status;
    if (outcome->said_too_much)
        fputs("  it printed more than the runner keeps\n", verdict->report);
    else if (outcome->has_timed_out)
        fputs("  it did not end in time\n", verdict->report);
    else if (status >= 256)
        fprintf(verdict->report, "  it died of signal %d\n", status - 256);
    else if (status != expected)
        fprintf(verdict->report, "  exit code: expected %d, got %d\n", expected, status);
    else
        return;
    verdict->is_good = false;
}

bool lox_case_judge(const struct lox_case *lox_case, const struct lox_outcome *outcome,
                    FILE *report)
{
    struct verdict verdict = { report, true };
    compare_lines(&verdict, "stdout line", &lox_case->output, outcome->out, false);
    if (outcome->out.bytes && outcome->out.at[outcome->out.bytes - 1] != '\n') {
        fputs("  the last line of stdout has no newline\n", report);
        verdict.is_good = false;
    }
    check_stderr(&verdict, lox_case, outcome->err);
    check_end(&verdict, lox_case, outcome);
    return verdict.is_good;
}
