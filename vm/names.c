/* names.c -- see names.h.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/names.h"

#include "base/insist.h"
#include "vm/lf_table.h"
#include "vm/string.h"

#include <stdlib.h>
#include <string.h>

/* The object is what everybody sees; the node in front of it is the table's. */
struct name {
    struct lf_node node;
    struct object object; /* last: its words follow */
};

struct spelling {
    const char *bytes;
    size_t length;
    uint32_t hash;
};

static struct lf_table *table;

static struct name *name_of(const struct lf_node *node)
{
    return (struct name *)((uintptr_t)node - offsetof(struct name, node));
}

static bool has_spelling(const struct lf_node *node, const void *key)
{
    const struct spelling *spelling = key;
    struct object *object = &name_of(node)->object;
    return string_hash(object) == spelling->hash && string_length(object) == spelling->length &&
           memcmp(string_bytes(object), spelling->bytes, spelling->length) == 0;
}

enum err names_start(void)
{
    INSIST(!table, "the names were started before");
    return lf_table_new(has_spelling, &table);
}

/* Plain and relaxed stores: lf_table_add_unique() publishes them (L1). */
static struct name *make_name(const struct spelling *spelling)
{
    /* One byte more: the NUL behind the spelling. */
    uint64_t words = object_words_for_length(OBJECT_STRING, spelling->length + 1);
    struct name *name = calloc(1, offsetof(struct name, object) + words * OBJECT_WORD_BYTES);
    if (!name)
        return NULL;
    uint64_t flags = (uint64_t)OBJECT_FLAG_INTERNED << 40;
    store_relaxed(&name->object.header, object_header(OBJECT_STRING, 0, 0) | flags);
    store_relaxed(&name->object.word[0], (uint64_t)spelling->hash << 32 | spelling->length);
    memcpy((char *)&name->object.word[1], spelling->bytes, spelling->length);
    return name;
}

struct object *names_intern(const char *bytes, size_t length)
{
    INSIST(table, "names_start() comes first");
    if (length > STRING_MAX_BYTES)
        return NULL;
    struct spelling spelling = { bytes, length, string_hash_bytes(bytes, length) };
    struct lf_node *found = lf_table_find(table, spelling.hash, &spelling);
    if (found)
        return &name_of(found)->object;
    struct name *made = make_name(&spelling);
    if (!made)
        return NULL;
    struct lf_node *in = lf_table_add_unique(table, spelling.hash, &spelling, &made->node);
    if (in != &made->node)
        free(made); /* another thread was faster; nobody has seen ours */
    return &name_of(in)->object;
}
