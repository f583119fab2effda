/* flags_check.c -- what of a whole command line does not go together.
 *
 * Only what was typed contradicts: a default, or what a scenario sets, gives way.
 *
 * SPDX-License-Identifier: MIT */
#include "base/flags_priv.h"

static bool check_unlocked(struct flags_error *error_out)
{
    for (size_t i = 0; i < flag_row_count; i++) {
        const char *typed = flag_row_typed(flag_rows[i].spelling);
        if (flag_rows[i].class == FLAG_CLASS_DIAGNOSTIC && typed &&
            !flags->unlock_diagnostic_vm_options)
            return flags_fail(error_out,
                              "%s: a diagnostic flag, needs -XX:+UnlockDiagnosticVMOptions", typed);
    }
    return true;
}

static bool check_stops(struct flags_error *error_out)
{
    const char *chunk = flag_row_typed("BulkChunkBytes"), *policy = flag_row_typed("BulkPolicy");
    const char *spin = flag_row_typed("SafepointSpinMicros");
    const char *wait = flag_row_typed("SafepointWait");
    if (chunk && policy && flags->bulk_policy == BULK_POLICY_WHOLE)
        return flags_fail(error_out, "%s contradicts %s: one piece has no chunks", chunk, policy);
    if (spin && wait && flags->safepoint_wait != SAFEPOINT_WAIT_FUTEX)
        return flags_fail(error_out, "%s contradicts %s: only futex spins for a bounded time", spin,
                          wait);
    return true;
}

static bool is_power_of_two(uint64_t n) { return n && (n & (n - 1)) == 0; }

/* 0 is ergonomic: it contradicts nothing. */
static bool check_heap(struct flags_error *error_out)
{
    const char *most = flag_row_typed("MaxHeapSize"), *first = flag_row_typed("InitialHeapSize");
    const char *region = flag_row_typed("G1HeapRegionSize");
    uint64_t region_bytes = flags->g1_heap_region_size;
    if (most && first && flags->max_heap_size && flags->initial_heap_size > flags->max_heap_size)
        return flags_fail(error_out,
                          "%s contradicts %s: the heap would begin larger than it may get", first,
                          most);
    if (region && region_bytes &&
        (!is_power_of_two(region_bytes) || region_bytes < UINT64_C(64) << 10))
        return flags_fail(error_out, "%s: not a power of two from 64k to 512m, nor 0", region);
    return true;
}

bool flags_check(struct flags_error *error_out)
{
    return check_unlocked(error_out) && check_stops(error_out) && check_heap(error_out);
}
