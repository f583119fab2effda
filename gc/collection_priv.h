/* collection_priv.h -- for gc/'s own files.  SPDX-License-Identifier: MIT */
#ifndef GC_COLLECTION_PRIV_H
#define GC_COLLECTION_PRIV_H

#include "base/err.h"
#include "gc/collection.h"

/* [any] Threads that collect together at most. */
unsigned collection_workers_most(void);
/* [start] Before the first mutator.  ERR_NO_MEMORY. */
MUST_USE enum err collection_start(void);
/* [start] After the last one, and after stops_exit(). */
void collection_end(void);

#endif
