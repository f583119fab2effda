/* class.c -- see class.h.  SPDX-License-Identifier: MIT */
#include "vm/class.h"

#include "gc/heap.h"
#include "vm/string.h"

#include <stdlib.h>

#define METHODS_FIRST_WORD 0
#define METHODS_MAX_PAIRS  16384u /* the size in words has 16 bits */

/* All descriptions there are; they live as long as the process, as shapes do. */
static _Atomic(struct class_description *) descriptions;

static void keep_description(struct class_description *described)
{
    struct class_description *head = load_relaxed(&descriptions);
    do
        described->next = head;
    while (!compare_exchange_seq(&descriptions, &head, described));
}

/* --- method tables -------------------------------------------------------------- */

static uint32_t pairs_of(const struct object *methods)
{
    return (uint32_t)(object_header_size_words(load_relaxed(&methods->header)) - 1) / 2;
}

/* The smallest power of two with a third free, so that searches end; 0 = too many. */
static uint32_t pairs_for(uint32_t method_count)
{
    uint32_t pairs = 2;
    while (pairs <= METHODS_MAX_PAIRS && method_count * 3 > pairs * 2)
        pairs *= 2;
    return pairs <= METHODS_MAX_PAIRS ? pairs : 0;
}

/* Word of the name's entry, or of the free one where it would go. */
static uint32_t find_entry(const struct object *methods, const struct object *name)
{
    uint32_t mask = pairs_of(methods) - 1, at = string_hash((struct object *)name) & mask;
    for (;; at = (at + 1) & mask) {
        value_t there = load_relaxed(&methods->word[2 * at]); /* final once published */
        if (there == value_of_object(name) || there == VALUE_NIL)
            return 2 * at;
    }
}

uint32_t class_find_method(const struct object *class, const struct object *name)
{
    value_t table = load_relaxed(&class->word[CLASS_WORD_METHODS]);
    if (table == VALUE_NIL)
        return 0;
    uint32_t entry = find_entry(value_as_object(table), name);
    return load_relaxed(&value_as_object(table)->word[entry]) == VALUE_NIL ? 0 : entry + 1;
}

static struct object *new_methods_mp(struct guest_thread *thread, uint32_t method_count)
{
    uint32_t pairs = pairs_for(method_count);
    if (!pairs) {
        guest_fail(thread, "Too many methods in class.");
        return NULL;
    }
    uint64_t words = 1 + 2 * (uint64_t)pairs;
    struct object *methods =
        heap_allocate_mp(&thread->mutator, object_header(OBJECT_METHODS, words, 0), words);
    if (!methods)
        guest_fail_out_of_heap(thread, words * OBJECT_WORD_BYTES);
    return methods;
}

/* The name last: a reader that finds it finds the closure. */
static bool put_method(struct object *methods, const struct object *name, value_t closure)
{
    uint32_t entry = find_entry(methods, name);
    bool is_new = load_relaxed(&methods->word[entry]) == VALUE_NIL;
    store_release(&methods->word[entry + 1], closure);
    store_release(&methods->word[entry], value_of_object(name));
    return is_new;
}

/* --- the declaration's steps ------------------------------------------------------- */

static struct class_description *new_description(const struct class_site *site)
{
    struct class_description *described = calloc(1, sizeof *described);
    if (!described)
        return NULL;
    described->name = site->name;
    described->own_methods = site->method_count;
    described->field_hint = site->field_hint;
    keep_description(described);
    return described;
}

struct object *class_new_mp(struct guest_thread *thread, const struct class_site *site)
{
    struct object *methods = new_methods_mp(thread, site->method_count);
    if (!methods)
        return NULL;
    ROOTED(&thread->mutator, table, value_of_object(methods));
    struct object *class = heap_allocate_mp(
        &thread->mutator, object_header(OBJECT_CLASS, CLASS_WORDS, 0), CLASS_WORDS);
    if (!class) {
        guest_fail_out_of_heap(thread, CLASS_WORDS * OBJECT_WORD_BYTES);
        return NULL;
    }
    struct class_description *described = new_description(site);
    if (!described) {
        guest_fail_kind(thread, GUEST_ERROR_OUT_OF_MEMORY,
                        "OutOfMemory: the system has none for a class.");
        return NULL;
    }
    store_relaxed(&class->word[CLASS_WORD_DESCRIPTION], (uintptr_t)described);
    store_relaxed(&class->word[CLASS_WORD_METHODS], table.value);
    return class;
}

