/* stress_gc_shadow.c -- see stress_gc_shadow.h.
 *
 * What the words behind the header of an object hold, by its kind:
 *
 *   CELL                    its id, edges
 *   ARRAY                   length, its id, edges; or the length 0 only
 *   STRING, BYTES, DOUBLES  length, raw words
 *   RECORD                  edges, raw words
 *
 * A raw word is a hash of id and place, but each eighth is the object's first address: bits
 * that look like a reference and are none.  An edge to nothing holds nil or another value
 * that is no reference.
 *
 * Note [R] Relaxed and release.  A graph has one user at a time, and what hands it on (a lock,
 *   a stop, the end of a thread) orders all of its words, so its user reads relaxed.  An edge
 *   is stored with release as guest stores are: a collector that runs beside mutators must
 *   see the words of the object it leads to (heap.h C2).
 *
 * SPDX-License-Identifier: MIT */
#include "tools/stress/stress_gc_shadow.h"

#include "gc/collection.h"
#include "tools/stress/stress_checks.h"

#include <stdio.h>
#include <stdlib.h>

#define ID_FACTOR  UINT64_C(0x9e3779b97f4a7c15) /* odd: no two ids share a product */
#define FLAG_BITS  (UINT64_C(0xff) << 40)       /* of a header: the collector's */
#define BAIT_EVERY 8
#define EDGE_TRIES 4 /* edges of which most are cut must not be a dead end too often */

#define LLU(x) ((unsigned long long)(x))

static enum object_kind kind_of(const struct shadow_node *n)
{
    return object_header_kind(n->header);
}

static bool kind_has_length(enum object_kind kind)
{
    return kind != OBJECT_CELL && kind != OBJECT_RECORD;
}

/* --- what an object should hold ------------------------------------------------------- */

static value_t cut_edge_value(const struct shadow_node *n, uint64_t word)
{
    switch ((n->id + word) % 4) {
    case 0:
        return value_of_double((double)word);
    case 1:
        return VALUE_TRUE;
    default:
        return VALUE_NIL;
    }
}

static uint64_t raw_word(const struct shadow_node *n, uint64_t word)
{
    uint64_t mixed = n->id * ID_FACTOR + word;
    return word % BAIT_EVERY == BAIT_EVERY - 1 ? n->birthplace : prng_splitmix(&mixed);
}

/* The word where an object that is not empty shows its id. */
static uint64_t id_word(const struct shadow_node *n)
{
    enum object_kind kind = kind_of(n);
    return kind == OBJECT_CELL ? 0 : kind == OBJECT_RECORD ? n->edges : 1;
}

static bool is_edge(const struct shadow_node *n, uint64_t word)
{
    return word - n->first_edge < n->edges;
}

/* Of a word that is no edge, or is one that leads nowhere. */
static uint64_t plain_word(const struct shadow_node *n, uint64_t word)
{
    enum object_kind kind = kind_of(n);
    if (is_edge(n, word))
        return cut_edge_value(n, word);
    if (word == 0 && kind_has_length(kind))
        return n->length;
    return kind == OBJECT_CELL || kind == OBJECT_ARRAY ? value_of_double((double)n->id)
                                                       : raw_word(n, word);
}

/* As heap_allocate.c does: more than half a region has regions of its own. */
static uint64_t bytes_taken(const struct shadow *graph, const struct shadow_node *n)
{
    uint64_t bytes = n->words * OBJECT_WORD_BYTES, region = graph->region_bytes;
    return bytes > region / 2 ? (bytes + region - 1) / region * region : bytes;
}

/* --- making ---------------------------------------------------------------------------- */

static void set_sizes(struct shadow_node *n, enum object_kind kind, uint64_t plain)
{
    if (kind == OBJECT_CELL) {
        n->first_edge = 1;
        n->words = 2 + n->edges;
    } else if (kind == OBJECT_RECORD) {
        n->words = 1 + n->edges + plain;
    } else {
        n->first_edge = 2;
        n->length = kind == OBJECT_ARRAY ? n->edges + (n->edges || plain) : plain;
        n->words = object_words_for_length(kind, n->length);
    }
    n->header = object_header(kind, kind_has_length(kind) ? 0 : n->words,
                              kind == OBJECT_RECORD ? (uint32_t)n->edges : 0);
}

