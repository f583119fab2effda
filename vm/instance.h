/* instance.h -- instances: fields by name, through a site's cache.
 *
 * Read next: instance.c, Note [F] on adding a field under races.
 * Layer:     vm/.
 *
 *   INSTANCE     class, overflow, slots      overflow: first FIELD_BLOCK, or DICTIONARY, or nil
 *   FIELD_BLOCK  next, 8 slots               next: as overflow
 *   DICTIONARY   count, then name and value, ...; names hashed, a power of two of them
 *
 * A slot that has no value yet holds ABSENT.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_INSTANCE_H
#define VM_INSTANCE_H

#include "vm/guest_thread.h"
#include "vm/shape.h"

#define INSTANCE_WORD_CLASS    0
#define INSTANCE_WORD_OVERFLOW 1
#define INSTANCE_WORD_SLOTS    2
#define FIELD_BLOCK_SLOTS      8

enum property_kind { PROPERTY_NONE, PROPERTY_FIELD, PROPERTY_METHOD };

struct property {
    enum property_kind kind;
    value_t value; /* of the field, or the method's closure */
};

/* [self, guest] An instance without fields; NULL = out of heap.  class_slot is rooted. */
struct object *instance_new_mp(struct guest_thread *thread, const value_t *class_slot);

/* [self, guest] What instance.name is; fills the site's cache when it can.  The slot is rooted
 * and holds an INSTANCE; it may stop, at the lock of dictionaries. */
struct property instance_get_mp(struct guest_thread *thread, const value_t *instance_slot,
                                struct site *site);
/* [self, guest] instance.name = value.  Both are rooted slots, *instance_slot an INSTANCE.  False:
 * a guest error is recorded. */
bool instance_set_mp(struct guest_thread *thread, const value_t *instance_slot, struct site *site,
                     const value_t *value_slot);

/* [self, guest] The fast half of a store that adds a field, by a CACHE_ADD word for the shape in
 * header, which was just read.  False: the shape has changed, nothing was stored. */
static inline bool instance_add_cached(struct object *instance, uint64_t header, uint32_t child_id,
                                       value_t value)
{
    uint32_t word = INSTANCE_WORD_SLOTS + shape_of_id(child_id)->field_count - 1;
    uint64_t grown = (header & ~UINT64_C(0xffffffff)) | child_id;
    if (!compare_exchange_seq(&instance->header, &header, grown)) /* Note [F] in instance.c */
        return false;
    store_release(&instance->word[word], value);
    return true;
}

/* [guest] The slot of a field in a block; the block is there if the shape says the field is. */
_Atomic value_t *instance_overflow_slot(struct object *instance, uint32_t number_above_inline);

#endif
