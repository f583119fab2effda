/* checker.h -- proves that code can do the interpreter no harm.
 *
 * Read next: checker.c.
 * Layer:     vm/.
 *
 * Accepted code, whatever it computes, keeps to its registers, constants, sites and
 * captures, jumps to instructions of its own only, jumps back only where a poll (or the
 * absence of one) is meant, never runs off its end, and uses as a cell only what is one.
 * What values are at run time the interpreter checks itself.  Every program is checked before it
 * runs, ours as well: it costs one pass.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_CHECKER_H
#define VM_CHECKER_H

#include "vm/function.h"

#include <stdbool.h>
#include <stddef.h>

struct checker_fault {
    const struct function *function;
    uint32_t at; /* instruction */
    char text[160];
};

enum checker_result { CHECKER_OK, CHECKER_REFUSED, CHECKER_NO_MEMORY };

/* [any] Checks the function and all below it, and marks them is_checked.  global_count: how
 * many globals the program has.  On CHECKER_REFUSED fault_out says what was found first. */
enum checker_result checker_check(struct function *script, uint32_t global_count,
                                  struct checker_fault *fault_out);

#endif
