/* plan.c -- see plan.h.  SPDX-License-Identifier: MIT */
#include "gc/plan.h"

#include "base/flags.h"

const struct plan *plan_chosen(void) { return flags->use_epsilon_gc ? &plan_epsilon : &plan_full; }
