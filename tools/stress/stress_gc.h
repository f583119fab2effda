/* stress_gc.h -- random graphs of objects, changed by threads, against a collector.
 *
 * Read next: stress_gc_shadow.h: what is checked; stress_gc_actions.c: what is done.
 * Layer:     tools/.  Who may call: the command's main thread, once per process.
 *
 * Threads allocate, link, share and drop objects in an order drawn from the seed, in a heap
 * of 16 MB unless the command line says otherwise.  After each collection every thread checks
 * its graphs, and the shared ones, against what it knows of them outside the heap.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_STRESS_STRESS_GC_H
#define TOOLS_STRESS_STRESS_GC_H

#include "tools/stress/stress_protocol.h"

#include <stdbool.h>

#define STRESS_GC_MOST_THREADS 64
/* A control that must fail, by its name only: one thread uses an address that it has kept from
 * before a collection. */
#define STRESS_GC_PROGRAMS "forgotten-root, a control that must fail"
bool stress_gc_has_program(const char *name);

/* Of the options threads are at most STRESS_GC_MOST_THREADS.  result: all but requests and
 * dumps; attaches = actions.  ERR_SYSTEM and others: the system refused, failure says what. */
MUST_USE enum err stress_gc_run(const struct stress_protocol_options *options,
                                struct stress_protocol_result *result_out);

#endif
