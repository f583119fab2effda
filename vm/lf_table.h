/* lf_table.h -- a hash table that any number of threads read and fill without a lock.
 *
 * Read next: names.c, the plainest user.
 * Layer:     vm/.
 *
 * liburcu's cds_lfht behind two functions.  ThreadSanitizer cannot see into that library,
 * so the one edge it gives is told by hand here, and nobody else calls it.
 *
 * Promises
 *   L1  What the adder wrote to an entry before it added it, whoever finds it sees.
 *   L2  Of entries with equal keys one is ever in the table, however many add at once.
 *   L3  An entry that is in stays in: what was found may be kept.
 * Asks of callers
 *   C1  The table does not own entries; one that is in must live as long as the process.
 *   C2  What match reads of an entry does not change after it was added.
 *
 *                find       add_unique
 *     find       ok         ok
 *     add_unique ok         ok
 *
 * Who may call: [attached] a thread that is a participant (an RCU reader)
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_LF_TABLE_H
#define VM_LF_TABLE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct lf_table;

/* Stands inside the entry; private to lf_table.c. */
struct lf_node {
    _Alignas(8) uintptr_t links[2];
};

/* Is this the entry with that key?  Called for entries whose hash is equal, from inside a
 * read section: it must not poll, wait or call the table. */
typedef bool lf_match(const struct lf_node *node, const void *key);

/* [any] Never destroyed.  ERR_NO_MEMORY. */
MUST_USE enum err lf_table_new(lf_match *match, struct lf_table **table_out);
/* [attached] NULL = none. */
struct lf_node *lf_table_find(struct lf_table *table, uint64_t hash, const void *key);
/* [attached] node, or the entry with an equal key that was there first; then node is still
 * the caller's and nobody has seen it. */
struct lf_node *lf_table_add_unique(struct lf_table *table, uint64_t hash, const void *key,
                                    struct lf_node *node);

#endif
