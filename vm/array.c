/* array.c -- see array.h.
 *
 * Elements of an ARRAY are stored with release and read with acquire, so that a thread
 * that finds an object in one finds it whole.  Bytes and doubles are read and written
 * relaxed: a race yields some value stored there.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/array.h"

#include "gc/heap.h"
#include "vm/direct.h"

#include <inttypes.h>

struct object *array_new_mp(struct guest_thread *thread, enum object_kind kind, value_t length)
{
    double wanted = value_is_number(length) ? value_as_double(length) : -1;
    if (!(wanted >= 0 && wanted <= (double)ARRAY_MAX_LENGTH) ||
        wanted != (double)(uint64_t)wanted) {
        guest_fail(thread, "Length must be a whole number from 0 to %" PRIu64 ".",
                   ARRAY_MAX_LENGTH);
        return NULL;
    }
    uint64_t count = (uint64_t)wanted, words = object_words_for_length(kind, count);
    struct object *array = heap_allocate_mp(&thread->mutator, object_header(kind, 0, 0), words);
    if (!array) {
        guest_fail_out_of_heap(thread, words * OBJECT_WORD_BYTES);
        return NULL;
    }
    store_relaxed(&array->word[0], count); /* the publishing store releases it */
    return array;
}

/* Doubles from 2^53 on are all whole; a NaN is not. */
static bool is_whole(double number)
{
    if (!(number > -0x1p53 && number < 0x1p53))
        return number == number;
    return number == (double)(int64_t)number;
}

bool array_check_index(struct guest_thread *thread, value_t index, uint64_t length,
                       uint64_t *at_out)
{
    double wanted = value_is_number(index) ? value_as_double(index) : 0.5;
    if (!is_whole(wanted))
        return guest_fail(thread, "Index must be a whole number.");
    if (!(wanted >= 0 && wanted < (double)length))
        return guest_fail(thread, "Index %.15g is out of bounds for length %" PRIu64 ".", wanted,
                          length);
    *at_out = (uint64_t)wanted;
    return true;
}

bool array_check_byte(struct guest_thread *thread, value_t value, uint8_t *byte_out)
{
    double number = value_is_number(value) ? value_as_double(value) : -1;
    if (!(number >= 0 && number <= 255) || !is_whole(number))
        return guest_fail(thread, "A byte must be a whole number from 0 to 255.");
    *byte_out = (uint8_t)number;
    return true;
}

/* True when both are right; else a guest error is recorded. */
static bool check(struct guest_thread *thread, value_t array, value_t index, uint64_t *at_out)
{
    if (!array_is(array))
        return guest_fail(thread, "Only arrays can be indexed.");
    return array_check_index(thread, index, object_length(value_as_object(array)), at_out);
}

static _Atomic uint8_t *byte_at(struct object *bytes, uint64_t at)
{
    return (_Atomic uint8_t *)&bytes->word[1] + at;
}

value_t array_get(struct guest_thread *thread, value_t array, value_t index)
{
    uint64_t at, bits;
    double number;
    if (value_is_kind(array, OBJECT_DIRECT))
        return direct_get(thread, array, index);
    if (!check(thread, array, index, &at))
        return VALUE_ABSENT;
    struct object *object = value_as_object(array);
    switch (object_kind(object)) {
    case OBJECT_BYTES:
        return value_of_double(load_relaxed(byte_at(object, at)));
    case OBJECT_DOUBLES:
        bits = load_relaxed(&object->word[1 + at]);
        memcpy(&number, &bits, sizeof number);
        return value_of_raw_double(number);
    default:
        return load_acquire(&object->word[1 + at]);
    }
}

static bool set_byte(struct guest_thread *thread, struct object *bytes, uint64_t at, value_t value)
{
    uint8_t byte;
    if (!array_check_byte(thread, value, &byte))
        return false;
    store_relaxed(byte_at(bytes, at), byte);
    return true;
}

static bool set_double(struct guest_thread *thread, struct object *doubles, uint64_t at,
                       value_t value)
{
    if (!value_is_number(value))
        return guest_fail(thread, "Only numbers can be stored in Doubles.");
    store_relaxed(&doubles->word[1 + at], value - VALUE_DOUBLE_OFFSET); /* the double's bits */
    return true;
}

bool array_set(struct guest_thread *thread, value_t array, value_t index, value_t value)
{
    uint64_t at;
    if (value_is_kind(array, OBJECT_DIRECT))
        return direct_set(thread, array, index, value);
    if (!check(thread, array, index, &at))
        return false;
    struct object *object = value_as_object(array);
    switch (object_kind(object)) {
    case OBJECT_BYTES:
        return set_byte(thread, object, at, value);
    case OBJECT_DOUBLES:
        return set_double(thread, object, at, value);
    default:
        store_release(&object->word[1 + at], value);
        return true;
    }
}