struct shadow_node *shadow_new_node(uint64_t id, enum object_kind kind, uint64_t edges,
                                    uint64_t plain)
{
    struct shadow_node *n = calloc(1, sizeof *n + edges * sizeof n->edge[0]);
    if (!n)
        return NULL;
    n->id = id;
    n->edges = edges;
    set_sizes(n, kind, plain);
    return n;
}

struct object *shadow_make_mp(struct shadow *graph, struct shadow_node *node,
                              struct mutator *mutator, struct shadow_looker *looker)
{
    struct object *object = heap_allocate_mp(mutator, node->header, node->words);
    uint64_t dirty = 0;
    if (!object) {
        free(node);
        return NULL;
    }
    node->birthplace = (uintptr_t)object;
    for (uint64_t i = 0; i + 1 < node->words; i++) {
        dirty += load_relaxed(&object->word[i]) != 0;         /* [R] */
        store_relaxed(&object->word[i], plain_word(node, i)); /* [R] nobody else sees it yet */
    }
    STRESS_CHECK(looker->checks, dirty == 0,
                 "%s: object %llu, a new %s of %llu words: %llu of them were not zero",
                 looker->name, LLU(node->id), object_kind_name(kind_of(node)), LLU(node->words),
                 LLU(dirty));
    node->next = graph->nodes;
    graph->nodes = node;
    graph->bytes += bytes_taken(graph, node);
    return object;
}

void shadow_set_root(struct shadow *graph, uint64_t i, struct shadow_node *to,
                     struct object *to_object)
{
    graph->root_node[i] = to;
    graph->root[i] = to ? value_of_object(to_object) : VALUE_NIL;
}

void shadow_set_edge(struct shadow_node *node, struct object *object, uint64_t i,
                     struct shadow_node *to, struct object *to_object)
{
    uint64_t word = node->first_edge + i;
    node->edge[i] = to;
    store_release(&object->word[word], /* [R] */
                  to ? value_of_object(to_object) : cut_edge_value(node, word));
}

void shadow_clear(struct shadow *graph)
{
    for (uint64_t i = 0; i < SHADOW_ROOTS; i++)
        shadow_set_root(graph, i, NULL, NULL);
}

/* --- checking --------------------------------------------------------------------------- */

/* Where a value was read: a word of a node's object, or root number word. */
struct place {
    const struct shadow_node *node; /* NULL = a root */
    uint64_t word;
};

static bool fail(struct shadow_looker *l, const struct shadow_node *n, struct place at,
                 uint64_t found, uint64_t wanted, const char *what)
{
    char from[48];
    if (at.node)
        snprintf(from, sizeof from, "word %llu of object %llu", LLU(at.word), LLU(at.node->id));
    else
        snprintf(from, sizeof from, "root %llu", LLU(at.word));
    stress_checks_fail("%s: object %llu, a %s of %llu words: %s: 0x%llx, not 0x%llx; in %s, after "
                       "%llu collections",
                       l->name, LLU(n->id), object_kind_name(kind_of(n)), LLU(n->words), what,
                       LLU(found), LLU(wanted), from, LLU(collection_count()));
    return false;
}

/* Its header and its id, at an address that came from that place. */
static bool is_it(struct shadow_looker *l, const struct shadow_node *n, const struct object *object,
                  struct place from)
{
    uint64_t header = load_relaxed(&object->header), id = id_word(n); /* [R] */
    l->checks++;
    if ((header ^ n->header) & ~FLAG_BITS)
        return fail(l, n, from, header, n->header, "its header is another");
    if (id + 1 >= n->words)
        return true;                                  /* no room for an id */
    uint64_t found = load_relaxed(&object->word[id]); /* [R] */
    return found == plain_word(n, id) ||
           fail(l, n, from, found, plain_word(n, id), "another object is there");
}

static bool may_be_object(value_t value)
{
    return value_is_reference(value) && value % OBJECT_WORD_BYTES == 0 &&
           heap_contains(value_as_object(value));
}

struct check {
    struct shadow_looker *looker;
    uint64_t stamp;
    struct shadow_node *grey;
};

