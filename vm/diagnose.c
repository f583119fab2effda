/* diagnose.c -- see diagnose.h.  SPDX-License-Identifier: MIT */
#include "vm/diagnose.h"

#include "base/flags.h"
#include "base/lock.h"
#include "base/os.h"
#include "gc/collection.h"
#include "gc/heap.h"
#include "safepoint/stops.h"
#include "vm/string.h"

#include <string.h>

#define MOST_INJECTED_MS 60000

bool diagnose_safepoint_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)thread, (void)argument_count;
    stops_force(NULL, NULL);
    window[0] = VALUE_NIL;
    return true;
}

bool diagnose_gc_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    if (!flags->disable_explicit_gc)
        collection_request_mp(&thread->mutator, COLLECTION_SYSTEM_GC, 0);
    window[0] = VALUE_NIL;
    return true;
}

bool diagnose_gc_count(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)thread, (void)argument_count;
    window[0] = value_of_double((double)collection_count());
    return true;
}

bool diagnose_heap_used(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)thread, (void)argument_count;
    window[0] = value_of_double((double)heap_figures().used_bytes);
    return true;
}

bool diagnose_heap_size(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)thread, (void)argument_count;
    window[0] = value_of_double((double)heap_figures().committed_bytes);
    return true;
}

bool diagnose_thread_dump_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)thread, (void)argument_count;
    stops_dump_threads();
    window[0] = VALUE_NIL;
    return true;
}

/* --- lateness ------------------------------------------------------------------------- */

static void be_busy(struct participant *self, uint64_t ns)
{
    (void)self;
    for (uint64_t end = os_now_ns() + ns; os_now_ns() < end;)
        os_cpu_pause();
}

static void be_native_mp(struct participant *self, uint64_t ns)
{
    participant_enter_safe(self, PARTICIPANT_NATIVE);
    os_sleep_ns(ns);
    participant_leave_safe(self, PARTICIPANT_GUEST);
}

static void be_unsafe(struct participant *self, uint64_t ns)
{
    (void)self;
    os_sleep_ns(ns);
}

/* A marked lock, taken as the runtime takes its own: who waits for it is BLOCKED, who has it
 * is not. */
static struct lock injected = LOCK_INITIALIZER(SHARED);

static void hold_a_lock_mp(struct participant *self, uint64_t ns)
{
    participant_lock(self, &injected);
    os_sleep_ns(ns);
    lock_release(&injected);
}

static const struct {
    const char *kind;
    void (*be_mp)(struct participant *self, uint64_t ns);
} kinds[] = { { "busy", be_busy },
              { "native", be_native_mp },
              { "unsafe", be_unsafe },
              { "lock", hold_a_lock_mp } };

bool diagnose_inject_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    double ms = value_is_number(window[2]) ? value_as_double(window[2]) : -1;
    if (!flags->unlock_diagnostic_vm_options)
        return guest_fail(thread, "inject needs -XX:+UnlockDiagnosticVMOptions.");
    if (!(ms >= 0 && ms <= MOST_INJECTED_MS))
        return guest_fail(thread, "Milliseconds must be a number from 0 to %d.", MOST_INJECTED_MS);
    const struct object *kind =
        value_is_kind(window[1], OBJECT_STRING) ? value_as_object(window[1]) : NULL;
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (string_length(kind) == strlen(kinds[i].kind) &&
            memcmp(string_bytes(kind), kinds[i].kind, string_length(kind)) == 0) {
            kinds[i].be_mp(guest_thread_participant(thread), (uint64_t)(ms * 1e6));
            window[0] = VALUE_NIL;
            return true;
        }
    return guest_fail(thread, "Kind must be \"busy\", \"native\", \"unsafe\" or \"lock\".");
}
