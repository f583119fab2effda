/* stress_gc_actions.c -- see stress_gc_actions.h.
 *
 * Between two calls of functions that end in _mp addresses stay what they are; across one
 * they stand in ROOTED slots or in roots of a graph.  Nodes may be kept as long as they are
 * reachable, for a check frees the others; an action ends when there is no room, because
 * roots are dropped then.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/stress/stress_gc_actions.h"

#include "base/os.h"
#include "gc/collection.h"
#include "tools/stress/stress_checks.h"

#include <stdlib.h>

#define MOST_LIST    100000 /* a mark that recurses needs megabytes of stack for it */
#define MOST_STEPS   10     /* of most searches in a graph */
#define FAR_STEPS    3000   /* of a few: deep into lists */
#define MOST_REGIONS 40     /* of a humongous object */

/* --- new objects ------------------------------------------------------------------------- */

static struct shadow_node *new_node(struct worker *w, enum object_kind kind, uint64_t edges,
                                    uint64_t plain)
{
    uint64_t id = (uint64_t)(w->number + 1) << 32 | ++w->made;
    struct shadow_node *node = shadow_new_node(id, kind, edges, plain);
    if (!node)
        workers_give_up("memory for the shadow");
    return node;
}

static struct shadow_node *draw_small(struct worker *w)
{
    switch (worker_draw(w, 8)) {
    case 0:
        return new_node(w, OBJECT_STRING, 0, worker_draw(w, 100));
    case 1:
        return new_node(w, OBJECT_BYTES, 0, worker_draw(w, 300));
    case 2:
        return new_node(w, OBJECT_DOUBLES, 0, worker_draw(w, 40));
    case 3:
        return new_node(w, OBJECT_RECORD, worker_draw(w, 9), 1 + worker_draw(w, 64));
    case 4:
        return new_node(w, OBJECT_ARRAY, worker_draw(w, 33), worker_draw(w, 2));
    default:
        return new_node(w, OBJECT_CELL, 1 + worker_draw(w, 6), 1);
    }
}

/* About as long as what decides where it goes: half a region, or whole ones. */
static uint64_t draw_large_words(struct worker *w)
{
    struct heap_figures heap = heap_figures();
    uint64_t region = heap.region_bytes / OBJECT_WORD_BYTES;
    uint64_t most =
        heap.regions_reserved / 4 < MOST_REGIONS ? heap.regions_reserved / 4 : MOST_REGIONS;
    uint64_t jitter = worker_draw(w, 5);
    switch (worker_draw(w, 16)) {
    case 0:
        return region * (1 + worker_draw(w, most)) + jitter - 4;
    case 1:
    case 2:
        return region * (1 + worker_draw(w, 3)) + jitter - 4;
    case 3:
    case 4:
        return region / 2 + jitter - 4;
    default:
        return 33 + worker_draw(w, 1968);
    }
}

static struct shadow_node *draw_large(struct worker *w)
{
    uint64_t words = draw_large_words(w); /* the header and the length among them */
    uint64_t edges = worker_draw(w, words / 2);
    switch (worker_draw(w, 8)) {
    case 0:
        return new_node(w, OBJECT_STRING, 0, (words - 2) * 8 - worker_draw(w, 8));
    case 1:
        return new_node(w, OBJECT_BYTES, 0, (words - 2) * 8 - worker_draw(w, 8));
    case 2:
        return new_node(w, OBJECT_DOUBLES, 0, words - 2);
    case 3:
        if (words <= OBJECT_MAX_WORDS)
            return new_node(w, OBJECT_RECORD, edges, words - 1 - edges);
        break;
    }
    return new_node(w, OBJECT_ARRAY, words - 3, 1);
}

static struct shadow_node *find(struct worker *w, const struct shadow *graph,
                                struct object **object_out)
{
    return shadow_find(graph, worker_draw(w, 16) ? MOST_STEPS : FAR_STEPS, &w->looker, object_out);
}

