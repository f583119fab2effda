/* parser_priv.h -- what the statement half and the expression half of the parser share.
 *
 * Read next: parser.c (tokens, recovery, statements), parser_expr.c (expressions).
 * Layer:     vm/, these two files only.
 *
 * Recovery, as in the book.  An error puts the parser in panic, where it says no more but
 * goes on parsing; the end of the declaration it is in skips to the next statement and ends
 * the panic.  Each error, said or not, fails the innermost declaration, whose tree may have
 * holes and is dropped.
 *
 * Depth.  Two counts keep every pass from recursing above PARSER_MAX_NESTING levels:
 * `nesting` goes up on the way down, for the parser itself; the height of an expression is
 * known when it is complete, and grows to the left as well, where the parser only loops.
 * Their sum is checked wherever an expression gets a child.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_PARSER_PRIV_H
#define VM_PARSER_PRIV_H

#include "vm/parser.h"

/* One per declaration or statement of a block that is being parsed. */
struct declaration {
    bool has_failed;
};

struct parser {
    struct scanner scanner;
    struct token current, previous;
    struct arena *arena;
    struct diagnostics *diagnostics;
    struct declaration *declaration; /* the innermost */
    struct function_node *function;  /* the innermost */
    const struct class_node *class;  /* the innermost; NULL = none */
    uint32_t nesting;
    bool is_panicking;
    /* In panic because of "Too deeply nested." alone: what was too deep was skipped to its
     * end, so there is nothing to synchronize. */
    bool is_in_step;
};

/* --- parser.c: tokens and errors --------------------------------------------------- */

void parser_advance(struct parser *parser);
bool parser_check(const struct parser *parser, enum token_kind kind);
bool parser_match(struct parser *parser, enum token_kind kind);
void parser_consume(struct parser *parser, enum token_kind kind, const char *message);
/* Consumes an identifier; what was consumed last if there is none. */
struct token parser_identifier(struct parser *parser, const char *message);

void parser_error(struct parser *parser, const char *message); /* at the previous token */
void parser_error_at_current(struct parser *parser, const char *message);
void parser_error_too_deep(struct parser *parser);
/* One level down, to be undone by parser->nesting--; false = too deep, and said. */
bool parser_nest(struct parser *parser);

/* Never NULL: without memory it leaves by the arena's way out. */
struct object *parser_intern(struct parser *parser, const char *bytes, size_t length);

/* --- parser_expr.c ----------------------------------------------------------------- */

/* Never NULL. */
struct expr *parser_expression(struct parser *parser);

#endif
