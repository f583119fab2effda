/* instance.c -- see instance.h.
 *
 * Note [F] Adding a field.  First the header's shape becomes the child's, by CAS, then the
 *   slot gets its value (release).  Between the two a reader finds ABSENT and looks among
 *   the methods, as it would have done before.  A second thread
 *   that adds the same field fails its CAS, looks again and finds the field; one that adds
 *   another field fails likewise and goes on from the new shape.  A slot belongs to one
 *   field for ever and never moves while mutators run, so no store is lost.
 *   Blocks are appended by CAS before the shape says that their slots are used.
 *   A site's word that tells to add (CACHE_ADD) is stored with release and read with acquire:
 *   who follows it reads the child's record, which another thread may have made just before. (Seen:
 *   ThreadSanitizer, eight threads that add fields to one object.)
 *
 * Note [D] Dictionaries.  Beyond SHAPE_MAX_FIELDS fields names and values are in an object
 *   that is replaced as it grows; readers and writers take one lock.  The larger copy is
 *   allocated before the lock is taken, because allocating may poll.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/instance.h"

#include "base/insist.h"
#include "base/lock.h"
#include "gc/heap.h"
#include "vm/class.h"
#include "vm/string.h"

static struct lock dictionaries = LOCK_INITIALIZER(SHARED);
static const char no_shapes[] = "OutOfMemory: the system has no memory for another shape.";

static const struct shape *shape_of(struct object *instance)
{
    return shape_of_id(object_header_shape(load_acquire(&instance->header))); /* [F] */
}

static struct object *class_of(struct object *instance)
{
    return value_as_object(load_relaxed(&instance->word[INSTANCE_WORD_CLASS])); /* never changes */
}

static void fill_absent(struct object *object, uint64_t from_word, uint64_t to_word)
{
    for (uint64_t i = from_word; i < to_word; i++)
        store_relaxed(&object->word[i], VALUE_ABSENT); /* not published yet */
}

struct object *instance_new_mp(struct guest_thread *thread, const value_t *class_slot)
{
    const struct shape *root = class_root_shape(value_as_object(*class_slot));
    if (!root) {
        guest_fail_kind(thread, GUEST_ERROR_OUT_OF_MEMORY, no_shapes);
        return NULL;
    }
    uint64_t words = 1 + INSTANCE_WORD_SLOTS + root->inline_capacity;
    struct object *instance =
        heap_allocate_mp(&thread->mutator, object_header(OBJECT_INSTANCE, words, root->id), words);
    if (!instance) {
        guest_fail_out_of_heap(thread, words * OBJECT_WORD_BYTES);
        return NULL;
    }
    store_relaxed(&instance->word[INSTANCE_WORD_CLASS], *class_slot);
    fill_absent(instance, INSTANCE_WORD_SLOTS, words - 1);
    return instance;
}

/* --- slots ------------------------------------------------------------------------ */

_Atomic value_t *instance_overflow_slot(struct object *instance, uint32_t number)
{
    _Atomic value_t *link = &instance->word[INSTANCE_WORD_OVERFLOW];
    struct object *block = value_as_object(load_acquire(link)); /* [F] */
    for (; number >= FIELD_BLOCK_SLOTS; number -= FIELD_BLOCK_SLOTS)
        block = value_as_object(load_acquire(&block->word[0]));
    return &block->word[1 + number];
}

static _Atomic value_t *slot_of(struct object *instance, const struct shape *shape, uint32_t number)
{
    if (number < shape->inline_capacity)
        return &instance->word[INSTANCE_WORD_SLOTS + number];
    return instance_overflow_slot(instance, number - shape->inline_capacity);
}

static uint64_t cache_of_field(const struct shape *shape, uint32_t number)
{
    if (number < shape->inline_capacity)
        return cache_word(shape->id, INSTANCE_WORD_SLOTS + number, CACHE_INLINE);
    return cache_word(shape->id, number - shape->inline_capacity, CACHE_OVERFLOW);
}

