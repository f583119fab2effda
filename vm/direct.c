/* direct.c -- see direct.h.
 *
 * A buffer is published after its last byte is zero: its memory is taken and zeroed first, and
 * the object that leads to it is made last.  While it is zeroed the thread that makes it holds a
 * use.  The object keeps the buffer: when a collection has found the object dead, the cleaner
 * gives the memory back.  A limit that live and dead buffers exceed together asks for a
 * collection; a limit that live ones exceed is OutOfMemory.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/direct.h"

#include "alloc/bulk.h"
#include "alloc/direct.h"
#include "gc/collection.h"
#include "gc/heap.h"
#include "vm/array.h"
#include "vm/outside.h"

#include <inttypes.h>

#define MOST_TRIES 2 /* collections for one buffer: others may take what the first one freed */

/* NULL for anything else than a buffer. */
static struct direct_buffer *buffer_of(value_t value)
{
    if (!value_is_kind(value, OBJECT_DIRECT))
        return NULL;
    return (struct direct_buffer *)(uintptr_t)load_acquire(&value_as_object(value)->word[0]);
}

/* Nobody can use the buffer of a dead object, but a late use may count itself for a moment. */
static bool release_buffer(void *part)
{
    if (direct_free(part) == DIRECT_IN_USE)
        return false;
    outside_free(part);
    return true;
}

/* --- Direct(n) ------------------------------------------------------------------------- */

static bool fail_allocation(struct guest_thread *thread, enum direct_result why, uint64_t bytes)
{
    char text[160];
    struct direct_figures figures = direct_figures();
    if (why == DIRECT_LIMIT)
        snprintf(text, sizeof text,
                 "OutOfMemory: cannot reserve %" PRIu64 " bytes of direct memory, %" PRIu64
                 " of %" PRIu64 " are reserved.",
                 bytes, figures.reserved_bytes, figures.limit_bytes);
    else
        snprintf(text, sizeof text,
                 "OutOfMemory: the system has no %" PRIu64 " bytes for a direct buffer.", bytes);
    return guest_fail_kind(thread, GUEST_ERROR_OUT_OF_MEMORY, text);
}

static enum direct_result try_allocate_mp(struct participant *self, uint64_t bytes,
                                          struct direct_buffer *buffer)
{
    participant_enter_safe(self, PARTICIPANT_BLOCKED);
    enum direct_result result = direct_allocate(bytes, buffer);
    participant_leave_safe(self, PARTICIPANT_GUEST);
    return result;
}

/* True: a collection was done, and the buffers that it found dead are free. */
static bool collect_buffers_mp(struct guest_thread *thread)
{
    struct participant *self = guest_thread_participant(thread);
    if (!collection_request_mp(&thread->mutator, COLLECTION_DIRECT_MEMORY, 0))
        return false;
    participant_enter_safe(self, PARTICIPANT_BLOCKED);
    weak_clean_dead();
    participant_leave_safe(self, PARTICIPANT_GUEST);
    return true;
}

/* Memory for the record and the buffer; the system is asked in BLOCKED. */
static struct direct_buffer *allocate_mp(struct guest_thread *thread, uint64_t bytes)
{
    struct participant *self = guest_thread_participant(thread);
    enum direct_result result = DIRECT_NO_MEMORY;
    struct direct_buffer *buffer = outside_calloc(sizeof *buffer, release_buffer);
    for (int tries = 0; buffer; tries++) {
        result = try_allocate_mp(self, bytes, buffer);
        bool may_help = bytes <= direct_figures().limit_bytes; /* else no collection does */
        if (result == DIRECT_OK || tries == MOST_TRIES || !may_help || !collect_buffers_mp(thread))
            break;
    }
    if (result == DIRECT_OK)
        return buffer;
    if (buffer)
        outside_free(buffer);
    fail_allocation(thread, result, bytes);
    return NULL;
}

