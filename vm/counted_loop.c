/* counted_loop.c -- see counted_loop.h.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/counted_loop.h"

/* The local variable of the loop's own function that expr reads, else NULL. */
static struct variable *own_local(const struct expr *expr)
{
    return expr->kind == EXPR_VARIABLE && expr->variable.capture < 0 ? expr->variable.variable
                                                                     : NULL;
}

/* The right side of `counter OPERATOR right`, else NULL. */
static const struct expr *right_of(const struct expr *expr, const struct variable *counter,
                                   enum token_kind kind)
{
    if (!expr || expr->kind != EXPR_CHAIN || own_local(expr->chain.first) != counter)
        return NULL;
    const struct link *link = expr->chain.links;
    enum token_kind found = link->operator;
    return found == kind && !link->next ? link->right : NULL;
}

/* The variable of `var i = a`, else NULL. */
static struct variable *counter_of(const struct stmt *initializer)
{
    return initializer && initializer->kind == STMT_VAR && initializer->var.initializer
               ? initializer->var.declared.variable
               : NULL;
}

/* Is it `i = i + NUMBER`, the number above zero? */
static bool is_step(const struct expr *increment, const struct variable *counter)
{
    if (!increment || increment->kind != EXPR_ASSIGN ||
        increment->assign.target.variable != counter)
        return false;
    const struct expr *step = right_of(increment->assign.value, counter, TOKEN_PLUS);
    return step && step->kind == EXPR_NUMBER && step->number > 0;
}

struct counted_head counted_loop_head(const struct stmt *loop)
{
    const struct counted_head none = { NULL, NULL };
    struct variable *counter = counter_of(loop->loop_for.initializer);
    if (!counter || !is_step(loop->loop_for.increment, counter))
        return none;
    const struct expr *limit = right_of(loop->loop_for.condition, counter, TOKEN_LESS);
    if (!limit)
        return none;
    if (limit->kind == EXPR_NUMBER)
        return (struct counted_head){ counter, NULL };
    struct variable *variable = own_local(limit);
    return variable && variable != counter ? (struct counted_head){ counter, variable } : none;
}