/* The first and the last are where a walk goes wrong. */
static uint64_t draw_index(struct worker *w, const struct shadow_node *node)
{
    uint64_t drawn = worker_draw(w, 8);
    return drawn == 0 ? 0 : drawn == 1 ? node->edges - 1 : worker_draw(w, node->edges);
}

/* Into a random edge of the parent, or a root. */
static void place(struct worker *w, struct shadow *graph, struct shadow_node *parent,
                  struct object *parent_object, struct shadow_node *node, struct object *object)
{
    if (parent && parent->edges && worker_draw(w, 8))
        shadow_set_edge(parent, parent_object, draw_index(w, parent), node, object);
    else
        shadow_set_root(graph, worker_draw(w, SHADOW_ROOTS), node, object);
}

/* NULL: there was no room, and some was made: the action ends. */
static struct object *make_mp(struct worker *w, struct shadow *graph, struct shadow_node *node)
{
    struct object *object = node ? shadow_make_mp(graph, node, &w->mutator, &w->looker) : NULL;
    if (!object && !workers_are_over())
        worker_make_room_mp(w);
    return object;
}

/* False: the action ends. */
static bool grow_mp(struct worker *w, struct shadow *graph, struct shadow_node *node)
{
    struct object *old;
    struct shadow_node *parent = find(w, graph, &old);
    ROOTED(&w->mutator, parent_slot, parent ? value_of_object(old) : VALUE_NIL);
    struct object *object = make_mp(w, graph, node);
    if (!object)
        return false;
    place(w, graph, parent, value_as_object(parent_slot.value), node, object);
    for (uint64_t i = 0, n = node->edges < 3 ? node->edges : 3; i < n; i++) {
        struct shadow_node *other = find(w, graph, &old);
        if (other)
            shadow_set_edge(node, object, draw_index(w, node), other, old);
    }
    return true;
}

static void grow_small_mp(struct worker *w)
{
    struct shadow *graph = worker_draw_graph(w);
    for (uint64_t i = 0, n = 1 + worker_draw(w, 64); i < n && !workers_are_over(); i++) {
        if (!grow_mp(w, graph, draw_small(w)))
            return;
        worker_step_mp(w);
    }
}

static void grow_large_mp(struct worker *w) { grow_mp(w, worker_draw_graph(w), draw_large(w)); }

/* --- lists, rings, garbage ------------------------------------------------------------------- */

/* New cells in front of each other: each one's first edge leads to the one before; the newest is
 * in root i.  Returns the first one made, as long as it is in the list. */
static struct shadow_node *build_chain_mp(struct worker *w, struct shadow *graph, uint64_t root,
                                          uint64_t length)
{
    struct shadow_node *first = NULL;
    shadow_set_root(graph, root, NULL, NULL);
    for (uint64_t i = 0; i < length && !workers_are_over(); i++) {
        struct shadow_node *node = new_node(w, OBJECT_CELL, 1 + worker_draw(w, 2), 1);
        struct object *object = make_mp(w, graph, node);
        if (!object)
            return NULL;
        struct shadow_node *before = graph->root_node[root];
        if (before)
            shadow_set_edge(node, object, 0, before, value_as_object(graph->root[root]));
        shadow_set_root(graph, root, node, object);
        first = first ? first : node;
        worker_step_mp(w);
    }
    return first;
}

/* Short ones more often: the logarithm of the length is what is drawn. */
static void build_list_mp(struct worker *w)
{
    uint64_t most = MOST_LIST >> worker_draw(w, 12);
    build_chain_mp(w, worker_draw_graph(w), worker_draw(w, SHADOW_ROOTS), 1 + worker_draw(w, most));
}