bool direct_native_new_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    double wanted = value_is_number(window[1]) ? value_as_double(window[1]) : -1;
    if (!(wanted >= 0 && wanted <= (double)DIRECT_MOST_BYTES) || wanted != (double)(uint64_t)wanted)
        return guest_fail(thread, "Size must be a whole number from 0 to %" PRIu64 ".",
                          DIRECT_MOST_BYTES);
    struct direct_buffer *buffer = allocate_mp(thread, (uint64_t)wanted);
    if (!buffer)
        return false;
    bulk_zero_mp(guest_thread_participant(thread), buffer->bytes, buffer->size);
    direct_done(buffer);
    struct object *object =
        heap_allocate_mp(&thread->mutator, object_header(OBJECT_DIRECT, 2, 0), 2);
    if (!object) {
        release_buffer(buffer);
        return guest_fail_out_of_heap(thread, 2 * OBJECT_WORD_BYTES);
    }
    store_release(&object->word[0], (uintptr_t)buffer);
    window[0] = value_of_object(object);
    outside_watch(buffer, window[0]);
    return true;
}

/* --- free, zero ---------------------------------------------------------------------------- */

static bool fail_freed(struct guest_thread *thread)
{
    return guest_fail(thread, "Buffer was freed.");
}

static bool free_mp(struct guest_thread *thread, value_t *window, struct direct_buffer *buffer)
{
    struct participant *self = guest_thread_participant(thread);
    participant_enter_safe(self, PARTICIPANT_BLOCKED); /* unmapping takes long */
    enum direct_result result = direct_free(buffer);
    participant_leave_safe(self, PARTICIPANT_GUEST);
    window[0] = VALUE_NIL;
    if (result == DIRECT_IN_USE)
        return guest_fail(thread, "Buffer is in use.");
    return result == DIRECT_OK || fail_freed(thread);
}

bool direct_native_free_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    struct direct_buffer *buffer = buffer_of(window[1]);
    return buffer ? free_mp(thread, window, buffer)
                  : guest_fail(thread, "Only direct buffers can be freed.");
}

bool direct_method_free_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    return free_mp(thread, window, buffer_of(window[0]));
}

bool direct_native_zero_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    struct direct_buffer *buffer = buffer_of(window[1]);
    if (!buffer)
        return guest_fail(thread, "Only direct buffers can be zeroed.");
    if (!direct_use(buffer))
        return fail_freed(thread);
    bulk_zero_mp(guest_thread_participant(thread), buffer->bytes, buffer->size);
    direct_done(buffer);
    window[0] = VALUE_NIL;
    return true;
}

/* --- elements --------------------------------------------------------------------------------- */

uint64_t direct_size(const struct object *object)
{
    return buffer_of(value_of_object((struct object *)object))->size; /* never changes */
}

static _Atomic uint8_t *byte_at(struct direct_buffer *buffer, uint64_t at)
{
    return (_Atomic uint8_t *)buffer->bytes + at;
}

value_t direct_get(struct guest_thread *thread, value_t object, value_t index)
{
    struct direct_buffer *buffer = buffer_of(object);
    uint64_t at;
    if (!array_check_index(thread, index, buffer->size, &at))
        return VALUE_ABSENT;
    if (!direct_use(buffer)) {
        fail_freed(thread);
        return VALUE_ABSENT;
    }
    uint8_t byte = load_relaxed(byte_at(buffer, at)); /* a race yields some byte stored there */
    direct_done(buffer);
    return value_of_double(byte);
}

bool direct_set(struct guest_thread *thread, value_t object, value_t index, value_t value)
{
    struct direct_buffer *buffer = buffer_of(object);
    uint64_t at;
    uint8_t byte;
    if (!array_check_index(thread, index, buffer->size, &at) ||
        !array_check_byte(thread, value, &byte))
        return false;
    if (!direct_use(buffer))
        return fail_freed(thread);
    store_relaxed(byte_at(buffer, at), byte); /* as above */
    direct_done(buffer);
    return true;
}

bool direct_method_get(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    window[0] = direct_get(thread, window[0], window[1]);
    return window[0] != VALUE_ABSENT;
}

bool direct_method_set(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    bool is_done = direct_set(thread, window[0], window[1], window[2]);
    window[0] = VALUE_NIL;
    return is_done;
}

bool direct_property_size(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)thread, (void)argument_count;
    window[0] = value_of_double((double)direct_size(value_as_object(window[0])));
    return true;
}
