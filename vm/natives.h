/* natives.h -- functions of the guest library that are written in C.
 *
 * Read next: natives.c, the table.
 * Layer:     vm/.
 *
 * A native is an object outside the heap, so that guest code can hold it like a closure.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_NATIVES_H
#define VM_NATIVES_H

#include "gc/object.h"
#include "vm/guest_thread.h"

/* [self, guest] window[0] is the native, window[1..argument_count] the arguments; the result
 * goes to window[0].  All of them are roots.  False: a guest error is recorded. */
typedef bool native_call_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);

#define NATIVE_ANY_ARITY UINT32_MAX

struct native {
    _Atomic uint64_t header; /* as struct object */
    const char *name;
    uint32_t arity;
    bool is_attempt; /* the interpreter does it: it calls guest code */
    native_call_mp *call_mp;
};

static inline const struct native *native_of_object(const struct object *object)
{
    return (const struct native *)object;
}

#define NATIVE_HEADER ((uint64_t)OBJECT_NATIVE << 32 | (uint64_t)5 << 48)

/* All of them, for the globals. */
extern struct native natives[];
extern const size_t native_count;

#endif
