/* spelling.h -- "did you mean": the nearest of some names to what was typed.
 *
 * Layer: base/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_SPELLING_H
#define BASE_SPELLING_H

#include <stddef.h>

/* [any] How many letters must be changed, dropped, added or swapped with their
 * neighbour to get from a to b; upper and lower case are the same.  SIZE_MAX when
 * one of them is longer than 63 bytes: then they are not meant to be equal. */
size_t spelling_distance(const char *a, const char *b);

/* [any] The one candidate that typed (3 letters or more) is the beginning of, else
 * the first nearest one that is wrong in at most a third of its letters; NULL when
 * there is none. */
const char *spelling_nearest(const char *typed, const char *const *candidates, size_t count);

#endif
