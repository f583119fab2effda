/* epsilon.c -- the plan that never collects: a control, and the end of short programs.
 *
 * The heap is handed out once, up to -Xmx; then there is no room, ever.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/plan.h"

static bool make_no_room_mp(struct mutator *mutator, size_t bytes, uint64_t collections_seen)
{
    (void)mutator, (void)bytes, (void)collections_seen;
    return false;
}

const struct plan plan_epsilon = { .name = "Epsilon", .make_room_mp = make_no_room_mp };
