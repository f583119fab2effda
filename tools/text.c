/* text.c -- see text.h.  SPDX-License-Identifier: MIT */
#include "tools/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void three_digits(char *text_out, size_t bytes, double value, const char *unit)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(text_out, bytes, "%.*f%s", decimals, value, unit);
}

void text_ns(char *text_out, size_t bytes, uint64_t ns)
{
    double value = (double)ns;
    if (ns < 1000)
        snprintf(text_out, bytes, "%uns", (unsigned)ns);
    else if (value < 999.5e3)
        three_digits(text_out, bytes, value / 1e3, "us");
    else if (value < 999.5e6)
        three_digits(text_out, bytes, value / 1e6, "ms");
    else
        three_digits(text_out, bytes, value / 1e9, "s");
}

void text_ratio(char *text_out, size_t bytes, double ratio)
{
    three_digits(text_out, bytes, ratio, "");
}

/* A decimal number without sign, exponent or spaces; returns where it ends. */
static const char *parse_decimal(const char *text, double *value_out)
{
    size_t n = strspn(text, "0123456789.");
    char number[40];
    char *end;
    if (n == 0 || n >= sizeof number || !isdigit((unsigned char)text[0]))
        return NULL;
    memcpy(number, text, n);
    number[n] = '\0';
    *value_out = strtod(number, &end);
    return *end == '\0' ? text + n : NULL;
}

static bool to_ns(double value, double unit_ns, uint64_t *ns_out)
{
    double ns = round(value * unit_ns);
    if (!(ns >= 1) || ns > 86400e9)
        return false;
    *ns_out = (uint64_t)ns;
    return true;
}

bool text_parse_duration(const char *text, uint64_t *ns_out)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
    double value;
    const char *unit = parse_decimal(text, &value);
    for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0)
            return to_ns(value, units[i].ns, ns_out);
    return false;
}

bool text_parse_seconds(const char *text, uint64_t *ns_out)
{
    double value;
    const char *end = parse_decimal(text, &value);
    if (end && strcmp(end, "s") == 0)
        end++;
    return end && *end == '\0' && to_ns(value, 1e9, ns_out);
}

bool text_parse_unsigned(const char *text, uint64_t *value_out)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (errno || *end)
        return false;
    *value_out = value;
    return true;
}
