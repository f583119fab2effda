/* value.h -- one guest value in 64 bits.
 *
 * Layer: gc/, because a collector has to tell references from the rest; vm/ gives
 * the values their meaning.
 *
 *   0                          nil: memory that is all zero is all nil
 *   8, 16, 24                  false, true, ABSENT (no guest value: "not there yet")
 *   64 .. 2^49 - 1             a reference: the address of an object, inside the heap
 *                              or outside (immortal objects never move)
 *   2^49 ..                    a double: its bits plus 2^49
 *
 * The doubles' offset is that of JavaScriptCore's 64-bit values: the largest bit pattern
 * of a canonical double is 0xfff8 << 48, so the sum does not wrap, and the smallest is
 * 2^49, above any user-space address (2^47 on x86-64 and arm64).  A NaN with other bits
 * would wrap into a forged reference; whoever takes a double from raw memory goes
 * through value_of_raw_double().
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_VALUE_H
#define GC_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t value_t;

#define VALUE_NIL    UINT64_C(0)
#define VALUE_FALSE  UINT64_C(8)
#define VALUE_TRUE   UINT64_C(16)
#define VALUE_ABSENT UINT64_C(24)

#define VALUE_LEAST_REFERENCE UINT64_C(64)
#define VALUE_DOUBLE_OFFSET   (UINT64_C(1) << 49)

struct object;

static inline bool value_is_number(value_t v) { return v >= VALUE_DOUBLE_OFFSET; }
static inline bool value_is_reference(value_t v)
{
    return v - VALUE_LEAST_REFERENCE < VALUE_DOUBLE_OFFSET - VALUE_LEAST_REFERENCE;
}
static inline bool value_is_bool(value_t v) { return v == VALUE_FALSE || v == VALUE_TRUE; }
static inline bool value_is_falsey(value_t v) { return v == VALUE_NIL || v == VALUE_FALSE; }

/* Of a number; of a double that guest arithmetic made. */
static inline double value_as_double(value_t v)
{
    double d;
    v -= VALUE_DOUBLE_OFFSET;
    memcpy(&d, &v, sizeof d);
    return d;
}
static inline value_t value_of_double(double d)
{
    value_t v;
    memcpy(&v, &d, sizeof v);
    return v + VALUE_DOUBLE_OFFSET;
}
/* Of a double that comes from raw memory or foreign code: every NaN becomes the one NaN. */
static inline value_t value_of_raw_double(double d)
{
    return value_of_double(d == d ? d : __builtin_nan(""));
}

static inline value_t value_of_bool(bool b) { return b ? VALUE_TRUE : VALUE_FALSE; }
static inline value_t value_of_object(const struct object *object) { return (uintptr_t)object; }
/* Of a reference. */
static inline struct object *value_as_object(value_t v) { return (struct object *)(uintptr_t)v; }

#endif
