/* resolver.h -- which variable does each name mean, and who captures it?
 *
 * Read next: compiler.h.
 * Layer:     vm/.
 *
 * Fills the `resolved` fields of the tree: block scopes as in the book, captured variables
 * (they live in heap cells), the captures of each function, `this` and `super`, counted
 * loops.  Reports what the book's compiler reports about names; one message
 * per declaration, as the parser does.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_RESOLVER_H
#define VM_RESOLVER_H

#include "vm/arena.h"
#include "vm/ast.h"
#include "vm/diagnostics.h"

/* As in the book: slot 0 of a function is the function or `this`. */
#define RESOLVER_MAX_LOCALS   256
#define RESOLVER_MAX_CAPTURES 256

void resolver_resolve(struct function_node *script, struct arena *arena,
                      struct diagnostics *diagnostics);

#endif
