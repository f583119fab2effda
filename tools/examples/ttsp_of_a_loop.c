/* ttsp_of_a_loop.c -- how long until a polling C loop stands still?
 *
 * One thread sums numbers and polls; main stops it 2000 times, once a millisecond,
 * and reads a counter that only that thread writes while it cannot write.  At the
 * end: the time to safepoint, who was last, and whether the account adds up.
 *
 *     cc ttsp_of_a_loop.c $(pkg-config --cflags --libs stillpoint)
 *     ./a.out -XX:SafepointPoll=global
 *
 * SPDX-License-Identifier: MIT */
#if __has_include("vm/stillpoint.h") /* in the project's own tree */
#include "vm/stillpoint.h"
#else
#include <stillpoint.h>
#endif

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define STOPS 2000

static atomic_bool quit;
static unsigned long rounds; /* plain: written by the loop, read only inside stops */

static const struct stillpoint_work summing = { "sum", "summing numbers", "rounds" };

static void *sum_and_poll(void *unused)
{
    struct stillpoint_thread *self;
    (void)unused;
    if (stillpoint_attach("summer", &self) != STILLPOINT_OK)
        return NULL;
    stillpoint_leave_native(self); /* from here on a stop waits for our polls */
    stillpoint_work_begin(self, &summing, 0);
    while (!atomic_load_explicit(&quit, memory_order_relaxed)) {
        rounds++;
        stillpoint_poll(self);
    }
    stillpoint_work_end(self);
    stillpoint_detach(self);
    return NULL;
}

static void look_at_rounds(void *argument)
{
    *(unsigned long *)argument = rounds; /* nobody else runs: no lock, no atomic */
}

static void print(const char *what, const struct stillpoint_percentiles *p)
{
    printf("%-8s p50 %8llu ns   p99 %8llu ns   max %8llu ns\n", what, (unsigned long long)p->p50_ns,
           (unsigned long long)p->p99_ns, (unsigned long long)p->max_ns);
}

int main(int argc, char **argv)
{
    char message[512];
    enum stillpoint_result result =
        stillpoint_start((const char *const *)argv + 1, argc - 1, message, sizeof message);
    if (result != STILLPOINT_OK) {
        fprintf(stderr, "ttsp_of_a_loop: %s\n", message);
        return (int)result;
    }

    pthread_t thread;
    if (pthread_create(&thread, NULL, sum_and_poll, NULL) != 0) {
        fprintf(stderr, "ttsp_of_a_loop: cannot start a thread\n");
        return STILLPOINT_ENVIRONMENT;
    }
    unsigned long seen = 0;
    for (int i = 0; i < STOPS; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        stillpoint_stop(look_at_rounds, &seen);
    }
    atomic_store(&quit, true);
    pthread_join(thread, NULL);
    stillpoint_shutdown();

    struct stillpoint_summary summary;
    if (stillpoint_get_summary(&summary) != STILLPOINT_OK)
        return STILLPOINT_STATE;
    printf("%llu stops, %lu rounds seen at the last\n", (unsigned long long)summary.stops, seen);
    print("TTSP", &summary.ttsp);
    print("lag", &summary.lag);
    print("resume", &summary.resume);
    printf("last in the worst stop: %s, %s\n", summary.last_thread, summary.last_doing);
    printf("the account %s\n", summary.adds_up ? "adds up" : "DOES NOT ADD UP");
    return summary.adds_up ? 0 : 75;
}
