/* side_tables.c -- see side_tables.h.  SPDX-License-Identifier: MIT */
#include "gc/side_tables.h"

#include "base/os.h"

#include <string.h>

#define TABLE_SHARE 64 /* of the heap's bytes: 8 bytes for 64 words */

/* At least a page. */
static uint64_t table_bytes(uint64_t heap_bytes)
{
    uint64_t page = os_page_bytes();
    return (heap_bytes / TABLE_SHARE + page - 1) / page * page;
}

enum err side_tables_start(struct side_tables *t, char *heap_base, uint64_t heap_bytes)
{
    struct side_tables made = { .heap_base = heap_base };
    enum err err = vspace_reserve(&made.marks_space, table_bytes(heap_bytes));
    if (err != ERR_OK)
        return err;
    err = vspace_reserve(&made.destinations_space, table_bytes(heap_bytes));
    if (err != ERR_OK) {
        vspace_release(&made.marks_space);
        return err;
    }
    made.marks = (_Atomic uint64_t *)(void *)made.marks_space.base;
    made.destinations = (uint64_t *)(void *)made.destinations_space.base;
    *t = made;
    return ERR_OK;
}

void side_tables_end(struct side_tables *t)
{
    vspace_release(&t->marks_space);
    vspace_release(&t->destinations_space);
    *t = (struct side_tables){ .heap_base = NULL };
}

/* What the first got and the second did not stays: it is asked for again, zero as before. */
enum err side_tables_commit(struct side_tables *t, uint64_t heap_bytes)
{
    uint64_t wanted = table_bytes(heap_bytes), from = t->committed_bytes;
    if (wanted <= from)
        return ERR_OK;
    enum err err = vspace_commit(&t->marks_space, from, wanted - from);
    if (err == ERR_OK)
        err = vspace_commit(&t->destinations_space, from, wanted - from);
    if (err == ERR_OK)
        t->committed_bytes = wanted;
    return err;
}

void side_tables_touch(struct side_tables *t, uint64_t heap_bytes)
{
    uint64_t wanted = table_bytes(heap_bytes), page = os_page_bytes();
    for (uint64_t at = t->touched_bytes; at < wanted; at += page) {
        store_relaxed(&t->marks[at / sizeof *t->marks], 0); /* no stop is on: ours alone */
        t->destinations[at / sizeof *t->destinations] = 0;
    }
    if (wanted > t->touched_bytes)
        t->touched_bytes = wanted;
}

void side_tables_clear_marks(struct side_tables *t, uint64_t heap_bytes)
{
    memset(t->marks_space.base, 0, heap_bytes / TABLE_SHARE);
}
