/* verify_marks.h -- are the marks right?
 *
 * Layer: gc/, for collection.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_VERIFY_MARKS_H
#define GC_VERIFY_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [operation, heap's lock, between slide_prepare() and moving] Checks that
 *   V1  each root leads to a marked object, and each reference of a marked object does;
 *   V2  the marks are those of whole objects, and of nothing else;
 *   V3  as many objects are marked as slide_prepare() has counted.
 * Writes the first fault to text_out and returns false. */
bool verify_marks_locked(uint64_t objects_counted, char *text_out, size_t bytes);

#endif
