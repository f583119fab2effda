/* names.h -- interned strings: one immortal object per spelling, outside the heap.
 *
 * Layer: vm/.
 *
 * Names of variables, properties and classes and all string literals are interned when a
 * program is compiled, so names compare by address and never move.  Strings made at run
 * time are not interned (string.h compares those).  The table is liburcu's lock-free hash
 * table; nothing is ever taken out.
 *
 * Who may call: [attached] a thread that is a participant.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_NAMES_H
#define VM_NAMES_H

#include "base/err.h"
#include "gc/object.h"

#include <stddef.h>

/* [any] Once per process, before the first compilation. */
MUST_USE enum err names_start(void);
/* [attached] The string object of these bytes, with its hash computed and a NUL behind its
 * last byte, which is not part of it; NULL = no memory. */
struct object *names_intern(const char *bytes, size_t length);

#endif
