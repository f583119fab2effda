/* spelling.c -- see spelling.h.
 *
 * The distance is Damerau's and Levenshtein's in its "optimal string alignment"
 * form: three rows of the usual table, the third for the swap of two neighbours.
 *
 * SPDX-License-Identifier: MIT */
#include "base/spelling.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 63, FEWEST_FOR_BEGINNING = 3 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t spelling_distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1], a_bytes = strlen(a), b_bytes = strlen(b);
    if (a_bytes > LONGEST || b_bytes > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_bytes; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_bytes; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_bytes; j++) {
            row[j] = least(above[j], row[j - 1]) + 1;
            row[j] = least(row[j], above[j - 1] + !same_letter(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_bytes % 3][b_bytes];
}

/* The only candidate that begins with typed. */
static const char *only_beginning(const char *typed, const char *const *candidates, size_t count)
{
    const char *found = NULL;
    size_t bytes = strlen(typed);
    if (bytes < FEWEST_FOR_BEGINNING)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncasecmp(typed, candidates[i], bytes) == 0) {
            if (found)
                return NULL;
            found = candidates[i];
        }
    return found;
}

const char *spelling_nearest(const char *typed, const char *const *candidates, size_t count)
{
    const char *found = only_beginning(typed, candidates, count);
    if (found)
        return found;
    size_t nearest = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = strlen(candidates[i]), distance = spelling_distance(typed, candidates[i]);
        if (distance < nearest && distance <= bytes / 3) {
            nearest = distance;
            found = candidates[i];
        }
    }
    return found;
}
