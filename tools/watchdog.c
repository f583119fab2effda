/* watchdog.c -- see watchdog.h.
 *
 * Seconds are counted, not clocks compared: a process that was stopped from outside
 * has not hung.
 *
 *   field         writer        readers
 *   step          main thread   watchdog; odd while a step is watched
 *   step_what     main thread   watchdog
 *   name, limit   before start  watchdog
 *
 * SPDX-License-Identifier: MIT */
#include "tools/watchdog.h"

#include "base/atomics.h"
#include "base/crash.h"
#include "base/os.h"
#include "safepoint/stops.h"
#include "vm/start.h"

#include <pthread.h>
#include <stdlib.h>

static _Atomic uint32_t step;
static const char *_Atomic step_what;
static const char *watched_name;
static int limit_seconds;

static void *watchdog_main(void *unused)
{
    uint32_t seen = 0;
    uint64_t seen_stops = 0;
    (void)unused;
    for (int quiet = 0; quiet < limit_seconds;) {
        os_sleep_ns(1000000000);
        uint32_t now = load_acquire(&step); /* pairs with watchdog_begin(): what it is */
        uint64_t stops = stops_figures().stops;
        quiet = now % 2 && now == seen && stops == seen_stops ? quiet + 1 : 0;
        seen = now;
        seen_stops = stops;
    }
    crash_write("stillpoint: %s: %s for %d s\n", watched_name, load_relaxed(&step_what),
                limit_seconds);
    abort(); /* the crash report has the states of all threads */
}

bool watchdog_start(const char *name)
{
    pthread_t watchdog;
    watched_name = name;
    limit_seconds =
        WATCHDOG_LIMIT_SECONDS + (int)((start_injected_delay_ns() + 999999999) / 1000000000);
    return pthread_create(&watchdog, NULL, watchdog_main, NULL) == 0 &&
           pthread_detach(watchdog) == 0;
}

/* Only the main thread writes: its own relaxed look at step is current. */
void watchdog_begin(const char *what)
{
    uint32_t now = load_relaxed(&step);
    store_relaxed(&step_what, what); /* ordered by the release below */
    store_release(&step, now + 1 + now % 2);
}

void watchdog_end(void)
{
    uint32_t now = load_relaxed(&step);
    store_release(&step, now + now % 2); /* a late look is harmless */
}
