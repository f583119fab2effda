/* error_object.c -- see error_object.h.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/error_object.h"

#include "base/insist.h"
#include "vm/class.h"
#include "vm/instance.h"
#include "vm/names.h"
#include "vm/string.h"

#include <string.h>

static value_t class; /* a root; written once, before the first program runs */
static struct site message_site, trace_site;

value_t *error_object_class(void) { return &class; }

bool error_object_start_mp(struct guest_thread *thread)
{
    if (class != VALUE_NIL)
        return true;
    struct class_site site = { names_intern("Error", 5), 0, 2 };
    message_site.name = names_intern("message", 7);
    trace_site.name = names_intern("trace", 5);
    if (!site.name || !message_site.name || !trace_site.name)
        return guest_fail_kind(thread, GUEST_ERROR_OUT_OF_MEMORY,
                               "OutOfMemory: the system has none for a name.");
    struct object *made = class_new_mp(thread, &site);
    if (!made)
        return false;
    class = value_of_object(made);
    return class_freeze(thread, class);
}

/* nil = a guest error is recorded. */
static value_t new_object_mp(struct guest_thread *thread)
{
    struct object *instance = instance_new_mp(thread, &class);
    if (!instance)
        return VALUE_NIL;
    ROOTED(&thread->mutator, object, value_of_object(instance));
    ROOTED(&thread->mutator, nothing, VALUE_NIL);
    bool is_done = instance_set_mp(thread, &object.value, &message_site, &nothing.value) &&
                   instance_set_mp(thread, &object.value, &trace_site, &nothing.value);
    return is_done ? object.value : VALUE_NIL;
}

bool error_object_make_spare_mp(struct guest_thread *thread)
{
    if (thread->spare_error == VALUE_NIL)
        thread->spare_error = new_object_mp(thread);
    return thread->spare_error != VALUE_NIL;
}

value_t error_object_spare_for_another_mp(struct guest_thread *thread)
{
    return new_object_mp(thread);
}

/* In the heap, else outside it, else the empty string. */
static value_t text_mp(struct guest_thread *thread, const char *bytes, size_t length)
{
    struct object *string = string_new_mp(&thread->mutator, bytes, length);
    if (!string)
        string = names_intern(bytes, length);
    if (!string)
        string = names_intern("", 0);
    return string ? value_of_object(string) : VALUE_NIL;
}

/* Both fields are there since the object was made, so these stores allocate nothing. */
static void put_mp(struct guest_thread *thread, const value_t *object, struct site *site,
                   value_t text)
{
    ROOTED(&thread->mutator, value, text);
    bool is_done = instance_set_mp(thread, object, site, &value.value);
    INSIST(is_done, "storing a field that is there failed");
}

value_t error_object_new_mp(struct guest_thread *thread, const char *message, const char *trace,
                            size_t trace_length)
{
    char kept[sizeof thread->error.fixed];
    bool is_fixed =
        message == thread->error.fixed; /* making the object may fail and overwrite it */
    if (is_fixed)
        message = memcpy(kept, message, sizeof kept);
    else
        thread->error.message = NULL; /* ours to the end of this function */
    ROOTED(&thread->mutator, object, new_object_mp(thread));
    if (object.value == VALUE_NIL)
        object.value = thread->spare_error;
    put_mp(thread, &object.value, &message_site, text_mp(thread, message, strlen(message)));
    put_mp(thread, &object.value, &trace_site, text_mp(thread, trace, trace_length));
    if (!is_fixed)
        thread->error.message = (char *)message; /* cleared by the caller */
    return object.value;
}
