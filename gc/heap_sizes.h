/* heap_sizes.h -- how large the heap and its parts are, from the flags and the machine.
 *
 * Layer: gc/.  Pure, but for the two that read the flags.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_HEAP_SIZES_H
#define GC_HEAP_SIZES_H

#include <stddef.h>
#include <stdint.h>

/* max and initial are multiples of region; initial is at most max; region is a power of
 * two from 64k to 512m; tlab is a multiple of a word and at most half a region. */
struct heap_sizes {
    uint64_t max_bytes, initial_bytes, region_bytes, tlab_bytes;
};

/* [any] From what was asked for, 0 = nothing, and the bytes of the machine. */
struct heap_sizes heap_sizes_for(struct heap_sizes asked, uint64_t memory_bytes);
/* [any] From the flags. */
struct heap_sizes heap_sizes_of_flags(void);
/* [start] After the last flag: those that nobody has set get the value that is used. */
void heap_sizes_fill_flags(void);

/* "16M": in the largest of B, K, M, G that divides, as HotSpot's log lines say it. */
void heap_sizes_text(uint64_t size, char *text_out, size_t bytes);

#endif
