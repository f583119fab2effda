/* gc_log.h -- collections as HotSpot's log lines, in four dialects, and our own.
 *
 * Read next: gc_log_block() in gc_log.c: the lines of one collection, in their order.
 * Layer:     gc/.  Who may call is said at each function; all of them outside stops.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_GC_LOG_H
#define GC_GC_LOG_H

#include "base/log.h"
#include "gc/collection.h"

#include <stdint.h>

/* [VM thread, after the release] gc*=info: a full collection as HotSpot tells it; debug: the heap
 * before and after it, what was verified, live, moved, cleared, allocated. */
void gc_log_collection(const struct collection_record *record);
/* [start] gc+init=info, behind the lines on the heap's capacity. */
void gc_log_init(unsigned workers_most);
/* [after stops_exit(), before heap_end()] gc+exit=info: the heap as it is left; gc+stats=info:
 * what all collections came to. */
void gc_log_exit(void);

/* --- for tests: the same lines without a heap and without a log ------------------------------ */

enum { GC_LOG_LINES_MOST = 40, GC_LOG_TEXT_BYTES = 256 };

struct gc_log_line {
    enum log_tags tags;
    enum log_level level;
    uint64_t event_ns;
    char text[GC_LOG_TEXT_BYTES];
};
struct gc_log_block {
    int count;
    struct gc_log_line line[GC_LOG_LINES_MOST];
};
/* What a record does not say, because it never changes. */
struct gc_log_space {
    uint64_t base, reserved_bytes, region_bytes;
};

/* [any] The lines of one collection in this dialect. */
void gc_log_block(enum xlog_dialect dialect, const struct gc_log_space *space,
                  const struct collection_record *record, struct gc_log_block *block_out);
/* [any] Those at the end: of the heap in this dialect, and of the totals. */
void gc_log_exit_block(enum xlog_dialect dialect, const struct gc_log_space *space,
                       uint64_t committed_bytes, uint64_t used_bytes, uint64_t now_ns,
                       struct gc_log_block *block_out);
void gc_log_totals_block(const struct collection_totals *totals, uint64_t now_ns,
                         struct gc_log_block *block_out);

#endif