/* A reference to n was read: the first time its object is looked at, later it must be the same. */
static bool meet(struct check *c, struct shadow_node *n, value_t value, struct place at)
{
    c->looker->checks++;
    if (n->stamp == c->stamp)
        return value == value_of_object(n->object) ||
               fail(c->looker, n, at, value, value_of_object(n->object), "it is in two places");
    if (!may_be_object(value))
        return fail(c->looker, n, at, value, 0, "a reference leads to no object");
    n->object = value_as_object(value);
    if (!is_it(c->looker, n, n->object, at))
        return false;
    n->stamp = c->stamp;
    n->grey = c->grey;
    c->grey = n;
    return true;
}

static bool check_words(struct check *c, struct shadow_node *n)
{
    for (uint64_t i = 0; i + 1 < n->words; i++) {
        struct place at = { n, i };
        uint64_t found = load_relaxed(&n->object->word[i]); /* [R] */
        struct shadow_node *to = is_edge(n, i) ? n->edge[i - n->first_edge] : NULL;
        if (to ? !meet(c, to, found, at)
               : found != plain_word(n, i) &&
                     !fail(c->looker, n, at, found, plain_word(n, i), "a word has changed"))
            return false;
    }
    return true;
}

/* Root by root, so that what a list holds is found in its order in memory. */
static bool walk(struct shadow *graph, struct check *c)
{
    for (uint64_t i = 0; i < SHADOW_ROOTS; i++) {
        if (graph->root_node[i] &&
            !meet(c, graph->root_node[i], graph->root[i], (struct place){ NULL, i }))
            return false;
        while (c->grey) {
            struct shadow_node *n = c->grey;
            c->grey = n->grey;
            if (!check_words(c, n))
                return false;
        }
    }
    return true;
}

/* P2: a node that was reached has edges to nodes that were reached, and nothing else has. */
static void sweep(struct shadow *graph, struct shadow_node **dead)
{
    struct shadow_node **link = &graph->nodes;
    graph->bytes = 0;
    while (*link) {
        struct shadow_node *n = *link;
        if (n->stamp == graph->stamp) {
            graph->bytes += bytes_taken(graph, n);
            link = &n->next;
        } else {
            *link = n->next;
            n->next = *dead;
            *dead = n;
        }
    }
}

bool shadow_check(struct shadow *graph, struct shadow_looker *looker, struct shadow_node **dead)
{
    struct check c = { looker, ++graph->stamp, NULL };
    graph->checked_at = collection_count();
    if (!walk(graph, &c))
        return false;
    sweep(graph, dead);
    return true;
}

void shadow_free(struct shadow_node *dead)
{
    while (dead) {
        struct shadow_node *next = dead->next;
        free(dead);
        dead = next;
    }
}

/* An edge of n that leads somewhere; n->edges when none was found. */
static uint64_t draw_edge(const struct shadow_node *n, struct shadow_looker *looker)
{
    for (int tries = 0; tries < EDGE_TRIES && n->edges; tries++) {
        bool is_last = tries + 1 == EDGE_TRIES;
        uint64_t i = is_last ? n->edges - 1 : prng_below(&looker->prng, n->edges);
        if (n->edge[i])
            return i;
    }
    return n->edges;
}

struct shadow_node *shadow_find(const struct shadow *graph, uint64_t most_steps,
                                struct shadow_looker *looker, struct object **object_out)
{
    uint64_t root = prng_below(&looker->prng, SHADOW_ROOTS);
    uint64_t steps = prng_below(&looker->prng, most_steps + 1);
    struct shadow_node *n = graph->root_node[root];
    struct place at = { NULL, root };
    value_t value = graph->root[root];
    if (!n)
        return NULL;
    for (;; steps--) {
        if (!may_be_object(value)) {
            fail(looker, n, at, value, 0, "a reference leads to no object");
            return NULL;
        }
        struct object *object = value_as_object(value);
        if (!is_it(looker, n, object, at))
            return NULL;
        uint64_t i = steps ? draw_edge(n, looker) : n->edges;
        if (i == n->edges) {
            *object_out = object;
            return n;
        }
        at = (struct place){ n, n->first_edge + i };
        value = load_relaxed(&object->word[at.word]); /* [R] */
        n = n->edge[i];
    }
}