/* The word that holds the last block, or its place; also where a dictionary hangs. */
static _Atomic value_t *last_link(struct object *instance, uint32_t blocks)
{
    _Atomic value_t *link = &instance->word[INSTANCE_WORD_OVERFLOW];
    for (; blocks > 0; blocks--)
        link = &value_as_object(load_acquire(link))->word[0]; /* [F] */
    return link;
}

static uint32_t blocks_for(uint32_t overflow_slots)
{
    return (overflow_slots + FIELD_BLOCK_SLOTS - 1) / FIELD_BLOCK_SLOTS;
}

/* Appends the block that holds overflow slot number, if it is not there. */
static bool ensure_block_mp(struct guest_thread *thread, const value_t *instance_slot,
                            uint32_t number)
{
    uint32_t before = number / FIELD_BLOCK_SLOTS;
    if (load_acquire(last_link(value_as_object(*instance_slot), before)) != VALUE_NIL) /* [F] */
        return true;
    uint64_t words = 2 + FIELD_BLOCK_SLOTS;
    struct object *block =
        heap_allocate_mp(&thread->mutator, object_header(OBJECT_FIELD_BLOCK, words, 0), words);
    if (!block)
        return guest_fail_out_of_heap(thread, words * OBJECT_WORD_BYTES);
    fill_absent(block, 1, words - 1);
    value_t nothing = VALUE_NIL;
    compare_exchange_seq(last_link(value_as_object(*instance_slot), before), &nothing,
                         value_of_object(block));
    return true; /* [F]: else another thread appended one */
}

/* --- dictionaries --------------------------------------------------------------------- */

#define DICTIONARY_FIRST_PAIRS 16

static uint64_t pairs_of(const struct object *dictionary)
{
    return (object_header_size_words(load_relaxed(&dictionary->header)) - 2) / 2;
}

/* Word of the name's entry or of the free one for it. */
static uint64_t dictionary_entry(const struct object *dictionary, struct object *name)
{
    uint64_t mask = pairs_of(dictionary) - 1, at = string_hash(name) & mask;
    for (;; at = (at + 1) & mask) {
        value_t there = load_relaxed(&dictionary->word[1 + 2 * at]); /* under the lock */
        if (there == value_of_object(name) || there == VALUE_NIL)
            return 1 + 2 * at;
    }
}

static _Atomic value_t *dictionary_link(struct object *instance, const struct shape *shape)
{
    uint32_t slots =
        SHAPE_MAX_FIELDS > shape->inline_capacity ? SHAPE_MAX_FIELDS - shape->inline_capacity : 0;
    return last_link(instance, blocks_for(slots));
}

static value_t dictionary_get_mp(struct guest_thread *thread, const value_t *instance_slot,
                                 const struct shape *shape, struct object *name)
{
    value_t found = VALUE_ABSENT;
    participant_lock(guest_thread_participant(thread), &dictionaries); /* may stop: read after */
    _Atomic value_t *link = dictionary_link(value_as_object(*instance_slot), shape);
    value_t dictionary = load_relaxed(link); /* under the lock */
    if (dictionary != VALUE_NIL) {
        struct object *d = value_as_object(dictionary);
        uint64_t entry = dictionary_entry(d, name);
        if (load_relaxed(&d->word[entry]) != VALUE_NIL)
            found = load_relaxed(&d->word[entry + 1]);
    }
    lock_release(&dictionaries);
    return found;
}

/* Room for one more at three quarters full at most; the count is word 0. */
static bool has_room(value_t dictionary)
{
    if (dictionary == VALUE_NIL)
        return false;
    const struct object *d = value_as_object(dictionary);
    return (value_as_double(load_relaxed(&d->word[0])) + 1) * 4 <= (double)pairs_of(d) * 3;
}

static void dictionary_put(struct object *d, struct object *name, value_t value)
{
    uint64_t entry = dictionary_entry(d, name);
    if (load_relaxed(&d->word[entry]) == VALUE_NIL) {
        double count = value_as_double(load_relaxed(&d->word[0])) + 1;
        store_relaxed(&d->word[0], value_of_double(count)); /* all under the lock */
        store_relaxed(&d->word[entry], value_of_object(name));
    }
    store_relaxed(&d->word[entry + 1], value);
}

