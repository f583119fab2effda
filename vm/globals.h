/* globals.h -- the global variables of a program: names to indexes, and the values.
 *
 * Layer: vm/.
 *
 * The compiler numbers every global name it sees, so at run time a global is one load from
 * an array that never grows.  ABSENT = not defined yet.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_GLOBALS_H
#define VM_GLOBALS_H

#include "base/err.h"
#include "gc/object.h"
#include "gc/roots.h"

#include <stddef.h>
#include <stdint.h>

struct globals {
    struct object **names; /* by index; interned */
    size_t count, capacity;
    uint32_t *table;         /* hash table of index + 1, 0 = free */
    size_t table_size;       /* a power of two */
    _Atomic value_t *values; /* once globals_freeze() was called */
};

#define GLOBALS_NONE UINT32_MAX

void globals_end(struct globals *globals);
/* The index of the name, a new one if need be; GLOBALS_NONE = no memory.  While compiling only. */
uint32_t globals_index(struct globals *globals, struct object *name);
/* After the last index: makes the values, all ABSENT. */
MUST_USE enum err globals_freeze(struct globals *globals);

#endif
