/* interp_slow.c -- see interp_priv.h.  SPDX-License-Identifier: MIT */
#include "vm/interp_priv.h"

#include "base/flags.h"
#include "base/insist.h"
#include "gc/heap.h"
#include "vm/array.h"
#include "vm/builtin.h"
#include "vm/class.h"
#include "vm/instance.h"
#include "vm/names.h"
#include "vm/natives.h"
#include "vm/program.h"

/* The code of a frame of attempt, by how many arguments it has: it calls its first argument
 * with the others, and catches.  The book's limit is 255 arguments. */
#define ATTEMPT_MOST 255
static struct instruction attempt_code[ATTEMPT_MOST + 1][2];
static uint32_t attempt_lines[ATTEMPT_MOST + 1][2];
static struct function attempt_functions[ATTEMPT_MOST + 1];

static struct object *name_length;

bool interp_slow_start(void)
{
    for (uint32_t n = 1; n <= ATTEMPT_MOST; n++) {
        attempt_code[n][0] = (struct instruction){ OP_CALL, 1, (uint16_t)(n - 1), 0 };
        attempt_code[n][1] = (struct instruction){ OP_RETURN, 1, 0, 0 };
        attempt_functions[n] = (struct function){ .code = attempt_code[n],
                                                  .code_count = 2,
                                                  .lines = attempt_lines[n],
                                                  .arity = n,
                                                  .register_count = n + 1,
                                                  .is_checked = true,
                                                  .catches = true };
    }
    name_length = names_intern("length", 6);
    return name_length != NULL && builtins_start();
}

/* --- calls ----------------------------------------------------------------------- */

static enum called fail(struct guest_thread *thread, const char *message)
{
    guest_fail(thread, "%s", message);
    return CALLED_FAILED;
}

static enum called fail_arity(struct guest_thread *thread, uint32_t wanted, uint32_t got)
{
    guest_fail(thread, "Expected %u arguments but got %u.", wanted, got);
    return CALLED_FAILED;
}

static enum called fail_undefined(struct guest_thread *thread, const struct object *name)
{
    guest_fail(thread, "Undefined property '%.*s'.", (int)string_length(name), string_bytes(name));
    return CALLED_FAILED;
}

/* False: no room. */
static bool enter(struct guest_thread *thread, struct function *function, value_t closure,
                  value_t *window)
{
    if (function->register_count > (size_t)(thread->stack_end - window) &&
        !guest_thread_make_room(thread, window, function->register_count))
        return false;
    struct frame *frame = ++thread->frame;
    frame->pc = function->code;
    frame->base = window;
    frame->function = function;
    frame->closure = closure;
    return true;
}

enum called push_frame(struct guest_thread *thread, value_t closure, value_t *window,
                       uint32_t argument_count)
{
    struct object *object = value_as_object(closure);
    struct function *function = (struct function *)(uintptr_t)load_relaxed(&object->word[0]);
    if (function->arity != argument_count)
        return fail_arity(thread, function->arity, argument_count);
    return enter(thread, function, closure, window) ? CALLED_FRAME
                                                    : fail(thread, "Stack overflow.");
}

static enum called call_attempt(struct guest_thread *thread, value_t *window,
                                uint32_t argument_count)
{
    if (argument_count == 0)
        return fail(thread, "Expected at least 1 arguments but got 0.");
    return enter(thread, &attempt_functions[argument_count], VALUE_NIL, window)
               ? CALLED_FRAME
               : fail(thread, "Stack overflow.");
}

static bool run_native_mp(struct guest_thread *thread, const struct native *native, value_t *window,
                          uint32_t argument_count)
{
    const struct rooted *outer = thread->mutator.rooted;
    bool is_done = native->call_mp(thread, window, argument_count);
    ASSERT(thread->mutator.rooted == outer, "%s() leaves a ROOTED slot behind", native->name);
    return is_done;
}

/* window[0] is the native itself, or the receiver of a method in C. */
static enum called call_native_mp(struct guest_thread *thread, const struct native *native,
                                  value_t *window, uint32_t argument_count)
{
    if (native->is_attempt)
        return call_attempt(thread, window, argument_count);
    if (native->arity != NATIVE_ANY_ARITY && native->arity != argument_count)
        return fail_arity(thread, native->arity, argument_count);
    return run_native_mp(thread, native, window, argument_count) ? CALLED_DONE : CALLED_FAILED;
}

static enum called call_bound_mp(struct guest_thread *thread, const struct object *bound,
                                 value_t *window, uint32_t argument_count)
{
    value_t method = load_relaxed(&bound->word[1]); /* neither ever changes */
    *window = load_relaxed(&bound->word[0]);
    if (value_is_kind(method, OBJECT_NATIVE))
        return call_native_mp(thread, native_of_object(value_as_object(method)), window,
                              argument_count);
    return push_frame(thread, method, window, argument_count);
}

