/* stress_gc_actions.h -- what a worker does to its graphs and to the shared ones.
 *
 * Layer: tools/, for the files of stress gc.  Who may call: [self] the worker, in GUEST.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_STRESS_STRESS_GC_ACTIONS_H
#define TOOLS_STRESS_STRESS_GC_ACTIONS_H

#include "tools/stress/stress_gc_worker.h"

/* One action drawn from the seed.  w->self is NULL afterwards when the system refused to
 * attach again. */
void worker_act_mp(struct worker *w);

#endif
