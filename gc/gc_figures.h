/* gc_figures.h -- what the totals of all collections come to: shares, rates, percentiles.
 *
 * Read next: collection.h (the totals), gc_log.c and tools/run/gc_summary.c (who prints them).
 * Layer:     gc/.  Pure.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_GC_FIGURES_H
#define GC_GC_FIGURES_H

#include "gc/collection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* p50, p90, p99: each from as many samples as hist_percentile() asks for. */
#define GC_FIGURES_PERCENTILES 3

/* A cause as the logs have it; two of ours may share a text and are then one row. */
struct gc_figures_cause {
    const char *text;
    uint64_t collections;
};

struct gc_figures {
    uint64_t collections;
    struct gc_figures_cause cause[COLLECTION_CAUSES]; /* those that occurred */
    int causes;
    struct {
        bool is_known;
        double percent;
        uint64_t ns;
    } pause[GC_FIGURES_PERCENTILES];
    uint64_t longest_ns, pauses_ns;
    uint64_t elapsed_ns;       /* since the heap's start; 0 = not known, and no share or rate */
    double gc_percent;         /* of the elapsed time, in pauses */
    double allocated_per_s;    /* bytes */
    double tlab_waste_percent; /* of the allocated bytes */
};

/* [any] At now_ns, in the time of os_now_ns(). */
struct gc_figures gc_figures_of(const struct collection_totals *totals, uint64_t now_ns);

/* [any] "56905K": whole numbers, cut off, in the unit HotSpot picks where it picks one: the largest
 * of B, K, M, G that leaves at least 100. */
void gc_figures_bytes(uint64_t value, char *text_out, size_t bytes);

#endif
