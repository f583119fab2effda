/* stress_output.c -- see stress_output.h.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/stress/stress_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD         "line "
#define HEAD_BYTES   (sizeof HEAD - 1)
#define TAIL_AT      (HEAD_BYTES + 3 + 5) /* "07 " and "0042 " */
#define TAIL_LENGTHS 50
#define NUMBERS      10000

/* Of exactly `digits` digits and a blank; -1 = it is something else. */
static int number_of(const char *text, int digits)
{
    int number = 0;
    for (int i = 0; i < digits; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        number = number * 10 + (text[i] - '0');
    }
    return text[digits] == ' ' ? number : -1;
}

static bool is_tail(const char *tail, int thread, int number)
{
    char letter = (char)('a' + thread % 10);
    size_t length = 1 + (size_t)number % TAIL_LENGTHS;
    return strlen(tail) == length && strspn(tail, (char[]){ letter, '\0' }) == length;
}

/* line begins with HEAD and ends with NUL. */
static bool is_next_line(struct stress_output *output, const char *line)
{
    if (strlen(line) <= TAIL_AT)
        return false;
    int thread = number_of(line + HEAD_BYTES, 2), number = number_of(line + HEAD_BYTES + 3, 4);
    if (thread < 0 || number < 0 || !is_tail(line + TAIL_AT, thread, number) ||
        output->next[thread] != (uint32_t)number)
        return false;
    output->next[thread] = (output->next[thread] + 1) % NUMBERS;
    output->lines++;
    return true;
}

static void say(struct stress_output *output, const char *line)
{
    size_t at = strlen(output->said);
    snprintf(output->said + at, sizeof output->said - at, "%s%s", output->said_lines ? ", " : "",
             line);
    output->said_lines++;
}

static void end_line(struct stress_output *output)
{
    bool is_cut = output->length >= sizeof output->line;
    output->line[is_cut ? sizeof output->line - 1 : output->length] = '\0';
    output->length = 0;
    if (strncmp(output->line, HEAD, HEAD_BYTES) != 0)
        say(output, output->line);
    else if ((is_cut || !is_next_line(output, output->line)) && !output->wrong[0])
        snprintf(output->wrong, sizeof output->wrong, "a line is torn or out of turn: %s",
                 output->line);
}

void stress_output_take(struct stress_output *output, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') {
            end_line(output);
            continue;
        }
        if (output->length < sizeof output->line - 1)
            output->line[output->length] = bytes[i];
        output->length++;
    }
}

bool stress_output_end(struct stress_output *output, uint64_t *checks_out)
{
    char *end, *wrong = output->wrong;
    double number = strtod(output->said, &end);
    *checks_out = 0;
    if (wrong[0])
        return false;
    if (output->length)
        snprintf(wrong, sizeof output->wrong, "the last line has no end");
    else if (output->said_lines != 1 || *end || !(number > 0 && number < 1e15))
        snprintf(wrong, sizeof output->wrong,
                 "it did not end with how many checks it made, it said: %.120s", output->said);
    else if (output->lines && output->lines != (uint64_t)number)
        snprintf(wrong, sizeof output->wrong, "%llu lines came of the %.0f that were printed",
                 (unsigned long long)output->lines, number);
    else
        *checks_out = (uint64_t)number;
    return !wrong[0];
}
