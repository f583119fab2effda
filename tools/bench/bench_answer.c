/* bench_answer.c -- see bench_answer.h.  SPDX-License-Identifier: MIT */
#include "tools/bench/bench_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is shown of a result or a time: longer ones are wrong anyway. */
#define SHOWN 24

/* The line's length; *next_out begins behind its end, or is NULL when it has none. */
static size_t line_of(const char *text, const char **next_out)
{
    const char *end = strchr(text, '\n');
    *next_out = end ? end + 1 : NULL;
    return end ? (size_t)(end - text) : strlen(text);
}

static int shown_of(size_t length) { return length < SHOWN ? (int)length : SHOWN; }

/* strtod() alone would also take blanks, signs, hexadecimal, "inf" and "nan". */
static bool parse_ms(const char *line, size_t length, double *ms_out)
{
    char *end;
    if (length == 0 || line[0] < '0' || line[0] > '9' || memchr(line, 'x', length) ||
        memchr(line, 'X', length))
        return false;
    double ms = strtod(line, &end);
    if (end != line + length || !isfinite(ms) || !(ms > 0))
        return false;
    *ms_out = ms;
    return true;
}

bool bench_answer_read(const char *text, const char *wanted, double *ms_out, char *why_out,
                       size_t why_bytes)
{
    const char *second, *rest = NULL;
    double ms;
    size_t length = line_of(text, &second);
    size_t second_length = second ? line_of(second, &rest) : 0;
    if (!second || !rest || rest[0] != '\0') {
        snprintf(why_out, why_bytes, "did not print two lines, its result and its time");
        return false;
    }
    if (length != strlen(wanted) || memcmp(text, wanted, length) != 0) {
        snprintf(why_out, why_bytes, "computed %.*s, not %.*s", shown_of(length), text, SHOWN,
                 wanted);
        return false;
    }
    if (!parse_ms(second, second_length, &ms)) {
        snprintf(why_out, why_bytes, "printed \"%.*s\", which is no time", shown_of(second_length),
                 second);
        return false;
    }
    *ms_out = ms;
    return true;
}

void bench_answer_first_line(const char *text, char *line_out, size_t bytes)
{
    const char *next;
    snprintf(line_out, bytes, "%.*s", (int)line_of(text, &next), text);
}
