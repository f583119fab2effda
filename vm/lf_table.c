/* lf_table.c -- see lf_table.h.
 *
 * Note [E] The edge of L1.  cds_lfht links an entry by a full-barrier CAS and readers follow
 *   links by dependent loads, so what was written before the add is visible after the find.
 *   Both happen in code that ThreadSanitizer does not instrument.  So the adder releases the
 *   entry's own address and the reader acquires it at its first look, in match: an edge per
 *   entry, which orders nothing that the library does not.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/lf_table.h"

#include <stdlib.h>
#include <urcu/urcu-memb.h>
#include <urcu/rculfhash.h>

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *);
void __tsan_release(void *);
const char *__tsan_default_suppressions(void);

/* The library grows a table in a thread of its own and hands it the work by a queue, which
 * is not instrumented either: all that it calls is left out of account. */
const char *__tsan_default_suppressions(void) { return "called_from_lib:liburcu-cds.so\n"; }

#define EDGE_ACQUIRE(address) __tsan_acquire(address)
#define EDGE_RELEASE(address) __tsan_release(address)
#else
#define EDGE_ACQUIRE(address) ((void)0)
#define EDGE_RELEASE(address) ((void)0)
#endif

/* LeakSanitizer does not look into the mappings where the library keeps its buckets. */
#ifdef __SANITIZE_ADDRESS__
void __lsan_ignore_object(const void *);
#define IS_REACHABLE(address) __lsan_ignore_object(address)
#else
#define IS_REACHABLE(address) ((void)0)
#endif

#define FIRST_BUCKETS 1024 /* arbitrary; the library doubles them as the table fills */

_Static_assert(sizeof(struct lf_node) == sizeof(struct cds_lfht_node), "one is the other");
_Static_assert(_Alignof(struct lf_node) == _Alignof(struct cds_lfht_node), "one is the other");

struct lf_table {
    struct cds_lfht *lfht;
    lf_match *match;
};

struct search {
    lf_match *match;
    const void *key;
};

static struct lf_node *lf_node(struct cds_lfht_node *node) { return (struct lf_node *)node; }
static struct cds_lfht_node *cds_node(struct lf_node *node) { return (struct cds_lfht_node *)node; }

enum err lf_table_new(lf_match *match, struct lf_table **table_out)
{
    struct lf_table *table = malloc(sizeof *table);
    if (!table)
        return ERR_NO_MEMORY;
    table->match = match;
    table->lfht =
        cds_lfht_new_flavor(FIRST_BUCKETS, FIRST_BUCKETS, 0,
                            CDS_LFHT_AUTO_RESIZE | CDS_LFHT_ACCOUNTING, &urcu_memb_flavor, NULL);
    if (!table->lfht) {
        free(table);
        return ERR_NO_MEMORY;
    }
    *table_out = table;
    return ERR_OK;
}

static int match_node(struct cds_lfht_node *node, const void *argument)
{
    const struct search *search = argument;
    EDGE_ACQUIRE(node); /* [E] */
    return search->match(lf_node(node), search->key);
}

struct lf_node *lf_table_find(struct lf_table *table, uint64_t hash, const void *key)
{
    struct search search = { table->match, key };
    struct cds_lfht_iter iter;
    urcu_memb_read_lock();
    cds_lfht_lookup(table->lfht, hash, match_node, &search, &iter);
    urcu_memb_read_unlock();
    struct cds_lfht_node *found = cds_lfht_iter_get_node(&iter);
    return found ? lf_node(found) : NULL;
}

struct lf_node *lf_table_add_unique(struct lf_table *table, uint64_t hash, const void *key,
                                    struct lf_node *node)
{
    struct search search = { table->match, key };
    EDGE_RELEASE(node); /* [E] */
    urcu_memb_read_lock();
    struct cds_lfht_node *in =
        cds_lfht_add_unique(table->lfht, hash, match_node, &search, cds_node(node));
    urcu_memb_read_unlock();
    if (in == cds_node(node))
        IS_REACHABLE(node);
    return lf_node(in);
}
