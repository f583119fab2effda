/* gc_init_log.h -- the gc,init lines at the head of a log.
 *
 * Layer: gc/.  Readers of HotSpot logs take the version from here and need it to
 * look like a JDK's; ours names the dialect first, then ourselves.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_GC_INIT_LOG_H
#define GC_GC_INIT_LOG_H

/* [any] Once, after the log is configured; writes nothing unless gc+init=info is on. */
void gc_init_log(void);

#endif
