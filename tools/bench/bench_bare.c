/* bench_bare.c -- see bench_bare.h.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/bench/bench_bare.h"

#include "base/atomics.h"
#include "base/os.h"

#define SPIN_NS 2000

static struct {
    CACHE_ALIGNED _Atomic uint32_t epoch; /* odd = stop; the gate's futex */
    CACHE_ALIGNED _Atomic uint32_t out;   /* still running; the coordinator's futex */
    _Atomic uint64_t last_arrival_ns;
    CACHE_ALIGNED _Atomic uint32_t resumed;
} bare;

static void poll_slow(uint32_t epoch)
{
    uint64_t now = os_now_ns();
    if (fetch_sub_seq(&bare.out, 1) == 1) {        /* seq_cst: before the coordinator's look */
        store_release(&bare.last_arrival_ns, now); /* pairs with bench_bare_stop() */
        os_futex_wake(&bare.out, 1, OS_FUTEX_ANY);
    }
    while (load_acquire(&bare.epoch) == epoch) /* pairs with the release of the stop */
        os_futex_wait(&bare.epoch, epoch, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
    fetch_add_seq(&bare.resumed, 1);
}

_Noreturn void bench_bare_poll_for_ever(void)
{
    for (;;) {
        uint32_t epoch = load_relaxed(&bare.epoch); /* a stale one is seen a turn later */
        if (__builtin_expect(epoch & 1, 0))
            poll_slow(epoch);
    }
}

static void wait_for_all(void)
{
    uint32_t out;
    uint64_t until = os_now_ns() + SPIN_NS;
    for (uint32_t i = 1; load_seq(&bare.out) != 0; i++) {
        if (i % 16 == 0 && os_now_ns() >= until)
            break;
        os_cpu_pause();
    }
    while ((out = load_seq(&bare.out)) != 0)
        os_futex_wait(&bare.out, out, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
}

struct bench_bare_stop bench_bare_stop(uint32_t pollers)
{
    struct bench_bare_stop stop = { .begin_ns = os_now_ns() };
    store_relaxed(&bare.last_arrival_ns, 0);
    store_relaxed(&bare.out, pollers);                     /* published by the odd */
    store_seq(&bare.epoch, load_relaxed(&bare.epoch) + 1); /* epoch; ours alone */
    wait_for_all();
    stop.noticed_ns = os_now_ns();
    store_release(&bare.epoch, load_relaxed(&bare.epoch) + 1); /* opens the gate */
    os_futex_wake(&bare.epoch, OS_FUTEX_ALL, OS_FUTEX_ANY);
    stop.woken_ns = os_now_ns();
    /* Stamped a moment after the count, so perhaps not yet there. */
    while ((stop.last_arrival_ns = load_acquire(&bare.last_arrival_ns)) == 0)
        os_cpu_pause();
    return stop;
}

void bench_bare_wait_resumed(uint32_t times)
{
    /* As long as the VM thread waits between its looks. */
    for (uint64_t nap_ns = 250000; load_seq(&bare.resumed) != times; nap_ns *= 2)
        os_sleep_ns(nap_ns);
}
