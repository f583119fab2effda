/* function_list.h -- a script and all functions declared in it, outer ones first.
 *
 * Layer: vm/, for what reads code instead of running it: checker.c, disasm.c.
 *
 * Functions are a tree, and this finds out when they are not: code that was tampered with may
 * declare one function in two places, or in itself.  The list is made with a stack of its own,
 * so no depth of nesting is too deep.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_FUNCTION_LIST_H
#define VM_FUNCTION_LIST_H

#include "vm/function.h"

#include <stdbool.h>
#include <stddef.h>

struct function_list {
    struct function **at; /* the script first, each one before those declared in it, in the
                             order of the source; each once */
    size_t count;
    struct function *shared, *shared_in; /* the first that was met twice, and where; or NULL */
};

/* [any] NULL entries and missing arrays are passed over.  False: no memory, nothing to free. */
bool function_list_make(struct function *script, struct function_list *list_out);
void function_list_free(struct function_list *list);

#endif
