/* scenario_header.c -- see scenario_header.h.  SPDX-License-Identifier: MIT */
#include "tools/ttsp/scenario_header.h"

#include "base/flags.h"
#include "base/spelling.h"
#include "tools/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LEAST_EVERY_NS UINT64_C(1000)
#define MOST_SETUP_NS  UINT64_C(3600000000000)

enum key { QUESTION, FLAGS, EVERY, SECONDS, SETUP, FOCUS, CURE, KEYS };

static const char *const key_words[KEYS] = { "question", "flags", "every", "seconds",
                                             "setup",    "focus", "cure" };

struct reading {
    const char *name;
    unsigned line;
    struct scenario_header *header;
    unsigned line_of[KEYS]; /* 0 = not read yet */
    char *message;
    size_t message_bytes;
};

static bool refuse(const struct reading *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool refuse(const struct reading *r, const char *format, ...)
{
    char what[400];
    va_list ap;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    snprintf(r->message, r->message_bytes, "%s:%u: %s", r->name, r->line, what);
    return false;
}

/* --- values ------------------------------------------------------------------------- */

static bool keep_text(const struct reading *r, enum key key, const char *value, char *text_out,
                      size_t bytes)
{
    if (strlen(value) >= bytes)
        return refuse(r, "%s: longer than %zu bytes", key_words[key], bytes - 1);
    strcpy(text_out, value);
    return true;
}

static bool read_flags(struct reading *r, const char *value)
{
    struct scenario_header *h = r->header;
    struct flags_error error;
    size_t count = 0;
    if (!keep_text(r, FLAGS, value, h->flag_text, sizeof h->flag_text))
        return false;
    for (char *rest = h->flag_text, *flag; (flag = strtok_r(rest, " \t", &rest)) != NULL;) {
        if (count == SCENARIO_MOST_FLAGS)
            return refuse(r, "flags: more than %d", SCENARIO_MOST_FLAGS);
        if (!flags_is_valid(flag, &error))
            return refuse(r, "flags: %.300s", error.message);
        h->flags[count++] = flag;
    }
    h->flags[count] = NULL;
    return true;
}

static bool read_value(struct reading *r, enum key key, const char *value)
{
    struct scenario_header *h = r->header;
    switch (key) {
    case QUESTION:
        return keep_text(r, key, value, h->question, sizeof h->question);
    case FLAGS:
        return read_flags(r, value);
    case EVERY:
        return (text_parse_duration(value, &h->every_ns) && h->every_ns >= LEAST_EVERY_NS) ||
               refuse(r, "every: %.40s is not a duration like 500us, 5ms or 1s, 1us to 1 day",
                      value);
    case SECONDS:
        return text_parse_seconds(value, &h->seconds_ns) ||
               refuse(r, "seconds: %.40s is not a number above 0, at most 86400", value);
    case SETUP:
        return (text_parse_duration(value, &h->setup_ns) && h->setup_ns > 0 &&
                h->setup_ns <= MOST_SETUP_NS) ||
               refuse(r, "setup: %.40s is not a duration like 500ms or 30s, at most 1 hour", value);
    case FOCUS:
        return keep_text(r, key, value, h->focus, sizeof h->focus);
    case CURE:
        return keep_text(r, key, value, h->cure, sizeof h->cure);
    case KEYS:
        break;
    }
    return false;
}

/* --- lines ---------------------------------------------------------------------------- */

static bool read_key(struct reading *r, enum key key, const char *value)
{
    if (r->line_of[key])
        return refuse(r, "%s is said twice, in line %u first", key_words[key], r->line_of[key]);
    r->line_of[key] = r->line;
    if (!*value)
        return refuse(r, "%s: nothing follows", key_words[key]);
    for (const char *c = value; *c; c++)
        if (iscntrl((unsigned char)*c) && *c != '\t')
            return refuse(r, "%s: a control character", key_words[key]);
    return read_value(r, key, value);
}

/* text: what follows the slashes, without blanks around it. */
static bool read_comment(struct reading *r, const char *text)
{
    char word[32];
    size_t length = 0;
    while (isalpha((unsigned char)text[length]))
        length++;
    if (length == 0 || length >= sizeof word || text[length] != ':')
        return true;
    memcpy(word, text, length);
    word[length] = '\0';
    for (int key = 0; key < KEYS; key++)
        if (strcmp(word, key_words[key]) == 0)
            return read_key(r, (enum key)key, text + length + 1 + strspn(text + length + 1, " \t"));
    const char *near = spelling_nearest(word, key_words, KEYS);
    return !near || refuse(r, "unknown header %s, did you mean %s?", word, near);
}

/* One line without its end.  *is_over_out: it is code. */
static bool read_line(struct reading *r, const char *start, size_t length, bool *is_over_out)
{
    char text[1024];
    while (length > 0 && isspace((unsigned char)start[length - 1]))
        length--;
    while (length > 0 && isspace((unsigned char)*start))
        start++, length--;
    if (length == 0)
        return true;
    if (length < 2 || start[0] != '/' || start[1] != '/') {
        *is_over_out = true;
        return true;
    }
    start += 2, length -= 2;
    while (length > 0 && isspace((unsigned char)*start))
        start++, length--;
    if (length >= sizeof text)
        length = sizeof text - 1; /* longer than any value may be, and refused as one */
    for (size_t i = 0; i < length; i++)
        text[i] = start[i] ? start[i] : '\1'; /* a NUL is refused as other control characters */
    text[length] = '\0';
    return read_comment(r, text);
}

bool scenario_header_read(const char *name, const char *source, size_t bytes,
                          struct scenario_header *header_out, char *message_out,
                          size_t message_bytes)
{
    struct reading r = {
        .name = name, .header = header_out, .message = message_out, .message_bytes = message_bytes
    };
    bool is_over = false;
    memset(header_out, 0, sizeof *header_out);
    for (const char *at = source, *end = source + bytes; at < end && !is_over;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        r.line++;
        if (!read_line(&r, at, length, &is_over))
            return false;
        at += length + (newline != NULL);
    }
    return true;
}
