/* disasm.h -- compiled code as text, with lines and polls.
 *
 * Layer: vm/.  SPDX-License-Identifier: MIT */
#ifndef VM_DISASM_H
#define VM_DISASM_H

#include "vm/function.h"

#include <stdio.h>

/* [any] The function and all below it.  source may be NULL; with it (bytes of it) each line of
 * the source is shown above its first instruction.  global_name gives the name of a global, or
 * NULL. */
void disasm_print(FILE *out, const struct function *script, const char *source, size_t bytes,
                  const char *(*global_name)(void *context, uint32_t index), void *context);

#endif
