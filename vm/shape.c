/* shape.c -- see shape.h.
 *
 * Note [I] Ids.  An id is handed out by one atomic addition; its record lies in a block of
 *   BLOCK_SHAPES records, found through a directory that never moves.  A block is
 *   installed by CAS (release); shape_of_id() acquires it.  The record itself is filled by the
 *   thread that took the id, before any other thread can see that id: a child through the
 *   table's own edge (lf_table.h, L1), a root through the class's root pointer (release),
 *   both before the id gets into an object's header.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/shape.h"

#include "base/insist.h"
#include "vm/lf_table.h"
#include "vm/string.h"

#include <stdlib.h>

#define BLOCK_SHAPES    4096u
#define DIRECTORY_SLOTS 4096u /* together 2^24 ids: as many as a cache word's slot can name */

struct record {
    struct lf_node node; /* in the table of children */
    struct shape shape;
};

static _Atomic(struct record *) directory[DIRECTORY_SLOTS]; /* Note [I] */
static _Atomic uint32_t last_id;
static struct lf_table *children; /* by parent and name */

struct child_key {
    const struct shape *parent;
    const struct object *name;
};

static const struct record *record_of(const struct lf_node *node)
{
    return (const struct record *)((uintptr_t)node - offsetof(struct record, node));
}

static bool is_child(const struct lf_node *node, const void *key)
{
    const struct child_key *wanted = key;
    const struct shape *shape = &record_of(node)->shape;
    return shape->parent == wanted->parent && shape->name == wanted->name;
}

enum err shapes_start(void) { return lf_table_new(is_child, &children); }

/* The block of the id, made when it is the first of its block to be needed. */
static struct record *block_for(uint32_t id)
{
    _Atomic(struct record *) *slot = &directory[id / BLOCK_SHAPES];
    struct record *block = load_acquire(slot), *nothing = NULL; /* [I] */
    if (block)
        return block;
    block = calloc(BLOCK_SHAPES, sizeof *block);
    if (!block || compare_exchange_seq(slot, &nothing, block)) /* [I] */
        return block;
    free(block); /* another thread was first */
    return nothing;
}

/* NULL = no memory, or no id left. */
static struct record *new_record(void)
{
    uint32_t last = load_relaxed(&last_id); /* decided by the CAS */
    do
        if (last + 1 >= BLOCK_SHAPES * DIRECTORY_SLOTS || !block_for(last + 1))
            return NULL;
    while (!compare_exchange_seq(&last_id, &last, last + 1));
    struct record *record = &block_for(last + 1)[(last + 1) % BLOCK_SHAPES];
    record->shape.id = last + 1;
    return record;
}

const struct shape *shape_of_id(uint32_t id)
{
    return &load_acquire(&directory[id / BLOCK_SHAPES])[id % BLOCK_SHAPES].shape; /* [I] */
}

const struct shape *shape_new_root(struct class_description *described, uint32_t inline_capacity)
{
    struct record *record = new_record();
    if (!record)
        return NULL;
    record->shape.inline_capacity = inline_capacity;
    record->shape.described = described;
    return &record->shape;
}

/* The table uses the low bits, so both parts have to reach them: with a product alone, whose low
 * bits know nothing of the parent, all classes with a field x shared one chain. */
static uint64_t hash_child(const struct child_key *key, struct object *name)
{
    uint64_t mixed = (uint64_t)key->parent->id << 32 | (name ? string_hash(name) : 0);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed ^ mixed >> 32;
}

const struct shape *shape_child(const struct shape *parent, struct object *name)
{
    bool is_dictionary = parent->field_count == SHAPE_MAX_FIELDS;
    struct child_key key = { parent, is_dictionary ? NULL : name };
    ASSERT(!parent->is_dictionary, "a dictionary shape %u has no children", parent->id);
    uint64_t hash = hash_child(&key, is_dictionary ? NULL : name);
    struct lf_node *found = lf_table_find(children, hash, &key);
    if (found)
        return &record_of(found)->shape;
    struct record *record = new_record();
    if (!record)
        return NULL;
    struct shape *child = &record->shape;
    child->parent = parent;
    child->name = is_dictionary ? NULL : name;
    child->is_dictionary = is_dictionary;
    child->field_count = parent->field_count + !is_dictionary;
    child->inline_capacity = parent->inline_capacity;
    child->described = parent->described;
    /* When another thread was first, our id stays unused. */
    return &record_of(lf_table_add_unique(children, hash, &key, &record->node))->shape;
}

bool shape_find(const struct shape *shape, const struct object *name, uint32_t *number_out)
{
    for (; shape->parent; shape = shape->parent) {
        if (shape->name != name)
            continue;
        *number_out = shape->field_count - 1;
        return true;
    }
    return false;
}
