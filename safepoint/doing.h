/* doing.h -- what a participant says it is doing, for the late-thread line.
 *
 * Layer: safepoint/.  The owner writes, the coordinator reads at any time.
 *
 *   field            writer   readers       order
 *   version          owner    coordinator   seqlock, Note [V] in doing.c
 *   what, done, total owner   coordinator   release/acquire, Note [V]
 *   place            owner    coordinator   relaxed: a stop orders it, or it is a picture
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_DOING_H
#define SAFEPOINT_DOING_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One kind of work; static storage, grouped by its kind string. */
struct doing_what {
    const char *kind; /* short, stable, for grouping: "zero", "no-poll loop" */
    const char *text; /* a phrase without numbers: "zeroing a buffer" */
    const char *unit; /* of done and total: "bytes", "iterations"; "" = none worth saying */
};

struct doing {
    _Atomic uint32_t version; /* odd = being written */
    _Atomic(const struct doing_what *) what;
    _Atomic uint64_t done, total;
    _Atomic(const void *) place;
};

/* A copy at one moment.  what NULL = said nothing; total 0 = no progress known.  place: where
 * in guest code, NULL = not in guest code; doing_describe_place() makes words of it. */
struct doing_value {
    const struct doing_what *what;
    uint64_t done, total;
    const void *place;
};

/* [self] Says what comes now; returns what was said before, for doing_end(). */
struct doing_value doing_begin(struct doing *doing, const struct doing_what *what, uint64_t total);
/* [self] Units done so far. */
static inline void doing_progress(struct doing *doing, uint64_t done)
{
    store_relaxed(&doing->done, done); /* a stale value is off by one chunk, no more */
}
/* [self] Where in guest code it is, told by the interpreter before anything that may stop. */
static inline void doing_set_place(struct doing *doing, const void *place)
{
    store_relaxed(&doing->place, place);
}
/* [self] Goes back to what was said before. */
void doing_end(struct doing *doing, struct doing_value before);

/* [any] A consistent copy; after a few torn reads it gives up and says nothing
 * of the numbers (total 0). */
STOP_PATH struct doing_value doing_read(struct doing *doing);

/* [any] "zeroing a buffer 1048576/268435456 bytes"; cut to fit; "" if nothing. */
void doing_format(struct doing_value value, char *text_out, size_t bytes);

/* [any] Who knows places: writes "function:line", or "" for a place that it does not know.
 * Called inside an RCU read section, outside stops; NULL = nobody. */
typedef void doing_place_describer(const void *place, char *text_out, size_t bytes);
void doing_set_place_describer(doing_place_describer *describer);
/* [inside an RCU read section] "" where there is no place or nobody knows it. */
void doing_describe_place(const void *place, char *text_out, size_t bytes);

#endif
