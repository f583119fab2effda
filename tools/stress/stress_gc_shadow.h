/* stress_gc_shadow.h -- graphs of objects, and outside the heap what they should be.
 *
 * Read next: stress_gc_shadow.c: the check; stress_gc_actions.c: what is done to graphs.
 * Layer:     tools/, for the files of stress gc.
 *
 *   heap       root[i] ----> object ----> object        collections change addresses
 *                 :             :            :
 *   shadow     root_node[i] -> node  ----> node         malloc, and nobody moves it
 *
 * An object belongs to one graph for its life; graphs do not refer to each other.  All words
 * of an object follow from its node: references lead to the objects of its edges, the rest is
 * made from its id, so that an object found in the wrong place is not taken for another.
 *
 * Promises
 *   P1  A check finds every reachable object that is not what its node says, every reference
 *       that leads elsewhere, and every object that is there twice.
 *   P2  What a check found unreachable is dead: no reference of the graph leads to it any more.
 * Asks of callers
 *   C1  A graph has one user at a time, and its root[] is shown to collectors.
 *   C2  An address is good until the next call of a function that ends in _mp.
 *
 * Who may call: [self] the graph's one user, in GUEST or VM
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_STRESS_STRESS_GC_SHADOW_H
#define TOOLS_STRESS_STRESS_GC_SHADOW_H

#include "base/prng.h"
#include "gc/heap.h"

#include <stdbool.h>
#include <stdint.h>

#define SHADOW_ROOTS 12

/* One object, as it should be. */
struct shadow_node {
    uint64_t id; /* below 2^53: a number value holds it exactly */
    uint64_t header, length, words;
    uint64_t first_edge, edges; /* the words of the body that are edges */
    uint64_t birthplace;        /* its first address; raw words hold it as bait */
    uint64_t stamp;             /* of the last check that came here ... */
    struct object *object;      /* ... and found it there; good during that check only */
    struct shadow_node *next;   /* of all nodes of the graph, or of those that died */
    struct shadow_node *grey;   /* a check's stack: marking does not recurse */
    struct shadow_node *edge[]; /* NULL = a value that is no reference */
};

struct shadow {
    value_t root[SHADOW_ROOTS];
    struct shadow_node *root_node[SHADOW_ROOTS]; /* NULL = nil */
    struct shadow_node *nodes;                   /* unreachable ones until the next check */
    uint64_t bytes;                              /* that all their objects take */
    uint64_t stamp;
    uint64_t checked_at;   /* collection_count() then */
    uint64_t region_bytes; /* set by who makes the graph: a large object takes whole ones */
};

/* Who looks: for counts, and for the words of a failure. */
struct shadow_looker {
    struct prng prng;
    uint64_t checks;
    char name[32];
};

/* [any] An object that does not exist yet.  CELL, ARRAY, RECORD: edges.  RECORD: plain raw words
 * behind them, not 0 (objects have two words at least, gc/side_tables.h); an ARRAY has its id in
 * front of them, or is empty if plain and edges are 0. STRING, BYTES, DOUBLES: plain is the length.
 * NULL: the system has no memory. */
struct shadow_node *shadow_new_node(uint64_t id, enum object_kind kind, uint64_t edges,
                                    uint64_t plain);
/* [self] Makes it, in no place yet; it has to get one before the next _mp.  NULL: out of heap,
 * the node is gone. */
struct object *shadow_make_mp(struct shadow *graph, struct shadow_node *node,
                              struct mutator *mutator, struct shadow_looker *looker);

/* [self] to NULL: nil. */
void shadow_set_root(struct shadow *graph, uint64_t i, struct shadow_node *to,
                     struct object *to_object);
/* [self] Edge i of the node, whose object is at that address.  to NULL: cuts it. */
void shadow_set_edge(struct shadow_node *node, struct object *object, uint64_t i,
                     struct shadow_node *to, struct object *to_object);
/* [self] All roots. */
void shadow_clear(struct shadow *graph);
/* [self] A random node at most so many edges from a root, and where it is; looks at each object
 * on the way.  NULL: the root was nil, or the check failed. */
struct shadow_node *shadow_find(const struct shadow *graph, uint64_t most_steps,
                                struct shadow_looker *looker, struct object **object_out);

/* [self] Walks graph and shadow in step (P1).  False: it failed, and the graph is not to be
 * touched any more.  What is dead is put before *dead, for shadow_free(). */
bool shadow_check(struct shadow *graph, struct shadow_looker *looker, struct shadow_node **dead);
/* [any] */
void shadow_free(struct shadow_node *dead);

#endif
