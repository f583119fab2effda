/* parser.h -- tokens to a tree, with the book's error recovery.
 *
 * Read next: ast.h, resolver.h.
 * Layer:     vm/.
 *
 * After the first error the parser is in panic: it says nothing more until the end of the
 * declaration it is in, where it skips to the next statement, so that one mistake is one
 * message and several mistakes are several.  A tree with errors may have NULL or odd
 * parts only in declarations that failed, and those are left out of it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_PARSER_H
#define VM_PARSER_H

#include "vm/arena.h"
#include "vm/ast.h"
#include "vm/diagnostics.h"

/* Nesting above this is the compile error "Too deeply nested." */
#define PARSER_MAX_NESTING 1000

/* The whole source as the script's function; never NULL.  Interns names and literals
 * (names.h).  Errors go to diagnostics. */
struct function_node *parser_parse(const char *source, size_t bytes, struct arena *arena,
                                   struct diagnostics *diagnostics);

#endif
