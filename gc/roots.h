/* roots.h -- where references into the heap start.
 *
 * Layer: gc/.  A moving collector reads and rewrites every slot it is shown here.
 *
 * Roots are: the registers and frames of every guest thread, ROOTED slots of every
 * mutator, and what a provider shows that is common to all threads (globals, the class
 * of error objects).  Constants, names and functions live outside the heap and hold
 * immortal references only, so they are no roots.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_ROOTS_H
#define GC_ROOTS_H

#include "gc/value.h"

#include <stddef.h>

struct root_visitor {
    /* A slot that holds a value, of any kind; what names it for messages: "register". */
    void (*visit)(struct root_visitor *visitor, value_t *slot, const char *what);
};

static inline void root_visit(struct root_visitor *visitor, value_t *slot, const char *what)
{
    visitor->visit(visitor, slot, what);
}
static inline void root_visit_range(struct root_visitor *visitor, value_t *from, const value_t *to,
                                    const char *what)
{
    for (; from < to; from++)
        visitor->visit(visitor, from, what);
}

/* [any] Before the first mutator attaches: vm/'s globals; NULL = none.  Called under the heap's
 * lock: locks of its own have the rank ROOTS. */
void roots_set_common(void (*each)(struct root_visitor *visitor));
/* [operation] Every root of the process. */
void roots_visit_at_safepoint(struct root_visitor *visitor);
/* [operation] The same for who holds the heap's lock. */
void roots_visit_locked(struct root_visitor *visitor);

#endif
