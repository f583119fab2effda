/* sched_point.c -- the moving half of sched_point.h.
 *
 * Random sleeps come from a generator per thread, seeded by the run's seed and
 * the order of first use; the interleaving itself stays the kernel's, so a seed
 * makes a run alike, not identical.
 *
 * SPDX-License-Identifier: MIT */
#include "safepoint/sched_point.h"

#ifdef STILLPOINT_SCHED_POINTS

#include "base/atomics.h"
#include "base/os.h"
#include "base/prng.h"

#include <stdbool.h>

/* One stop in 64 sleeps: sleeps at one poll in four were seen to hide faults,
 * since a sleeping thread is seldom in GUEST. */
static _Atomic uint32_t run_seed = 1, one_in = 64;
static _Atomic uint32_t threads_seen;
static void (*point_hook)(enum sched_point, void *);
static void *hook_argument;

void sched_point_set_hook(void (*hook)(enum sched_point, void *), void *argument)
{
    hook_argument = argument;
    point_hook = hook;
}

void sched_point_seed(unsigned seed, unsigned sleep_one_in)
{
    store_relaxed(&run_seed, seed); /* read by threads started later */
    store_relaxed(&one_in, sleep_one_in);
}

static void sleep_now_and_then(void)
{
    static _Thread_local struct prng prng;
    static _Thread_local bool seeded;
    uint32_t odds = load_relaxed(&one_in); /* relaxed: a statistic */
    if (odds == 0)
        return;
    if (!seeded) {
        uint64_t number = fetch_add_relaxed(&threads_seen, 1); /* only uniqueness matters */
        prng_seed(&prng, load_relaxed(&run_seed) + (number << 32));
        seeded = true;
    }
    if (prng_below(&prng, odds) == 0)
        os_sleep_ns(prng_below(&prng, 50000)); /* up to 50 us, a futex wake or two */
}

void sched_point_reach(enum sched_point point)
{
    if (point_hook)
        point_hook(point, hook_argument);
    else
        sleep_now_and_then();
}

#else
/* ISO C wants a declaration in every file. */
typedef int sched_point_has_no_code;
#endif
