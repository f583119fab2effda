/* gc_figures.c -- see gc_figures.h.  SPDX-License-Identifier: MIT */
#include "gc/gc_figures.h"

#include <stdio.h>
#include <string.h>

static void add_cause(struct gc_figures *figures, const char *text, uint64_t collections)
{
    int i = 0;
    if (collections == 0)
        return;
    while (i < figures->causes && strcmp(figures->cause[i].text, text) != 0)
        i++;
    if (i == figures->causes)
        figures->cause[figures->causes++] = (struct gc_figures_cause){ .text = text };
    figures->cause[i].collections += collections;
}

struct gc_figures gc_figures_of(const struct collection_totals *totals, uint64_t now_ns)
{
    static const double percents[GC_FIGURES_PERCENTILES] = { 50, 90, 99 };
    struct gc_figures figures = {
        .collections = totals->collections,
        .longest_ns = hist_max(&totals->pause_ns),
        .pauses_ns = totals->pause_ns.sum,
    };
    for (int c = 0; c < COLLECTION_CAUSES; c++)
        add_cause(&figures, collection_cause_text(c), totals->per_cause[c]);
    for (int i = 0; i < GC_FIGURES_PERCENTILES; i++) {
        figures.pause[i].percent = percents[i];
        figures.pause[i].is_known =
            hist_percentile(&totals->pause_ns, percents[i], &figures.pause[i].ns);
    }
    if (totals->since_ns != 0 && now_ns > totals->since_ns) {
        figures.elapsed_ns = now_ns - totals->since_ns;
        figures.gc_percent = 100.0 * (double)figures.pauses_ns / (double)figures.elapsed_ns;
        figures.allocated_per_s =
            1e9 * (double)totals->allocated_bytes / (double)figures.elapsed_ns;
    }
    if (totals->allocated_bytes != 0)
        figures.tlab_waste_percent =
            100.0 * (double)totals->tlab_waste_bytes / (double)totals->allocated_bytes;
    return figures;
}

void gc_figures_bytes(uint64_t value, char *text_out, size_t bytes)
{
    static const char units[] = "BKMG";
    int unit = 0;
    while (unit < 3 && value >> 10 >= 100) {
        value >>= 10;
        unit++;
    }
    snprintf(text_out, bytes, "%llu%c", (unsigned long long)value, units[unit]);
}
