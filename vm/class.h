/* class.h -- classes: made by each run of their declaration, frozen at its end.
 *
 * Layer: vm/.
 *
 *   CLASS    description (outside the heap), superclass or nil, METHODS, closure of init or nil
 *   METHODS  name, closure, ...; open addressing by the name's hash, a power of two of
 *            pairs, at most two thirds in use; name nil = free
 *
 * Inherited methods are copied down, so that one lookup finds all.  While the class is open
 * only the declaring thread changes it; METHOD replaces a method of the same name.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_CLASS_H
#define VM_CLASS_H

#include "vm/guest_thread.h"
#include "vm/shape.h"

#define CLASS_WORD_DESCRIPTION 0
#define CLASS_WORD_SUPERCLASS  1
#define CLASS_WORD_METHODS     2
#define CLASS_WORD_INIT        3
#define CLASS_WORDS            5

/* How many inline slots a class may learn to need. */
#define CLASS_MAX_INLINE 32

struct class_description {
    struct object *name; /* interned */
    uint32_t own_methods;
    uint32_t method_count;              /* while open; then fixed */
    uint32_t field_hint;                /* of the declaration and the superclass */
    _Atomic bool is_frozen;             /* release: the methods are final; acquire */
    _Atomic(const struct shape *) root; /* of new instances; NULL until the first one */
    struct class_description *next;     /* all there are */
};

static inline struct class_description *class_description(const struct object *class)
{
    return (struct class_description *)(uintptr_t)load_relaxed(
        &class->word[CLASS_WORD_DESCRIPTION]); /* never changes */
}

/* [self, guest] The declaration's steps.  Slots are rooted.  False, NULL: a guest error is
 * recorded. */
struct object *class_new_mp(struct guest_thread *thread, const struct class_site *site);
bool class_inherit_mp(struct guest_thread *thread, const value_t *class_slot,
                      const value_t *superclass_slot);
bool class_add_method(struct guest_thread *thread, value_t class, value_t closure,
                      struct object *name);
bool class_freeze(struct guest_thread *thread, value_t class);

/* [guest] Word of the closure in the class's METHODS, 0 = no such method. */
uint32_t class_find_method(const struct object *class, const struct object *name);
static inline value_t class_method(const struct object *class, uint32_t word)
{
    struct object *methods = value_as_object(load_relaxed(&class->word[CLASS_WORD_METHODS]));
    return load_relaxed(&methods->word[word]); /* both final before the class was published */
}

/* [attached] The root shape of new instances; NULL = no memory. */
const struct shape *class_root_shape(struct object *class);
/* [attached] An instance needed more inline slots than its root has: the next root has more. */
void class_learn_capacity(struct class_description *described, uint32_t field_count);

#endif
