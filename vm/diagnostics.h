/* diagnostics.h -- the errors of one compilation, in the order of the source.
 *
 * Layer: vm/.  The parser, the resolver and the compiler each add what they find; the
 * whole list is written at the end, sorted by position, in the book's form:
 *
 *     [line 3] Error at 'x': Already a variable with this name in this scope.
 *     [line 4] Error at end: Expect '}' after block.
 *     [line 5] Error: Unexpected character.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_DIAGNOSTICS_H
#define VM_DIAGNOSTICS_H

#include "vm/arena.h"
#include "vm/scanner.h"

#include <stdio.h>

struct diagnostic {
    struct token token;  /* TOKEN_ERROR: no "at" part; TOKEN_END: "at end" */
    const char *message; /* static storage */
    struct diagnostic *next;
};

struct diagnostics {
    struct arena *arena;
    struct diagnostic *first; /* in the order they were added */
    size_t count;
};

void diagnostics_start(struct diagnostics *diagnostics, struct arena *arena);
/* message: static storage. */
void diagnostics_add(struct diagnostics *diagnostics, struct token token, const char *message);
/* Sorts by position (stable) and writes; control bytes and bytes that are not UTF-8 in a
 * lexeme are written as \xNN, a lexeme above 60 bytes is cut with "...". */
void diagnostics_write(struct diagnostics *diagnostics, FILE *out);

#endif
