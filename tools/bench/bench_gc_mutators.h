/* bench_gc_mutators.h -- C programs that allocate, on the public heap; for children of bench_gc.c.
 *
 * Layer: tools/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_BENCH_BENCH_GC_MUTATORS_H
#define TOOLS_BENCH_BENCH_GC_MUTATORS_H

#include "vm/stillpoint.h"

#include <stdint.h>

/* [self, in guest] Each returns how many objects it made, 0 = out of heap. */

/* One tree of the deepest kind and 500,000 doubles live; `iterations` times trees of depth 4 to
 * the deepest come and go, half of them made from the top down.  Returns those of one iteration;
 * ns_out: of the iterations alone. */
uint64_t bench_gc_gcbench(struct stillpoint_mutator *m, int deepest, int iterations,
                          uint64_t *ns_out);
/* Trees that are counted, while one of the deepest lives.  Returns the nodes counted. */
uint64_t bench_gc_binary_trees(struct stillpoint_mutator *m, int deepest, uint64_t *ns_out);
/* So many objects of two references that nobody keeps. */
uint64_t bench_gc_allocate(struct stillpoint_mutator *m, uint64_t objects, uint64_t *ns_out);

#endif