static void dictionary_copy(struct object *to, const struct object *from)
{
    for (uint64_t i = 0; i < pairs_of(from); i++) {
        value_t name = load_relaxed(&from->word[1 + 2 * i]);
        if (name != VALUE_NIL)
            dictionary_put(to, value_as_object(name), load_relaxed(&from->word[2 + 2 * i]));
    }
}

static bool holds_name(value_t dictionary, struct object *name)
{
    if (dictionary == VALUE_NIL)
        return false;
    struct object *d = value_as_object(dictionary);
    return load_relaxed(&d->word[dictionary_entry(d, name)]) != VALUE_NIL;
}

/* Under the lock: puts, into spare if the dictionary is full and spare is larger.  False: needs
 * a spare of *pairs_out pairs. */
static bool put_or_ask(_Atomic value_t *link, struct object *name, value_t value, value_t spare,
                       uint64_t *pairs_out)
{
    value_t now = load_relaxed(link);
    if (!holds_name(now, name) && !has_room(now)) {
        uint64_t pairs =
            now == VALUE_NIL ? DICTIONARY_FIRST_PAIRS : 2 * pairs_of(value_as_object(now));
        *pairs_out = pairs;
        if (spare == VALUE_NIL || pairs_of(value_as_object(spare)) < pairs)
            return false;
        if (now != VALUE_NIL)
            dictionary_copy(value_as_object(spare), value_as_object(now));
        store_release(link, spare);
        now = spare;
    }
    dictionary_put(value_as_object(now), name, value);
    return true;
}

static bool dictionary_set_mp(struct guest_thread *thread, const value_t *instance_slot,
                              const struct shape *shape, struct object *name,
                              const value_t *value_slot)
{
    ROOTED(&thread->mutator, spare, VALUE_NIL);
    for (;;) {
        uint64_t pairs = 0;
        participant_lock(guest_thread_participant(thread), &dictionaries); /* may stop: re-read */
        bool is_done = put_or_ask(dictionary_link(value_as_object(*instance_slot), shape), name,
                                  *value_slot, spare.value, &pairs);
        lock_release(&dictionaries);
        if (is_done)
            return true;
        uint64_t words = 2 + 2 * pairs;
        if (words > OBJECT_MAX_WORDS)
            return guest_fail(thread, "Too many fields in one instance.");
        struct object *d =
            heap_allocate_mp(&thread->mutator, object_header(OBJECT_DICTIONARY, words, 0), words);
        if (!d)
            return guest_fail_out_of_heap(thread, words * OBJECT_WORD_BYTES);
        store_relaxed(&d->word[0], value_of_double(0));
        spare.value = value_of_object(d);
    }
}

/* --- lookup -------------------------------------------------------------------------------- */