/* The first cell's address: a second root kept it up to date. */
static void build_ring_mp(struct worker *w)
{
    struct shadow *graph = worker_draw_graph(w);
    uint64_t root = worker_draw(w, SHADOW_ROOTS), other = (root + 1) % SHADOW_ROOTS;
    struct shadow_node *first = build_chain_mp(w, graph, root, 1);
    if (!first)
        return;
    shadow_set_root(graph, other, first, value_as_object(graph->root[root]));
    for (uint64_t i = 0, n = worker_draw(w, 500); i < n && !workers_are_over(); i++) {
        struct shadow_node *node = new_node(w, OBJECT_CELL, 1, 1);
        struct object *object = make_mp(w, graph, node);
        if (!object)
            return;
        shadow_set_edge(node, object, 0, graph->root_node[root],
                        value_as_object(graph->root[root]));
        shadow_set_root(graph, root, node, object);
        worker_step_mp(w);
    }
    shadow_set_edge(first, value_as_object(graph->root[other]), 0, graph->root_node[root],
                    value_as_object(graph->root[root]));
    shadow_set_root(graph, root, NULL, NULL);
}

/* A chain of cells that only a ROOTED slot holds, cut again and again.  They have no nodes: the
 * slot says where the last one is, and the last one's number which it is. */
static void churn_mp(struct worker *w)
{
    ROOTED(&w->mutator, last, VALUE_NIL);
    for (uint64_t i = 0, n = worker_draw(w, 3000); i < n && !workers_are_over(); i++) {
        struct object *object = heap_allocate_mp(&w->mutator, object_header(OBJECT_CELL, 3, 0), 3);
        if (!object) {
            last.value = VALUE_NIL;
            worker_make_room_mp(w);
            return;
        }
        if (last.value != VALUE_NIL) {
            value_t number = load_relaxed(&value_as_object(last.value)->word[0]); /* its own */
            STRESS_CHECK(w->looker.checks, number == value_of_double((double)(i - 1)),
                         "%s: cell %llu of a dying chain is gone: its number is 0x%llx",
                         w->looker.name, (unsigned long long)(i - 1), (unsigned long long)number);
        }
        store_relaxed(&object->word[0], value_of_double((double)i)); /* not published yet */
        store_release(&object->word[1], worker_draw(w, 50) ? last.value : VALUE_NIL);
        last.value = value_of_object(object);
        worker_step_mp(w);
    }
}

/* True: one more of that length, in front of the others. */
static bool fill_with_one_mp(struct worker *w, struct shadow *graph, uint64_t root, uint64_t length)
{
    struct shadow_node *node = new_node(w, OBJECT_ARRAY, length, 1);
    struct object *object = node ? shadow_make_mp(graph, node, &w->mutator, &w->looker) : NULL;
    if (!object) {
        w->out_of_heap++;
        return false;
    }
    struct shadow_node *before = graph->root_node[root];
    if (before)
        shadow_set_edge(node, object, length / 2, before, value_as_object(graph->root[root]));
    shadow_set_root(graph, root, node, object);
    return true;
}

/* Until there is no room for large arrays, then with shorter and shorter ones; of each length
 * not too many, for others make room meanwhile. */
static void fill_heap_mp(struct worker *w)
{
    struct heap_figures heap = heap_figures();
    struct shadow *graph = worker_draw_graph(w);
    uint64_t root = worker_draw(w, SHADOW_ROOTS), left = heap.regions_reserved;
    for (uint64_t length = heap.region_bytes / OBJECT_WORD_BYTES / 2; length > 0; length /= 8) {
        while (left-- > 0 && fill_with_one_mp(w, graph, root, length)) {
            worker_step_mp(w);
            if (workers_are_over())
                return;
        }
        left = 64;
    }
    worker_make_room_mp(w);
}

/* --- edges and roots --------------------------------------------------------------------- */

static void cut_an_edge(struct worker *w, struct shadow *graph)
{
    struct object *object;
    struct shadow_node *node = find(w, graph, &object);
    if (node && node->edges)
        shadow_set_edge(node, object, draw_index(w, node), NULL, NULL);
}

/* Sharing and cycles come from here. */
static void copy_an_edge(struct worker *w, struct shadow *graph)
{
    struct object *object, *to_object;
    struct shadow_node *node = find(w, graph, &object), *to = find(w, graph, &to_object);
    if (to)
        place(w, graph, node, object, to, to_object);
}

