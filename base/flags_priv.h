/* flags_priv.h -- the rows of flags.def as a table, for the files of this name.
 *
 * Layer: base/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_FLAGS_PRIV_H
#define BASE_FLAGS_PRIV_H

#include "base/flags.h"

enum flag_kind { FLAG_KIND_BOOL, FLAG_KIND_UINT, FLAG_KIND_SIZE, FLAG_KIND_ENUM, FLAG_KIND_STRING };
enum flag_class { FLAG_CLASS_PRODUCT, FLAG_CLASS_DIAGNOSTIC };

struct flag_row {
    const char *spelling;
    enum flag_kind kind;
    enum flag_class class;
    size_t offset;                 /* of the field in struct flags */
    uint64_t initial, least, most; /* bool: 0..1; enum: index of a word */
    const char *unit;              /* "" when there is none */
    const char *const *words;      /* enum only */
    const char *text;
};

extern const struct flag_row flag_rows[];
extern const size_t flag_row_count;

/* Of every kind but string. */
uint64_t flag_row_number(const struct flag_row *row);
enum flags_origin flag_row_origin(const struct flag_row *row);
/* "-Xmx" for MaxHeapSize; NULL when there is no short form. */
const char *flag_row_alias(const struct flag_row *row);

/* The argument on the command line that set a flag, or NULL; spelling must exist. */
const char *flag_row_typed(const char *spelling);
/* Writes one line, whatever was typed, and returns false. */
bool flags_fail(struct flags_error *error_out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* 4096 -> "4k", 1000 -> "1000": the largest suffix that divides. */
void flag_row_size_text(uint64_t size, char *text_out, size_t bytes);
/* What follows the = sign: "whole|chunked", "N", "TEXT"; "" for a bool. */
void flag_row_values(const struct flag_row *row, const char *separator, char *text_out,
                     size_t bytes);

#endif