static enum called call_class_mp(struct guest_thread *thread, value_t *window,
                                 uint32_t argument_count)
{
    struct object *instance = instance_new_mp(thread, window);
    if (!instance)
        return CALLED_FAILED;
    value_t init = load_acquire(&value_as_object(*window)->word[CLASS_WORD_INIT]);
    *window = value_of_object(instance);
    if (init != VALUE_NIL)
        return push_frame(thread, init, window, argument_count);
    return argument_count == 0 ? CALLED_DONE : fail_arity(thread, 0, argument_count);
}

enum called call_value_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    struct object *callee = value_as_object(*window);
    switch (value_is_reference(*window) ? object_kind(callee) : OBJECT_NONE) {
    case OBJECT_CLOSURE:
        return push_frame(thread, *window, window, argument_count);
    case OBJECT_NATIVE:
        return call_native_mp(thread, native_of_object(callee), window, argument_count);
    case OBJECT_CLASS:
        return call_class_mp(thread, window, argument_count);
    case OBJECT_BOUND_METHOD:
        return call_bound_mp(thread, callee, window, argument_count);
    default:
        return fail(thread, "Can only call functions and classes.");
    }
}

static enum object_kind kind_of(value_t value)
{
    return value_is_reference(value) ? object_kind(value_as_object(value)) : OBJECT_NONE;
}

/* A property of a library object that is called: what it holds cannot be called. */
static enum called invoke_builtin_mp(struct guest_thread *thread, value_t *window,
                                     uint32_t argument_count, struct site *site)
{
    enum object_kind kind = kind_of(*window);
    if (!builtin_kind(kind))
        return fail(thread, "Only instances have methods.");
    const struct builtin *builtin = builtin_find(kind, site->name);
    if (!builtin)
        return fail_undefined(thread, site->name);
    if (builtin->is_property)
        return fail(thread, "Can only call functions and classes.");
    return call_native_mp(thread, &builtin->native, window, argument_count);
}

enum called invoke_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count,
                      struct site *site)
{
    if (!value_is_kind(*window, OBJECT_INSTANCE))
        return invoke_builtin_mp(thread, window, argument_count, site);
    struct property found = instance_get_mp(thread, window, site);
    switch (found.kind) {
    case PROPERTY_METHOD:
        return push_frame(thread, found.value, window, argument_count);
    case PROPERTY_FIELD:
        *window = found.value;
        return call_value_mp(thread, window, argument_count);
    default:
        return fail_undefined(thread, site->name);
    }
}

enum called super_invoke(struct guest_thread *thread, value_t *window, uint32_t argument_count,
                         struct site *site)
{
    value_t superclass = window[argument_count + 1];
    if (!value_is_kind(superclass, OBJECT_CLASS))
        return fail(thread, "Superclass must be a class.");
    uint32_t method = class_find_method(value_as_object(superclass), site->name);
    if (!method)
        return fail_undefined(thread, site->name);
    return push_frame(thread, class_method(value_as_object(superclass), method), window,
                      argument_count);
}

/* --- properties --------------------------------------------------------------------- */

static bool bind_mp(struct guest_thread *thread, value_t *target, const value_t *receiver,
                    value_t method)
{
    ROOTED(&thread->mutator, closure, method);
    struct object *bound =
        heap_allocate_mp(&thread->mutator, object_header(OBJECT_BOUND_METHOD, 3, 0), 3);
    if (!bound)
        return guest_fail_out_of_heap(thread, 3 * OBJECT_WORD_BYTES);
    store_relaxed(&bound->word[0], *receiver); /* published by whoever stores it */
    store_relaxed(&bound->word[1], closure.value);
    *target = value_of_object(bound);
    return true;
}

static bool get_builtin_mp(struct guest_thread *thread, value_t *target, const value_t *object,
                           struct site *site)
{
    struct builtin *builtin = builtin_find(kind_of(*object), site->name);
    if (!builtin)
        return fail_undefined(thread, site->name) != CALLED_FAILED;
    if (!builtin->is_property)
        return bind_mp(thread, target, object, value_of_object((struct object *)&builtin->native));
    ROOTED(&thread->mutator, window, *object);
    if (!run_native_mp(thread, &builtin->native, &window.value, 0))
        return false;
    *target = window.value;
    return true;
}

bool get_property_mp(struct guest_thread *thread, value_t *target, const value_t *object,
                     struct site *site)
{
    if (!value_is_kind(*object, OBJECT_INSTANCE)) {
        if (builtin_kind(kind_of(*object)))
            return get_builtin_mp(thread, target, object, site);
        if (!array_is(*object))
            return guest_fail(thread, "Only instances have properties.");
        if (site->name != name_length)
            return fail_undefined(thread, site->name) != CALLED_FAILED;
        *target = value_of_double((double)object_length(value_as_object(*object)));
        return true;
    }
    struct property found = instance_get_mp(thread, object, site);
    if (found.kind == PROPERTY_METHOD)
        return bind_mp(thread, target, object, found.value);
    if (found.kind == PROPERTY_NONE)
        return fail_undefined(thread, site->name) != CALLED_FAILED;
    *target = found.value;
    return true;
}

