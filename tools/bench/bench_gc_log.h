/* bench_gc_log.h -- the pauses that a log in HotSpot's form tells of.
 *
 * Layer: tools/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_BENCH_BENCH_GC_LOG_H
#define TOOLS_BENCH_BENCH_GC_LOG_H

#include "base/hist.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds the pause of "... Pause Full (cause) 16M->8M(37M) 1.234ms"; false: the line tells of none.
 */
bool bench_gc_log_line(const char *line, struct hist *pauses_ns);
/* Adds all of a file; false: it cannot be read. */
bool bench_gc_log_file(const char *path, struct hist *pauses_ns);

#endif
