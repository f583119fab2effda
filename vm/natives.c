/* natives.c -- see natives.h.  SPDX-License-Identifier: MIT */
#include "vm/natives.h"

#include "base/os.h"
#include "vm/array.h"
#include "vm/diagnose.h"
#include "vm/direct.h"
#include "vm/sync.h"
#include "vm/threads.h"

/* clock(): seconds on a clock that never goes back; only differences mean something. */
static bool native_clock_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)thread, (void)argument_count;
    window[0] = value_of_double((double)os_now_ns() / 1e9);
    return true;
}

static bool new_array_mp(struct guest_thread *thread, value_t *window, enum object_kind kind)
{
    struct object *array = array_new_mp(thread, kind, window[1]);
    if (!array)
        return false;
    window[0] = value_of_object(array);
    return true;
}

static bool native_array_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    return new_array_mp(thread, window, OBJECT_ARRAY);
}

static bool native_bytes_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    return new_array_mp(thread, window, OBJECT_BYTES);
}

static bool native_doubles_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    return new_array_mp(thread, window, OBJECT_DOUBLES);
}

#define NATIVE(name, arity, call)                                                                  \
    {                                                                                              \
        NATIVE_HEADER, name, arity, false, call                                                    \
    }

struct native natives[] = {
    NATIVE("clock", 0, native_clock_mp),
    NATIVE("Array", 1, native_array_mp),
    NATIVE("Bytes", 1, native_bytes_mp),
    NATIVE("Doubles", 1, native_doubles_mp),
    { NATIVE_HEADER, "attempt", NATIVE_ANY_ARITY, true, NULL },

#ifndef STILLPOINT_FUEL /* what runs or writes beyond a program's own fuel is not fuzzed */
    NATIVE("spawn", NATIVE_ANY_ARITY, threads_spawn_mp),
    NATIVE("threadDump", 0, diagnose_thread_dump_mp),
    NATIVE("inject", 2, diagnose_inject_mp),
#endif
    NATIVE("currentThread", 0, threads_current_mp),
    NATIVE("sleep", 1, threads_sleep_mp),
    NATIVE("yield", 0, threads_yield_mp),
    NATIVE("Lock", 0, sync_lock_new_mp),
    NATIVE("Barrier", 1, sync_barrier_new_mp),

    NATIVE("Direct", 1, direct_native_new_mp),
    NATIVE("free", 1, direct_native_free_mp),
    NATIVE("zero", 1, direct_native_zero_mp),

    NATIVE("safepoint", 0, diagnose_safepoint_mp),
    NATIVE("gc", 0, diagnose_gc_mp),
    NATIVE("gcCount", 0, diagnose_gc_count),
    NATIVE("heapUsed", 0, diagnose_heap_used),
    NATIVE("heapSize", 0, diagnose_heap_size),
};
const size_t native_count = sizeof natives / sizeof *natives;
