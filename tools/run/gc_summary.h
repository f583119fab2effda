/* gc_summary.h -- stillpoint run --gc-summary: what the collections of a program came to.
 *
 * Layer: tools/.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_RUN_GC_SUMMARY_H
#define TOOLS_RUN_GC_SUMMARY_H

#include "gc/collection.h"

#include <stdint.h>
#include <stdio.h>

/* A table of at most 80 columns; the totals are those at now_ns, in the time of os_now_ns(). */
void gc_summary_print(const struct collection_totals *totals, uint64_t now_ns, FILE *out);

#endif
