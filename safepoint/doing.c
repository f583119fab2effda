/* doing.c -- see doing.h.
 *
 * Note [V] Version.  A seqlock with one writer.  The owner makes the version odd,
 *   writes, makes it even; the reader takes a copy between two equal even
 *   versions.  The owner's first store must not sink below its writes: the writes
 *   are release stores, so a reader that sees one of them (acquire) also sees the
 *   odd version at its second look.  The last store is a release: seeing the new
 *   even version shows all writes before it.
 *
 * SPDX-License-Identifier: MIT */
#include "safepoint/doing.h"

#include <stdio.h>

#define MOST_READS 4 /* arbitrary; a torn read is rare and costs only the numbers */

static _Atomic(doing_place_describer *) describe;

void doing_set_place_describer(doing_place_describer *describer)
{
    store_release(&describe, describer); /* what it reads is there before it is */
}

void doing_describe_place(const void *place, char *text_out, size_t bytes)
{
    doing_place_describer *describer = load_acquire(&describe);
    text_out[0] = '\0';
    if (place && describer)
        describer(place, text_out, bytes);
}

static void write_value(struct doing *doing, struct doing_value value)
{
    uint32_t version = load_relaxed(&doing->version); /* our own word */
    store_relaxed(&doing->version, version + 1);      /* ordered by the releases below, [V] */
    store_release(&doing->what, value.what);          /* [V] */
    store_release(&doing->done, value.done);          /* [V] */
    store_release(&doing->total, value.total);        /* [V] */
    store_release(&doing->version, version + 2);      /* [V] */
}

struct doing_value doing_begin(struct doing *doing, const struct doing_what *what, uint64_t total)
{
    /* Relaxed: we read our own words. */
    struct doing_value before = { load_relaxed(&doing->what), load_relaxed(&doing->done),
                                  load_relaxed(&doing->total), NULL };
    write_value(doing, (struct doing_value){ what, 0, total, NULL });
    return before;
}

void doing_end(struct doing *doing, struct doing_value before) { write_value(doing, before); }

struct doing_value doing_read(struct doing *doing)
{
    struct doing_value value = { NULL, 0, 0, NULL };
    for (int i = 0; i < MOST_READS; i++) {
        uint32_t version = load_acquire(&doing->version);               /* [V] */
        value.what = load_acquire(&doing->what);                        /* [V] */
        value.done = load_acquire(&doing->done);                        /* [V] */
        value.total = load_acquire(&doing->total);                      /* [V] */
        value.place = load_relaxed(&doing->place);                      /* a picture */
        if (!(version & 1) && load_relaxed(&doing->version) == version) /* after the acquires */
            return value;
    }
    value.total = 0;
    return value;
}

void doing_format(struct doing_value value, char *text_out, size_t bytes)
{
    if (!value.what)
        snprintf(text_out, bytes, "%s", "");
    else if (value.total == 0)
        snprintf(text_out, bytes, "%s", value.what->text);
    else
        snprintf(text_out, bytes, "%s %llu/%llu%s%s", value.what->text,
                 (unsigned long long)value.done, (unsigned long long)value.total,
                 value.what->unit[0] ? " " : "", value.what->unit);
}
