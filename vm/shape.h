/* shape.h -- which fields an instance has, in which slots; and the word that caches it.
 *
 * Read next: instance.h, which reads and writes fields by it.
 * Layer:     vm/.
 *
 * A shape is a node in a tree.  Each class has a root, the shape of an instance without
 * fields; adding field x leads to the child for x, always the same one.  So two instances
 * of one class that got the same fields in the same order have the same shape, and one
 * comparison of 32 bits tells where all their fields are.  Shapes and their tree never
 * change and are never freed.
 *
 * Slots.  Field number n lies in the instance itself while n < inline_capacity, else in
 * one of the blocks that hang on it; a slot never moves while mutators run.  The root
 * fixes the capacity for its whole tree: a class that learns it needs more makes a new root.
 * After SHAPE_MAX_FIELDS fields the shape is the tree's dictionary shape and further fields
 * are in the instance's dictionary.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_SHAPE_H
#define VM_SHAPE_H

#include "base/err.h"
#include "gc/object.h"

#include <stdbool.h>
#include <stdint.h>

struct class_description;

#define SHAPE_MAX_FIELDS 64

struct shape {
    uint32_t id; /* from 1 */
    uint32_t field_count;
    uint32_t inline_capacity;
    bool is_dictionary;
    const struct shape *parent;          /* NULL = root */
    struct object *name;                 /* the last field; NULL in a root and a dictionary shape */
    struct class_description *described; /* the class of its instances */
};

/* [any] Once per process. */
MUST_USE enum err shapes_start(void);
/* [attached] NULL = the system has no memory, or there are 2^24 shapes. */
const struct shape *shape_new_root(struct class_description *described, uint32_t inline_capacity);
/* [attached] The shape with one more field: found, or made.  NULL as above. */
const struct shape *shape_child(const struct shape *parent, struct object *name);
/* [any] Of an id that an instance's header holds. */
const struct shape *shape_of_id(uint32_t id);
/* [any] Does the shape have the field, and as which number? */
bool shape_find(const struct shape *shape, const struct object *name, uint32_t *number_out);

/* --- the cache word of a site ------------------------------------------------ */

/* {shape:32, slot:24, kind:8}.  What slot means: */
enum cache_kind {
    CACHE_EMPTY,    /* nothing; matches no instance, because no shape has the id 0 ... */
    CACHE_INLINE,   /* word of the instance */
    CACHE_OVERFLOW, /* field number, in a block */
    CACHE_METHOD,   /* word of the class's method table */
    CACHE_ADD,      /* id of the child shape; its last field lies inline */
};

static inline uint64_t cache_word(uint32_t shape, uint32_t slot, enum cache_kind kind)
{
    return (uint64_t)shape << 32 | (uint64_t)slot << 8 | kind;
}
static inline uint32_t cache_shape(uint64_t cache) { return (uint32_t)(cache >> 32); }
static inline uint32_t cache_slot(uint64_t cache) { return (uint32_t)cache >> 8; }
static inline enum cache_kind cache_kind(uint64_t cache) { return cache & 0xff; }

#endif
