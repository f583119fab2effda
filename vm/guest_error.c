/* guest_error.c -- see guest_error.h.  SPDX-License-Identifier: MIT */
#include "vm/guest_error.h"

#include "gc/heap.h"
#include "vm/error_object.h"
#include "vm/guest_thread.h"
#include "vm/string.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A trace shows this many of the innermost frames, and as many of the outermost. */
#define TRACE_END_FRAMES 20

/* --- the mistake ------------------------------------------------------------------ */

void guest_error_clear(struct guest_thread *thread)
{
    struct guest_error *e = &thread->error;
    if (e->message != e->fixed)
        free(e->message);
    e->message = NULL;
    free(e->cause);
    e->cause = NULL;
    e->kind = GUEST_ERROR_NONE;
}

static void set_message(struct guest_error *e, const char *format, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int length = vsnprintf(e->fixed, sizeof e->fixed, format, ap);
    e->message = e->fixed;
    if (length >= (int)sizeof e->fixed) { /* a long name in it */
        char *whole = malloc((size_t)length + 1);
        if (whole) {
            vsnprintf(whole, (size_t)length + 1, format, again);
            e->message = whole;
        }
    }
    va_end(again);
}

bool guest_fail(struct guest_thread *thread, const char *format, ...)
{
    va_list ap;
    guest_error_clear(thread);
    va_start(ap, format);
    set_message(&thread->error, format, ap);
    va_end(ap);
    thread->error.kind = GUEST_ERROR_RUNTIME;
    return false;
}

bool guest_fail_kind(struct guest_thread *thread, enum guest_error_kind kind, const char *message)
{
    guest_fail(thread, "%s", message);
    thread->error.kind = kind;
    return false;
}

bool guest_fail_out_of_heap(struct guest_thread *thread, uint64_t asked_bytes)
{
    char text[160];
    heap_describe_failure(asked_bytes, text, sizeof text);
    guest_fail(thread, "OutOfMemory: %s.", text);
    thread->error.kind = GUEST_ERROR_OUT_OF_MEMORY;
    return false;
}

/* --- the trace ------------------------------------------------------------------------ */

struct text {
    char *at;
    size_t length, capacity;
    bool has_failed;
};

static void append(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(struct text *t, const char *format, ...)
{
    for (;;) {
        size_t room = t->capacity - t->length;
        va_list ap;
        va_start(ap, format);
        int wanted = vsnprintf(t->at ? t->at + t->length : NULL, room, format, ap);
        va_end(ap);
        if ((size_t)wanted < room) {
            t->length += (size_t)wanted;
            return;
        }
        size_t capacity = (t->capacity + (size_t)wanted + 64) * 2;
        char *larger = realloc(t->at, capacity);
        if (!larger) {
            t->has_failed = true;
            return;
        }
        t->at = larger;
        t->capacity = capacity;
    }
}

/* Those of attempt are the runtime's own.  Not by the closure: main writes its trace in BLOCKED,
 * where a collection may be moving what the frames hold. */
static bool is_shown(const struct frame *frame) { return !frame->function->catches; }

static uint32_t line_of(const struct frame *frame)
{
    const struct function *f = frame->function;
    return f->lines[frame->pc - f->code - 1]; /* pc is the next instruction */
}

static void append_frame(struct text *t, const struct frame *frame)
{
    const struct object *name = frame->function->name;
    if (name)
        append(t, "[line %u] in %.*s()\n", line_of(frame), (int)string_length(name),
               string_bytes(name));
    else
        append(t, "[line %u] in script\n", line_of(frame));
}

static size_t count_frames(const struct guest_thread *thread)
{
    size_t count = 0;
    for (const struct frame *f = thread->frame; f > thread->frames; f--)
        count += is_shown(f);
    return count;
}

char *guest_trace(const struct guest_thread *thread, size_t *length_out)
{
    struct text t = { NULL, 0, 0, false };
    size_t count = count_frames(thread), number = 0;
    bool is_cut = count > 2 * TRACE_END_FRAMES;
    append(&t, "%s", thread->error.cause ? thread->error.cause : "");
    for (const struct frame *f = thread->frame; f > thread->frames; f--) {
        if (!is_shown(f))
            continue;
        if (is_cut && number == TRACE_END_FRAMES)
            append(&t, "... %zu more\n", count - 2 * TRACE_END_FRAMES);
        if (!is_cut || number < TRACE_END_FRAMES || number >= count - TRACE_END_FRAMES)
            append_frame(&t, f);
        number++;
    }
    if (t.has_failed) {
        free(t.at);
        return NULL;
    }
    *length_out = t.length > 0 ? t.length - 1 : 0; /* without the last newline */
    return t.at;
}

void guest_error_write(struct guest_thread *thread, FILE *out)
{
    size_t length = 0;
    char *trace = guest_trace(thread, &length);
    fprintf(out, "%s\n", thread->error.message);
    if (trace && length > 0)
        fprintf(out, "%.*s\n", (int)length, trace);
    free(trace);
}

void guest_error_set_cause(struct guest_thread *thread, const char *thread_name, const char *trace)
{
    struct text t = { NULL, 0, 0, false };
    if (trace && trace[0])
        append(&t, "%s\n", trace);
    append(&t, "[joined thread \"%s\"]\n", thread_name);
    if (t.has_failed)
        free(t.at);
    else
        thread->error.cause = t.at;
}

/* --- unwinding -------------------------------------------------------------------------- */

static struct frame *nearest_that_catches(struct guest_thread *thread)
{
    for (struct frame *f = thread->frame; f > thread->frames; f--)
        if (f->function->catches)
            return f;
    return NULL;
}

/* The frame of attempt waits at its RETURN, with the result in its register 1. */
bool guest_error_unwind_mp(struct guest_thread *thread)
{
    bool may_be_caught = thread->error.kind == GUEST_ERROR_RUNTIME ||
                         thread->error.kind == GUEST_ERROR_OUT_OF_MEMORY;
    struct frame *catcher = may_be_caught ? nearest_that_catches(thread) : NULL;
    if (!catcher)
        return false;
    size_t length = 0;
    char *trace = guest_trace(thread, &length);
    thread->frame = catcher; /* registers above are free again */
    value_t object = error_object_new_mp(thread, thread->error.message, trace ? trace : "", length);
    free(trace);
    catcher->base[1] = object;
    guest_error_clear(thread);
    return true;
}
