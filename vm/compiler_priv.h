/* compiler_priv.h -- what the two halves of the compiler call of each other.
 *
 * Layer: vm/, for compiler*.c.
 *
 * Where a value goes.  expr_any() leaves it in whatever register is cheapest: a local
 * variable's own, else a new temporary.  expr_to() puts it into a given register, which
 * it writes last, after every operand was read: so `x = x + 1` needs no temporary, and
 * `a = a and f(a)` is right.
 *
 * Note [O] Order of operands.  The language reads operands from left to right, but an
 *   instruction reads its registers when it runs.  They differ when a later operand
 *   assigns to a local variable that is an earlier operand (`a + (a = 2)`): then the earlier
 *   one is copied (hold()).
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_COMPILER_PRIV_H
#define VM_COMPILER_PRIV_H

#include "vm/code_writer.h"

/* In compiler_expr.c. */
uint32_t expr_any(struct code_writer *w, const struct expr *e);
void expr_to(struct code_writer *w, const struct expr *e, uint32_t target);
void expr_discard(struct code_writer *w, const struct expr *e);
void reference_to(struct code_writer *w, const struct reference *r, uint32_t target);

/* In compiler_jump.c.  Jumps forward when the truth of e is sense; else goes on. */
void jump_when(struct code_writer *w, const struct expr *e, bool sense, struct jump_list *list);
/* Jumps back to body when e holds, if e is a comparison that may be computed at a second
 * place; else, and when it is too far, to start, where e is computed already. */
enum loop_form { LOOP_FORM_POLL, LOOP_FORM_NO_POLL, LOOP_FORM_STRIP };
void loop_while(struct code_writer *w, const struct expr *e, enum loop_form form, uint32_t body,
                uint32_t start);
/* NULL, or the only link of a chain that is a comparison by <, <=, > or >=. */
const struct link *comparison_of(const struct expr *e);

/* In compiler.c: a nested function's code. */
struct function *compile_function(struct compilation *all, struct function_node *node);

#endif