static void change(struct worker *w, struct shadow *graph, uint64_t times)
{
    for (uint64_t i = 0; i < times && !workers_are_over(); i++) {
        switch (worker_draw(w, 8)) {
        case 0:
            shadow_set_root(graph, worker_draw(w, SHADOW_ROOTS), NULL, NULL);
            break;
        case 1:
        case 2:
            cut_an_edge(w, graph);
            break;
        default:
            copy_an_edge(w, graph);
        }
    }
}

static void change_own_mp(struct worker *w)
{
    change(w, worker_draw_graph(w), 1 + worker_draw(w, 20));
}

/* --- the shared graphs --------------------------------------------------------------------- */

/* In place; what was collected since is checked first. */
static void change_shared_mp(struct worker *w)
{
    struct shadow_node *dead = NULL;
    struct shadow **shared = shared_acquire_mp(w);
    struct shadow *graph = shared[worker_draw(w, SHARED_GRAPHS)];
    if (shared_check_locked(w, graph, worker_draw(w, 8) == 0, &dead))
        change(w, graph, 1 + worker_draw(w, 20));
    shared_release();
    shadow_free(dead);
}

/* What was shared is a worker's own from here on, and the other way round. */
static void exchange_mp(struct worker *w)
{
    struct shadow **shared = shared_acquire_mp(w);
    struct shadow **theirs = &shared[worker_draw(w, SHARED_GRAPHS)];
    struct shadow **mine = &w->graph[worker_draw(w, WORKER_GRAPHS)], *graph = *mine;
    *mine = *theirs;
    *theirs = graph;
    shared_release();
}

/* --- states ------------------------------------------------------------------------------------
 */

static void collect_mp(struct worker *w)
{
    collection_request_mp(&w->mutator, COLLECTION_SYSTEM_GC, 0);
}

static void go_native_mp(struct worker *w)
{
    participant_enter_safe(w->self, worker_draw(w, 2) ? PARTICIPANT_NATIVE : PARTICIPANT_BLOCKED);
    os_sleep_ns(worker_draw(w, 1000000));
    participant_leave_safe(w->self, PARTICIPANT_GUEST);
}

/* Its graphs live on meanwhile. */
static void live_again_mp(struct worker *w)
{
    worker_detach(w);
    if (worker_draw(w, 2))
        os_sleep_ns(worker_draw(w, 1000000));
    worker_attach(w);
}

/* The control: an address that no collector is shown, beside a root that leads to the same
 * object.  Made anew at times, for an object at the bottom of the heap moves no more. */
static void forget_a_root_mp(struct worker *w)
{
    struct shadow_node *node, *dead = NULL;
    if (!w->forgotten || !(node = new_node(w, OBJECT_CELL, 1, 1)))
        return;
    shadow_clear(w->forgotten);
    struct object *object = shadow_make_mp(w->forgotten, node, &w->mutator, &w->looker);
    if (object) {
        shadow_set_root(w->forgotten, 0, node, object);
        shadow_set_root(w->forgotten, 1, node, object);
    }
    shadow_check(w->forgotten, &w->looker, &dead);
    shadow_free(dead);
}

/* Of ten thousand.  A full heap is rare: while one thread fills it, the others run out of heap. */
static const struct {
    void (*act)(struct worker *);
    uint32_t weight;
} actions[] = {
    { grow_small_mp, 3900 }, { change_own_mp, 2000 },  { change_shared_mp, 1000 },
    { exchange_mp, 600 },    { grow_large_mp, 600 },   { build_ring_mp, 500 },
    { build_list_mp, 407 },  { churn_mp, 380 },        { live_again_mp, 250 },
    { go_native_mp, 250 },   { forget_a_root_mp, 80 }, { collect_mp, 30 },
    { fill_heap_mp, 3 },
};

void worker_act_mp(struct worker *w)
{
    uint64_t drawn = worker_draw(w, 10000);
    size_t i = 0;
    for (; drawn >= actions[i].weight; i++)
        drawn -= actions[i].weight;
    actions[i].act(w);
    w->actions++;
}
