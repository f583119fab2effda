/* plan.c -- see plan.h.  SPDX-License-Identifier: MIT */
#include "gc/plan.h"

/* flags_check() refuses -XX:-UseEpsilonGC as long as there is one plan. */
const struct plan *plan_chosen(void) { return &plan_epsilon; }
