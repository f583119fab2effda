/* builtin.h -- properties and methods of the library's own objects: threads, locks,
 * barriers, direct buffers.
 *
 * Read next: the table in builtin.c.
 * Layer:     vm/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_BUILTIN_H
#define VM_BUILTIN_H

#include "vm/natives.h"

struct builtin {
    enum object_kind kind; /* of the receiver */
    bool is_property;      /* read without a call: the native is called with no arguments */
    struct native native;  /* window[0] is the receiver */
};

/* Once per process.  False: the system has no memory. */
bool builtins_start(void);
/* [any] What that name means for an object of that kind, NULL = nothing. */
struct builtin *builtin_find(enum object_kind kind, const struct object *name);
/* [any] Has the kind any? */
bool builtin_kind(enum object_kind kind);

#endif
