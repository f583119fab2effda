/* broken.c -- each kind of call that needs a name in _mp.  SPDX-License-Identifier: MIT */
#include "vm/broken.h"

void run(int size) { allocate_mp(size); /* planted */ }

static struct object *make(struct mutator *mutator, uint64_t header, uint64_t words)
{
    if (words > 0)
        return heap_allocate_mp(mutator, header, words); /* planted */
    return NULL;
}

static void by_pointer(struct heap *heap, size_t bytes)
{
    while (heap->plan->make_room_mp(heap, bytes)) /* planted */
        ;
    kinds[0].be_mp(heap); /* planted */
}

enum called polls(struct participant *self)
{
    participant_poll(self);                          /* planted */
    participant_poll_slow(self);                     /* planted */
    participant_leave_safe(self, PARTICIPANT_GUEST); /* planted */
    participant_lock(self, &lock);                   /* planted */
    stops_force(NULL, NULL);                         /* planted */
    log("\"a_mp(", dump_mp());                       /* planted */
}

static int one_line(int size) { return allocate_mp(size); } /* planted */

int deaf_mp_not_at_the_end(int size)
{
#if 0
    return allocate_mp(size); /* planted: which half is compiled is not known */
#endif
}

static void fine_mp(int size) { allocate_mp(size); }
