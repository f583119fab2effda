/* explore.h -- walks every state that a variant of the protocol can reach.
 *
 * Read next: explore() in explore.c.
 * Layer:     tests/.
 *
 * Promises
 *   X1  Breadth first: the way to the fault that is reported is a shortest one.
 *   X2  "Clean" means that every reachable state was looked at, none left out.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_MODEL_EXPLORE_H
#define TESTS_MODEL_EXPLORE_H

#include "base/err.h"
#include "tests/model/stop_model.h"

#include <stddef.h>

struct explore_result {
    const char *fault;   /* NULL = clean */
    uint32_t states;     /* found; of a broken variant, until the fault */
    uint32_t steps;      /* from the start to the fault; clean: to the farthest state */
    size_t memory_bytes; /* at its largest */
    uint64_t participant_pcs, coordinator_pcs; /* bit n: somebody was at pc n */
    struct model_move *way; /* `steps` moves to the fault, else NULL; explore_free() */
};

/* ERR_NO_MEMORY when the states do not fit; result_out is then untouched. */
MUST_USE enum err explore(const struct model_variant *v, uint32_t stops,
                          struct explore_result *result_out);
void explore_free(struct explore_result *result);

#endif