/* Relaxed: only the thread that declares the class finds it open. */
static bool is_open(struct guest_thread *thread, value_t class)
{
    if (value_is_kind(class, OBJECT_CLASS) &&
        !load_relaxed(&class_description(value_as_object(class))->is_frozen))
        return true;
    return guest_fail(thread, "Only an open class can be changed."); /* no compiled code does */
}

bool class_inherit_mp(struct guest_thread *thread, const value_t *class_slot,
                      const value_t *superclass_slot)
{
    if (!value_is_kind(*superclass_slot, OBJECT_CLASS))
        return guest_fail(thread, "Superclass must be a class.");
    if (!is_open(thread, *class_slot))
        return false;
    struct class_description *above = class_description(value_as_object(*superclass_slot));
    if (!load_acquire(&above->is_frozen) ||
        above == class_description(value_as_object(*class_slot)))
        return guest_fail(thread, "Superclass must be a class.");
    struct class_description *described = class_description(value_as_object(*class_slot));
    struct object *methods = new_methods_mp(thread, above->method_count + described->own_methods);
    if (!methods)
        return false;
    struct object *class = value_as_object(*class_slot), *super = value_as_object(*superclass_slot);
    struct object *inherited = value_as_object(load_relaxed(&super->word[CLASS_WORD_METHODS]));
    described->method_count = 0;
    for (uint32_t i = 0; i < pairs_of(inherited); i++) {
        value_t name = load_relaxed(&inherited->word[2 * i]);
        if (name != VALUE_NIL)
            described->method_count += put_method(methods, value_as_object(name),
                                                  load_relaxed(&inherited->word[2 * i + 1]));
    }
    store_release(&class->word[CLASS_WORD_METHODS], value_of_object(methods));
    store_release(&class->word[CLASS_WORD_SUPERCLASS], *superclass_slot);
    store_release(&class->word[CLASS_WORD_INIT], load_relaxed(&super->word[CLASS_WORD_INIT]));
    described->field_hint += above->field_hint;
    return true;
}

static bool is_init(struct object *name)
{
    return string_length(name) == 4 && memcmp(string_bytes(name), "init", 4) == 0;
}

bool class_add_method(struct guest_thread *thread, value_t class, value_t closure,
                      struct object *name)
{
    if (!is_open(thread, class))
        return false;
    if (!value_is_kind(closure, OBJECT_CLOSURE))
        return guest_fail(thread, "Only a function can be a method."); /* no compiled code does */
    struct object *object = value_as_object(class);
    struct object *methods = value_as_object(load_relaxed(&object->word[CLASS_WORD_METHODS]));
    struct class_description *described = class_description(object);
    bool is_new = !class_find_method(object, name);
    if (is_new && (described->method_count + 1) * 3 > pairs_of(methods) * 2)
        return guest_fail(thread, "Too many methods in class."); /* more than declared: as above */
    described->method_count += put_method(methods, name, closure);
    if (is_init(name))
        store_release(&object->word[CLASS_WORD_INIT], closure);
    return true;
}

bool class_freeze(struct guest_thread *thread, value_t class)
{
    if (!is_open(thread, class))
        return false;
    store_release(&class_description(value_as_object(class))->is_frozen, true);
    return true;
}

/* --- shapes -------------------------------------------------------------------------- */

static uint32_t capped(uint32_t capacity)
{
    return capacity < CLASS_MAX_INLINE ? capacity : CLASS_MAX_INLINE;
}

const struct shape *class_root_shape(struct object *class)
{
    struct class_description *described = class_description(class);
    const struct shape *root = load_acquire(&described->root), *none = NULL;
    if (root)
        return root;
    root = shape_new_root(described, capped(described->field_hint));
    if (!root || compare_exchange_seq(&described->root, &none, root))
        return root;
    return none; /* another thread was first */
}

/* By half more, so that a class that keeps growing makes few roots. */
void class_learn_capacity(struct class_description *described, uint32_t field_count)
{
    const struct shape *root = load_acquire(&described->root);
    uint32_t wanted = capped(field_count + field_count / 2);
    if (!root || root->inline_capacity >= wanted)
        return;
    const struct shape *larger = shape_new_root(described, wanted);
    if (larger)
        compare_exchange_seq(&described->root, &root,
                             larger); /* else another thread learned as well */
}
