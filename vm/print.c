/* print.c -- see print.h.  SPDX-License-Identifier: MIT */
#include "vm/print.h"

#include "vm/class.h"
#include "vm/direct.h"
#include "vm/guest_output.h"
#include "vm/instance.h"
#include "vm/string.h"
#include "vm/sync.h"
#include "vm/threads.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "before name after", a name of any length. */
static bool print_name_mp(struct guest_thread *thread, const char *before,
                          const struct object *name, const char *after)
{
    size_t head = strlen(before), length = string_length(name), tail = strlen(after);
    char fixed[128],
        *text = head + length + tail <= sizeof fixed ? fixed : malloc(head + length + tail);
    if (!text)
        return guest_fail_kind(thread, GUEST_ERROR_OUT_OF_MEMORY,
                               "OutOfMemory: the system has none for a line to print.");
    memcpy(text, before, head);
    memcpy(text + head, string_bytes(name), length); /* outside the heap: it stays */
    memcpy(text + head + length, after, tail);
    bool is_done = guest_output_line_mp(thread, NULL, text, head + length + tail);
    if (text != fixed)
        free(text);
    return is_done;
}

static bool print_text_mp(struct guest_thread *thread, const char *text)
{
    return guest_output_line_mp(thread, NULL, text, strlen(text));
}

/* As the book's C prints a double; of a NaN no sign, which means nothing. */
static bool print_number_mp(struct guest_thread *thread, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%g", isnan(number) ? NAN : number);
    return print_text_mp(thread, isnan(number) ? "nan" : text);
}

static bool print_length_mp(struct guest_thread *thread, const char *kind, uint64_t length)
{
    char text[64];
    snprintf(text, sizeof text, "<%s %" PRIu64 ">", kind, length);
    return print_text_mp(thread, text);
}

static bool print_thread_mp(struct guest_thread *thread, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "<Thread %s>", name);
    return print_text_mp(thread, text);
}

static bool print_closure_mp(struct guest_thread *thread, struct object *closure)
{
    struct function *f = (struct function *)(uintptr_t)load_relaxed(&closure->word[0]);
    return f->name ? print_name_mp(thread, "<fn ", f->name, ">")
                   : print_text_mp(thread, "<script>");
}

static bool print_method_mp(struct guest_thread *thread, struct object *method)
{
    return object_kind(method) == OBJECT_NATIVE ? print_text_mp(thread, "<native fn>")
                                                : print_closure_mp(thread, method);
}

static struct object *class_name(value_t class)
{
    return class_description(value_as_object(class))->name;
}

static bool print_object_mp(struct guest_thread *thread, const value_t *slot)
{
    struct object *object = value_as_object(*slot);
    switch (object_kind(object)) {
    case OBJECT_STRING:
        return guest_output_line_mp(thread, slot, string_bytes(object), string_length(object));
    case OBJECT_ARRAY:
        return print_length_mp(thread, "Array", object_length(object));
    case OBJECT_BYTES:
        return print_length_mp(thread, "Bytes", object_length(object));
    case OBJECT_DOUBLES:
        return print_length_mp(thread, "Doubles", object_length(object));
    case OBJECT_CLOSURE:
        return print_closure_mp(thread, object);
    case OBJECT_BOUND_METHOD:
        return print_method_mp(thread, value_as_object(load_relaxed(&object->word[1])));
    case OBJECT_THREAD:
        return print_thread_mp(thread, threads_record_of(*slot)->name);
    case OBJECT_DIRECT:
        return print_length_mp(thread, "Direct", direct_size(object));
    case OBJECT_LOCK:
        return print_text_mp(thread, "<Lock>");
    case OBJECT_BARRIER:
        return print_length_mp(thread, "Barrier", sync_barrier_count(object));
    case OBJECT_NATIVE:
        return print_text_mp(thread, "<native fn>");
    case OBJECT_CLASS:
        return print_name_mp(thread, "", class_name(*slot), "");
    case OBJECT_INSTANCE:
        return print_name_mp(
            thread, "", class_name(load_relaxed(&object->word[INSTANCE_WORD_CLASS])), " instance");
    default: /* a leftover cell in a register: no compiled code prints one */
        return print_text_mp(thread, object_kind_name(object_kind(object)));
    }
}

bool print_value_mp(struct guest_thread *thread, const value_t *slot)
{
    if (value_is_number(*slot))
        return print_number_mp(thread, value_as_double(*slot));
    if (value_is_reference(*slot))
        return print_object_mp(thread, slot);
    return print_text_mp(thread, *slot == VALUE_NIL     ? "nil"
                                 : *slot == VALUE_TRUE  ? "true"
                                 : *slot == VALUE_FALSE ? "false"
                                                        : "<absent>");
}
