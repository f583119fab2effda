/* roots.c -- see roots.h.  SPDX-License-Identifier: MIT */
#include "gc/roots.h"

#include "gc/heap_priv.h"

static void (*each_common)(struct root_visitor *visitor);

void roots_set_common(void (*each)(struct root_visitor *visitor)) { each_common = each; }

static void visit_mutator(struct mutator *mutator, struct root_visitor *visitor)
{
    for (struct rooted *slot = mutator->rooted; slot; slot = slot->outer)
        root_visit(visitor, &slot->value, "ROOTED slot");
    if (mutator->each_root_at_safepoint)
        mutator->each_root_at_safepoint(mutator, visitor);
}

void roots_visit_locked(struct root_visitor *visitor)
{
    if (each_common)
        each_common(visitor);
    for (struct mutator *mutator = heap.mutators; mutator; mutator = mutator->next)
        visit_mutator(mutator, visitor);
}

/* Threads in a safe state attach and detach during a stop: the list needs its lock, which
 * is a marked one.  The visitor must not take it again. */
void roots_visit_at_safepoint(struct root_visitor *visitor)
{
    lock_acquire(&heap.lock);
    roots_visit_locked(visitor);
    lock_release(&heap.lock);
}
