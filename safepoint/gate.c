/* gate.c -- see gate.h.
 *
 * Two words, each tagged with the stop it speaks of, so that a thread that was
 * descheduled for many stops between two instructions cannot count in a stop it
 * does not belong to:
 *     waiting   tag 32 | count 32       in minus out
 *     last_out  tag 24 | delta 40       ns from release to the latest way out
 * (delta saturates at 18 minutes.)  All changes are CAS on the whole word.
 *
 * Note [W] Waking a tree.  Waking everybody from the coordinator was seen to cost
 *   it its CPU for up to a second when there are more spinning threads than CPUs.
 *   So it wakes two, and everyone who was woken wakes two more before going on.
 *   Nobody is forgotten: a sleeper of e is counted before it sleeps, and whoever
 *   was woken for e wakes more unless the word says that it is the last of e.
 *   When the word speaks of a later stop already it cannot say, so they wake
 *   anyway.  Wakes carry the stop's number as a futex mask (32 stops until it
 *   repeats, and the queue is first in, first out), so those who wait for a later
 *   stop do not swallow them.  One that is counted but not yet asleep finds the
 *   epoch changed: the kernel compares after a full barrier.
 *
 * SPDX-License-Identifier: MIT */
#include "safepoint/gate.h"

#include "base/atomics.h"
#include "base/flags.h"
#include "base/os.h"
#include "safepoint/participant_priv.h"
#include "safepoint/sched_point.h"

#define WAKE_FANOUT   2
#define DELTA_BITS    40
#define MOST_DELTA_NS ((UINT64_C(1) << DELTA_BITS) - 1)

union stop_epoch stop_epoch;

static CACHE_ALIGNED _Atomic uint64_t waiting;
static _Atomic uint64_t last_out;
static _Atomic uint64_t released;

static uint32_t waiting_tag(uint64_t word) { return (uint32_t)(word >> 32); }
static uint32_t waiting_count(uint64_t word) { return (uint32_t)word; }
static uint32_t tag_of(uint64_t epoch) { return (uint32_t)(epoch >> 1); }
static uint64_t last_out_tag_of(uint64_t epoch) { return epoch >> 1 & 0xffffff; }
static uint32_t mask_of(uint64_t epoch) { return UINT32_C(1) << (epoch >> 1 & 31); }

static struct gate_count count_of(uint64_t waiting_word, uint64_t last_out_word)
{
    uint64_t delta = last_out_word & MOST_DELTA_NS;
    return (struct gate_count){
        .waiting = waiting_count(waiting_word),
        .last_out_ns = delta ? load_relaxed(&released) + delta : 0, /* our own word */
    };
}

struct gate_count gate_arm(uint64_t epoch)
{
    uint64_t was_waiting = exchange_seq(&waiting, (uint64_t)tag_of(epoch) << 32);
    uint64_t was_out = exchange_seq(&last_out, last_out_tag_of(epoch) << DELTA_BITS);
    return count_of(was_waiting, was_out);
}

struct gate_count gate_look(void)
{
    uint64_t now_waiting = load_acquire(&waiting); /* pairs with the CAS in gate_leave: its */
    return count_of(now_waiting, load_relaxed(&last_out)); /* last_out came before it */
}

void gate_note_release(uint64_t released_ns)
{
    store_relaxed(&released, released_ns); /* published by the even epoch */
}

static int wake_some(uint64_t epoch, int count)
{
    return os_futex_wake(&stop_epoch.half[0], count, mask_of(epoch));
}

void gate_open(uint64_t epoch)
{
    SCHED_POINT(RELEASED, "the epoch is even and nobody has been woken");
    if (waiting_count(load_seq(&waiting)) == 0)
        return; /* who comes now finds the epoch changed */
    wake_some(epoch, flags->safepoint_wake == SAFEPOINT_WAKE_ALL ? OS_FUTEX_ALL : WAKE_FANOUT);
}

bool gate_enter(uint64_t epoch)
{
    uint64_t word = load_relaxed(&waiting); /* the CAS decides */
    do {
        if (waiting_tag(word) != tag_of(epoch))
            return false;
    } while (!compare_exchange_seq(&waiting, &word, word + 1));
    return true;
}

int gate_wake_others(uint64_t epoch)
{
    uint64_t word = load_seq(&waiting);
    if (flags->safepoint_wake == SAFEPOINT_WAKE_ALL)
        return 0;
    if (waiting_tag(word) != tag_of(epoch) || waiting_count(word) > 1)
        return wake_some(epoch, WAKE_FANOUT);
    return 0;
}

bool gate_wait(uint64_t epoch)
{
    bool was_woken = false;
    SCHED_POINT(GATE_ENTERED, "counted as waiting, not yet asleep");
    while (load_seq(&stop_epoch.word) == epoch)
        was_woken = os_futex_wait(&stop_epoch.half[0], (uint32_t)epoch, OS_FUTEX_FOREVER,
                                  mask_of(epoch)) == OS_FUTEX_WOKEN;
    return was_woken;
}

void gate_leave(uint64_t epoch, uint64_t now_ns)
{
    uint64_t release = load_relaxed(&released); /* made visible by the even epoch */
    uint64_t delta = now_ns > release ? now_ns - release : 1;
    if (delta > MOST_DELTA_NS)
        delta = MOST_DELTA_NS;
    uint64_t mine = last_out_tag_of(epoch) << DELTA_BITS | delta;
    uint64_t word = load_relaxed(&last_out); /* the CAS decides */
    while (word >> DELTA_BITS == last_out_tag_of(epoch) && word < mine)
        if (compare_exchange_seq(&last_out, &word, mine))
            break;
    word = load_relaxed(&waiting); /* the CAS decides */
    while (waiting_tag(word) == tag_of(epoch))
        if (compare_exchange_seq(&waiting, &word, word - 1))
            break;
}
