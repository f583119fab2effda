/* gang.h -- a fixed team of threads that does one piece of work together and waits for the next.
 *
 * Read next: Note [J] in gang.c.
 * Layer:     base/.
 *
 * Promises
 *   J1  gang_run() returns when every worker has returned; what they wrote, the caller sees, and
 *       what the caller wrote before, they see.
 *   J2  gang_run() takes no lock, allocates nothing, writes no file: it may be called in a stop.
 *   J3  Workers that wait sleep on a futex, after a short spin that covers the gap between two
 *       pieces of the same job.
 * Asks of callers
 *   C1  One thread at a time runs, grows or ends a gang.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_GANG_H
#define BASE_GANG_H

#include "base/err.h"

struct gang;

#define GANG_MOST_WORKERS 256

/* [any] A gang whose only worker is whoever calls gang_run(); ERR_NO_MEMORY. */
MUST_USE enum err gang_new(const char *name, struct gang **gang_out);
/* [owner] Starts threads until there are `workers` of them, the caller of gang_run() included;
 * signals meant for the process go elsewhere.  Returns how many there are: fewer when the system
 * starts no more threads.  Allocates; not in a stop. */
unsigned gang_grow(struct gang *gang, unsigned workers);
unsigned gang_size(const struct gang *gang);
/* [owner] Calls work(argument, i) once for each i below workers, 0 in the calling thread.
 * workers: from 1 to gang_size(). */
void gang_run(struct gang *gang, unsigned workers, void (*work)(void *argument, unsigned worker),
              void *argument);
/* [owner] Ends its threads and frees it. */
void gang_end(struct gang *gang);

#endif
