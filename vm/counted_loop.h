/* counted_loop.h -- does the head of a for loop count?
 *
 * Layer: vm/, the resolver only.  The form is `for (var i = a; i < b; i = i + c)` with b a
 * number or a local variable and c a number above zero.  Neither condition nor increment of
 * this form can call or assign to b, so what is left to the resolver is the body.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_COUNTED_LOOP_H
#define VM_COUNTED_LOOP_H

#include "vm/ast.h"

struct counted_head {
    struct variable *counter; /* NULL = it is no counted loop, whatever the body does */
    struct variable *limit;   /* NULL = a number */
};

/* Of a STMT_FOR whose initializer, condition and increment are resolved. */
struct counted_head counted_loop_head(const struct stmt *loop);

#endif
