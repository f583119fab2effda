/* compiler.h -- a resolved tree to register code.
 *
 * Read next: compiler.c (functions and statements), compiler_expr.c (expressions, conditions),
 *            code_writer.h (instructions, jumps, registers).
 * Layer:     vm/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_COMPILER_H
#define VM_COMPILER_H

#include "vm/arena.h"
#include "vm/ast.h"
#include "vm/diagnostics.h"
#include "vm/function.h"

struct globals;

/* Compiles the script and all below it.  Functions are malloc'ed and linked into *functions
 * as they are made, also when the arena jumps out for lack of memory: the caller frees
 * them.  NULL with diagnostics when a limit is exceeded. */
struct function *compiler_compile(struct function_node *script, struct globals *globals,
                                  struct arena *arena, struct diagnostics *diagnostics,
                                  struct function **functions);
/* All functions of the list. */
void compiler_free_functions(struct function *functions);

#endif
