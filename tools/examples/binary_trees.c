/* binary_trees.c -- trees of a C program on the collected heap, and what that costs.
 *
 * One tree lives all the time; others are made, counted and forgotten.  At the end: what was
 * allocated, how often the heap was collected, and how long that stopped the program.
 *
 *     cc binary_trees.c $(pkg-config --cflags --libs stillpoint)
 *     ./a.out 14 -Xmx16m
 *
 * SPDX-License-Identifier: MIT */
#if __has_include("vm/stillpoint.h") /* in the project's own tree */
#include "vm/stillpoint.h"
#else
#include <stillpoint.h>
#endif

#include <stdio.h>
#include <stdlib.h>

enum { LEFT, RIGHT, CHILDREN };

/* NULL = out of heap.  Each call may move everything, so what is kept across one is in a slot. */
static struct stillpoint_object *make_tree(struct stillpoint_mutator *m, int depth)
{
    if (depth == 0)
        return stillpoint_allocate(m, CHILDREN, 0);
    STILLPOINT_SLOT(m, left, make_tree(m, depth - 1));
    STILLPOINT_SLOT(m, right, make_tree(m, depth - 1));
    struct stillpoint_object *node = stillpoint_allocate(m, CHILDREN, 0);
    if (!left.object || !right.object || !node)
        return NULL;
    stillpoint_set(node, LEFT, left.object);
    stillpoint_set(node, RIGHT, right.object);
    return node;
}

/* Nothing here stops: plain pointers will do. */
static unsigned long count(const struct stillpoint_object *node)
{
    const struct stillpoint_object *left = stillpoint_get(node, LEFT);
    return left ? 1 + count(left) + count(stillpoint_get(node, RIGHT)) : 1;
}

/* Trees of one depth, one after another; the sum of their nodes, 0 = out of heap. */
static unsigned long make_and_count(struct stillpoint_mutator *m, int depth, int trees)
{
    unsigned long nodes = 0;
    for (int i = 0; i < trees; i++) {
        const struct stillpoint_object *tree = make_tree(m, depth);
        if (!tree)
            return 0;
        nodes += count(tree);
    }
    return nodes;
}

static int run(struct stillpoint_mutator *m, int depth)
{
    STILLPOINT_SLOT(m, kept, make_tree(m, depth));
    if (!kept.object)
        return 1;
    for (int d = 4; d <= depth; d += 4) {
        int trees = 1 << (depth - d + 4);
        unsigned long nodes = make_and_count(m, d, trees);
        if (nodes == 0)
            return 1;
        printf("%6d trees of depth %2d: %lu nodes\n", trees, d, nodes);
    }
    printf("     1 tree  of depth %2d: %lu nodes, alive all the time\n", depth, count(kept.object));
    return 0;
}

static void print_figures(void)
{
    struct stillpoint_heap_figures f;
    stillpoint_get_heap_figures(&f);
    printf("allocated %llu MiB in a heap of %llu MiB: %llu collections, pauses %.1f ms in all, "
           "%.2f ms at most\n",
           (unsigned long long)f.allocated_bytes >> 20, (unsigned long long)f.most_bytes >> 20,
           (unsigned long long)f.collections, (double)f.pauses_sum_ns / 1e6,
           (double)f.pause.max_ns / 1e6);
}

int main(int argc, char **argv)
{
    char message[512] = "";
    struct stillpoint_thread *self;
    struct stillpoint_mutator *m;
    int depth = argc > 1 ? atoi(argv[1]) : 0;
    if (depth < 4 || depth > 24) {
        fprintf(stderr, "usage: binary_trees DEPTH [FLAG...], DEPTH from 4 to 24\n");
        return STILLPOINT_USAGE;
    }
    enum stillpoint_result result =
        stillpoint_start((const char *const *)argv + 2, argc - 2, message, sizeof message);
    if (result == STILLPOINT_OK)
        result = stillpoint_heap_start(message, sizeof message);
    if (result == STILLPOINT_OK)
        result = stillpoint_attach("main", &self);
    if (result == STILLPOINT_OK)
        result = stillpoint_heap_attach(self, &m);
    if (result != STILLPOINT_OK) {
        fprintf(stderr, "binary_trees: %s\n", message);
        return result;
    }
    stillpoint_leave_native(self);
    int failed = run(m, depth);
    stillpoint_enter_native(self);
    if (failed)
        fprintf(stderr, "binary_trees: the heap is too small, try a larger -Xmx\n");
    else
        print_figures();
    stillpoint_heap_detach(m);
    stillpoint_detach(self);
    stillpoint_shutdown();
    return failed;
}