bool set_property_mp(struct guest_thread *thread, const value_t *object, struct site *site,
                     const value_t *value)
{
    if (!value_is_kind(*object, OBJECT_INSTANCE))
        return guest_fail(thread, "Only instances have fields.");
    return instance_set_mp(thread, object, site, value);
}

/* *target is the receiver, and then the bound method. */
bool get_super_mp(struct guest_thread *thread, value_t *target, const value_t *superclass,
                  struct site *site)
{
    if (!value_is_kind(*superclass, OBJECT_CLASS))
        return guest_fail(thread, "Superclass must be a class.");
    const struct object *class = value_as_object(*superclass);
    uint32_t method = class_find_method(class, site->name);
    if (!method)
        return fail_undefined(thread, site->name) != CALLED_FAILED;
    return bind_mp(thread, target, target, class_method(class, method));
}

/* --- the rest ------------------------------------------------------------------------- */

bool add_slow_mp(struct guest_thread *thread, value_t *target, const value_t *left,
                 const value_t *right)
{
    if (!value_is_kind(*left, OBJECT_STRING) || !value_is_kind(*right, OBJECT_STRING))
        return guest_fail(thread, "Operands must be two numbers or two strings.");
    struct object *sum = string_concatenate_mp(&thread->mutator, left, right);
    if (!sum) {
        uint64_t bytes = (uint64_t)string_length(value_as_object(*left)) +
                         string_length(value_as_object(*right));
        return guest_fail_out_of_heap(thread, object_words_for_length(OBJECT_STRING, bytes) *
                                                  OBJECT_WORD_BYTES);
    }
    *target = value_of_object(sum);
    return true;
}

bool new_cell_mp(struct guest_thread *thread, value_t *target, const value_t *value)
{
    struct object *cell = heap_allocate_mp(&thread->mutator, object_header(OBJECT_CELL, 2, 0), 2);
    if (!cell)
        return guest_fail_out_of_heap(thread, 2 * OBJECT_WORD_BYTES);
    store_relaxed(&cell->word[0], *value); /* published with the closure that captures it */
    *target = value_of_object(cell);
    return true;
}

bool new_closure_mp(struct guest_thread *thread, value_t *target, struct function *function)
{
    uint64_t words = 2 + (uint64_t)function->capture_count;
    struct object *closure =
        heap_allocate_mp(&thread->mutator, object_header(OBJECT_CLOSURE, words, 0), words);
    if (!closure)
        return guest_fail_out_of_heap(thread, words * OBJECT_WORD_BYTES);
    const struct frame *frame = thread->frame;
    const struct object *running = value_as_object(frame->closure);
    store_relaxed(&closure->word[0], (uintptr_t)function); /* published by whoever stores it */
    for (uint32_t i = 0; i < function->capture_count; i++) {
        struct capture capture = function->captures[i];
        store_relaxed(&closure->word[1 + i], capture.is_register
                                                 ? frame->base[capture.index]
                                                 : load_relaxed(&running->word[1 + capture.index]));
    }
    *target = value_of_object(closure);
    return true;
}

bool fail_undefined_global(struct guest_thread *thread, uint32_t index)
{
    return guest_fail(thread, "Undefined variable '%s'.",
                      program_global_name(thread->program, index));
}

static const struct doing_what loop_without_polls = { "counted loop",
                                                      "in a counted loop without polls", "" };
static const struct doing_what loop_with_strips = { "counted loop", "in strips of a counted loop",
                                                    "" };

void counted_loop_begins(struct guest_thread *thread, bool has_strips, double limit)
{
    uint64_t total = has_strips && limit >= 1 && limit < 0x1p63 ? (uint64_t)limit : 0;
    thread->is_in_counted_loop = true;
    doing_begin(thread->doing, has_strips ? &loop_with_strips : &loop_without_polls, total);
}

void counted_loop_end_slow(struct guest_thread *thread)
{
    thread->is_in_counted_loop = false;
    doing_end(thread->doing,
              (struct doing_value){ NULL, 0, 0, NULL }); /* guest code says no more */
}

value_t strip_end(double counter, value_t step, double limit)
{
    double end = counter;
    if (value_is_number(step))
        end += (double)flags->loop_strip_mining_iter * value_as_double(step);
    /* A step too small to change the counter would never end the strip. */
    if (!(end > counter) || counter + value_as_double(step) == counter)
        return value_of_double(counter);
    return value_of_double(end < limit ? end : limit);
}
