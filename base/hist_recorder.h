/* hist_recorder.h -- a histogram that many threads write while one takes intervals.
 *
 * Read next: the notes at the top of hist_recorder.c.
 * Layer:     base/.
 *
 * Promises
 *   T1  Every sample is in exactly one interval.
 *   T2  Count, overflow, sum, min, max and buckets of an interval describe the same
 *       samples.                                  [checked, hist_verify of the interval]
 *   T3  Recording never waits: no lock, no system call, and nothing a reader does makes
 *       it try again.
 * Asks of callers
 *   C1  One reader at a time.                                        [checked, INSIST]
 *   C2  A signal handler may record, but not take: it could wait for the very thread it
 *       interrupted.
 *
 *                 beside record                beside take
 *   record        both count (T1, T3)          goes to one side of the swap (T1)
 *   take          waits for those inside       forbidden (C1)
 *
 * Who may call:  [any] any thread   [reader] the one thread that takes intervals
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_HIST_RECORDER_H
#define BASE_HIST_RECORDER_H

#include "base/err.h"
#include "base/hist.h"

struct hist_recorder; /* opaque; two histograms, 72 KiB */

/* [any] All memory is allocated and touched here. */
MUST_USE enum err hist_recorder_create(struct hist_recorder **recorder_out);
/* [any] No other thread may be inside.  NULL is allowed; what was not taken is gone. */
void hist_recorder_destroy(struct hist_recorder *r);

/* [any] Takes any value; no allocation.  Four atomic additions, and for a sample beyond
 * all others of its interval a compare-and-swap, tried again only when another writer
 * has moved the same extreme meanwhile. */
void hist_recorder_record(struct hist_recorder *r, uint64_t ns);

/* [reader] Ends the interval and fills *interval_out with it (what was there is
 * overwritten).  Samples whose recording returned before this call are in it or in an
 * earlier one; samples begun after it returned are in a later one.  May sleep while a
 * writer that began in the old interval is not done, so not inside a stop. */
void hist_recorder_take(struct hist_recorder *r, struct hist *interval_out);

#endif