static struct lookup *lookup_place(struct guest_thread *thread, uint32_t shape,
                                   const struct object *name)
{
    uint64_t mixed = (shape ^ (uintptr_t)name >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    return &thread->lookup[mixed >> 32 & (LOOKUP_COUNT - 1)];
}

/* Where instances of this shape have the name: a cache word, or 0 = nowhere, or it cannot be
 * cached. */
static uint64_t look_up(struct guest_thread *thread, struct object *instance,
                        const struct shape *shape, struct object *name)
{
    struct lookup *known = lookup_place(thread, shape->id, name);
    if (known->shape == shape->id && known->name == name)
        return known->cache;
    uint32_t number, method;
    uint64_t cache = 0;
    if (shape_find(shape, name, &number))
        cache = cache_of_field(shape, number);
    else if (!shape->is_dictionary && load_acquire(&shape->described->is_frozen) &&
             (method = class_find_method(class_of(instance), name)))
        cache = cache_word(shape->id, method, CACHE_METHOD);
    if (cache)
        *known = (struct lookup){ shape->id, name, cache };
    return cache;
}

static struct property method_of(struct object *instance, const struct object *name)
{
    struct object *class = class_of(instance);
    uint32_t method = class_find_method(class, name);
    if (!method)
        return (struct property){ PROPERTY_NONE, VALUE_ABSENT };
    return (struct property){ PROPERTY_METHOD, class_method(class, method) };
}

/* A field that is being added has no value yet: what was there before counts, [F]. */
static struct property field_of(struct object *instance, value_t value, const struct object *name)
{
    if (__builtin_expect(value == VALUE_ABSENT, 0))
        return method_of(instance, name);
    return (struct property){ PROPERTY_FIELD, value };
}

static struct property find_uncached_mp(struct guest_thread *thread, const value_t *instance_slot,
                                        const struct shape *shape, struct object *name)
{
    value_t value;
    if (shape->is_dictionary &&
        (value = dictionary_get_mp(thread, instance_slot, shape, name)) != VALUE_ABSENT)
        return (struct property){ PROPERTY_FIELD, value };
    return method_of(value_as_object(*instance_slot), name);
}

struct property instance_get_mp(struct guest_thread *thread, const value_t *instance_slot,
                                struct site *site)
{
    struct object *instance = value_as_object(*instance_slot);
    const struct shape *shape = shape_of(instance);
    uint64_t cache = look_up(thread, instance, shape, site->name);
    if (!cache)
        return find_uncached_mp(thread, instance_slot, shape, site->name);
    /* Relaxed: right for any content, see shape.h. */
    store_relaxed(&site->cache, cache);
    uint32_t slot = cache_slot(cache);
    if (cache_kind(cache) == CACHE_INLINE)
        return field_of(instance, load_acquire(&instance->word[slot]), site->name); /* [F] */
    if (cache_kind(cache) == CACHE_OVERFLOW)
        return field_of(instance, load_acquire(instance_overflow_slot(instance, slot)), site->name);
    return (struct property){ PROPERTY_METHOD, class_method(class_of(instance), slot) };
}

/* --- stores ---------------------------------------------------------------------------------- */

/* One attempt at the next field.  1 = done, 0 = the shape has changed, -1 = a guest error. */
static int add_field_mp(struct guest_thread *thread, const value_t *instance_slot,
                        const struct shape *shape, struct site *site, const value_t *value_slot)
{
    const struct shape *child = shape_child(shape, site->name);
    if (!child) {
        guest_fail_kind(thread, GUEST_ERROR_OUT_OF_MEMORY, no_shapes);
        return -1;
    }
    uint32_t number = shape->field_count;
    bool is_inline = number < shape->inline_capacity;
    if (!child->is_dictionary && !is_inline) {
        class_learn_capacity(shape->described, number + 1);
        if (!ensure_block_mp(thread, instance_slot, number - shape->inline_capacity))
            return -1;
    }
    struct object *instance = value_as_object(*instance_slot); /* may have moved */
    uint64_t header = load_acquire(&instance->header);
    if (object_header_shape(header) != shape->id)
        return 0;
    uint64_t grown = (header & ~UINT64_C(0xffffffff)) | child->id;
    if (!compare_exchange_seq(&instance->header, &header, grown)) /* [F] */
        return 0;
    if (child->is_dictionary)
        return dictionary_set_mp(thread, instance_slot, child, site->name, value_slot) ? 1 : -1;
    store_release(slot_of(instance, child, number), *value_slot); /* [F] */
    if (is_inline)
        store_release(&site->cache, cache_word(shape->id, child->id, CACHE_ADD)); /* [F] */
    return 1;
}

bool instance_set_mp(struct guest_thread *thread, const value_t *instance_slot, struct site *site,
                     const value_t *value_slot)
{
    for (;;) {
        struct object *instance = value_as_object(*instance_slot);
        const struct shape *shape = shape_of(instance);
        uint32_t number;
        if (shape_find(shape, site->name, &number)) {
            store_release(slot_of(instance, shape, number), *value_slot); /* [F] */
            store_relaxed(&site->cache, cache_of_field(shape, number));   /* as in the get */
            return true;
        }
        if (shape->is_dictionary)
            return dictionary_set_mp(thread, instance_slot, shape, site->name, value_slot);
        int done = add_field_mp(thread, instance_slot, shape, site, value_slot);
        if (done)
            return done > 0;
    }
}
