/* natives.c -- see natives.h.  SPDX-License-Identifier: MIT */
#include "vm/natives.h"

#include "base/os.h"
#include "vm/array.h"

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

#define HEADER ((uint64_t)OBJECT_NATIVE << 32 | (uint64_t)5 << 48)

struct native natives[] = {
    { HEADER, "clock", 0, false, native_clock_mp },
    { HEADER, "Array", 1, false, native_array_mp },
    { HEADER, "Bytes", 1, false, native_bytes_mp },
    { HEADER, "Doubles", 1, false, native_doubles_mp },
    { HEADER, "attempt", NATIVE_ANY_ARITY, true, NULL },
};
const size_t native_count = sizeof natives / sizeof *natives;
