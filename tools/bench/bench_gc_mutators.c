/* bench_gc_mutators.c -- see bench_gc_mutators.h.
 *
 * GCBench is the program of Ellis, Kovac and Boehm (1997): short-lived trees of several sizes
 * beside long-lived ones, and an array without references.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/bench/bench_gc_mutators.h"

#include "base/os.h"

enum { LEFT, RIGHT, CHILDREN };
#define NODE_BYTES   8 /* two numbers, as in the program's first version */
#define DOUBLES      500000
#define DOUBLE_PARTS 8 /* an object has 512 KiB at most */

static struct stillpoint_object *new_node(struct stillpoint_mutator *m)
{
    return stillpoint_allocate(m, CHILDREN, NODE_BYTES);
}

/* False: out of heap. */
static bool populate(struct stillpoint_mutator *m, int depth, struct stillpoint_slot *node)
{
    struct stillpoint_object *child;
    if (depth == 0)
        return true;
    for (uint32_t side = LEFT; side <= RIGHT; side++) {
        if (!(child = new_node(m)))
            return false;
        stillpoint_set(node->object, side, child);
    }
    for (uint32_t side = LEFT; side <= RIGHT; side++) {
        STILLPOINT_SLOT(m, below, stillpoint_get(node->object, side));
        if (!populate(m, depth - 1, &below))
            return false;
    }
    return true;
}

/* NULL = out of heap. */
static struct stillpoint_object *make_tree(struct stillpoint_mutator *m, int depth)
{
    if (depth == 0)
        return new_node(m);
    STILLPOINT_SLOT(m, left, make_tree(m, depth - 1));
    STILLPOINT_SLOT(m, right, left.object ? make_tree(m, depth - 1) : NULL);
    struct stillpoint_object *node = right.object ? new_node(m) : NULL;
    if (!node)
        return NULL;
    stillpoint_set(node, LEFT, left.object);
    stillpoint_set(node, RIGHT, right.object);
    return node;
}

static bool make_from_the_top(struct stillpoint_mutator *m, int depth)
{
    STILLPOINT_SLOT(m, root, new_node(m));
    return root.object && populate(m, depth, &root);
}

/* The nodes made; 0 = out of heap. */
static uint64_t iterate(struct stillpoint_mutator *m, int deepest)
{
    uint64_t nodes = 0;
    for (int depth = 4; depth <= deepest; depth += 2) {
        int trees = 1 << (deepest - depth);
        for (int i = 0; i < trees; i++)
            if (!make_from_the_top(m, depth) || !make_tree(m, depth))
                return 0;
        nodes += 2 * (uint64_t)trees * ((UINT64_C(2) << depth) - 1);
    }
    return nodes;
}

static bool make_doubles(struct stillpoint_mutator *m, struct stillpoint_slot *array)
{
    array->object = stillpoint_allocate(m, DOUBLE_PARTS, 0);
    for (uint32_t part = 0; array->object && part < DOUBLE_PARTS; part++) {
        struct stillpoint_object *doubles =
            stillpoint_allocate(m, 0, DOUBLES / DOUBLE_PARTS * sizeof(double));
        if (!doubles)
            return false;
        double *at = stillpoint_raw(doubles);
        for (int i = 0; i < DOUBLES / DOUBLE_PARTS; i++)
            at[i] = 1.0 / (i + 1);
        stillpoint_set(array->object, part, doubles);
    }
    return array->object != NULL;
}

uint64_t bench_gc_gcbench(struct stillpoint_mutator *m, int deepest, int iterations,
                          uint64_t *ns_out)
{
    uint64_t nodes = 0;
    STILLPOINT_SLOT(m, lived, new_node(m));
    STILLPOINT_SLOT(m, array, NULL);
    if (!lived.object || !populate(m, deepest, &lived) || !make_doubles(m, &array))
        return 0;
    uint64_t start_ns = os_now_ns();
    for (int i = 0; i < iterations; i++)
        if ((nodes = iterate(m, deepest)) == 0)
            return 0;
    *ns_out = os_now_ns() - start_ns;
    const double *last = stillpoint_raw(stillpoint_get(array.object, DOUBLE_PARTS - 1));
    return stillpoint_get(lived.object, RIGHT) && last[999] == 1.0 / 1000 ? nodes : 0;
}

static uint64_t count(const struct stillpoint_object *node)
{
    const struct stillpoint_object *left = stillpoint_get(node, LEFT);
    return left ? 1 + count(left) + count(stillpoint_get(node, RIGHT)) : 1;
}

uint64_t bench_gc_binary_trees(struct stillpoint_mutator *m, int deepest, uint64_t *ns_out)
{
    uint64_t nodes = 0, start_ns = os_now_ns();
    STILLPOINT_SLOT(m, kept, make_tree(m, deepest));
    if (!kept.object)
        return 0;
    for (int depth = 4; depth <= deepest; depth += 4)
        for (int i = 0; i < 1 << (deepest - depth); i++) {
            const struct stillpoint_object *tree = make_tree(m, depth);
            if (!tree)
                return 0;
            nodes += count(tree);
        }
    nodes += count(kept.object);
    *ns_out = os_now_ns() - start_ns;
    return nodes;
}

uint64_t bench_gc_allocate(struct stillpoint_mutator *m, uint64_t objects, uint64_t *ns_out)
{
    uint64_t start_ns = os_now_ns();
    for (uint64_t i = 0; i < objects; i++)
        if (!stillpoint_allocate(m, CHILDREN, 0))
            return 0;
    *ns_out = os_now_ns() - start_ns;
    return objects;
}
