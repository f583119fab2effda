/* gc_summary.c -- see gc_summary.h.  SPDX-License-Identifier: MIT */
#include "tools/run/gc_summary.h"

#include "gc/gc_figures.h"
#include "tools/text.h"

#define TEXT_BYTES 48

typedef unsigned long long count_t; /* as printf wants it */

static void row(FILE *out, const char *what, const char *value, const char *note)
{
    fprintf(out, "%-26s%12s%s%s\n", what, value, *note ? "   " : "", note);
}

static void row_count(FILE *out, const char *what, uint64_t count, const char *note)
{
    char value[TEXT_BYTES];
    snprintf(value, sizeof value, "%llu", (count_t)count);
    row(out, what, value, note);
}

static void row_ns(FILE *out, const char *what, uint64_t ns, const char *note)
{
    char value[TEXT_BYTES];
    text_ns(value, sizeof value, ns);
    row(out, what, value, note);
}

static void row_bytes(FILE *out, const char *what, uint64_t bytes, const char *note)
{
    char value[TEXT_BYTES];
    gc_figures_bytes(bytes, value, sizeof value);
    row(out, what, value, note);
}

static void print_pauses(const struct gc_figures *f, FILE *out)
{
    char what[TEXT_BYTES], note[2 * TEXT_BYTES] = "", elapsed[TEXT_BYTES];
    for (int i = 0; i < GC_FIGURES_PERCENTILES; i++) {
        snprintf(what, sizeof what, "pause, p%g", f->pause[i].percent);
        if (f->pause[i].is_known)
            row_ns(out, what, f->pause[i].ns, "");
    }
    row_ns(out, "pause, longest", f->longest_ns,
           f->pause[0].is_known ? "" : "too few for percentiles");
    if (f->elapsed_ns != 0) {
        text_ns(elapsed, sizeof elapsed, f->elapsed_ns);
        snprintf(note, sizeof note, "%.2f %% of %s", f->gc_percent, elapsed);
    }
    row_ns(out, "pauses, sum", f->pauses_ns, note);
}

static void print_work(const struct collection_totals *totals, FILE *out)
{
    char note[3 * TEXT_BYTES], user[TEXT_BYTES], system[TEXT_BYTES];
    text_ns(user, sizeof user, totals->user_ns);
    text_ns(system, sizeof system, totals->system_ns);
    snprintf(note, sizeof note, "user %s, system %s", user, system);
    row_ns(out, "CPU time in pauses", totals->user_ns + totals->system_ns, note);
    row_bytes(out, "moved", totals->moved_bytes, "");
    row_count(out, "weak references cleared", totals->weak_cleared, "");
    if (totals->verify_ns != 0)
        row_ns(out, "verification", totals->verify_ns, "part of the pauses");
}

static void print_allocation(const struct collection_totals *totals, const struct gc_figures *f,
                             FILE *out)
{
    char note[2 * TEXT_BYTES] = "", value[TEXT_BYTES], rate[TEXT_BYTES];
    if (f->elapsed_ns != 0) {
        text_ratio(rate, sizeof rate, f->allocated_per_s / (1 << 20));
        snprintf(note, sizeof note, "%s M/s", rate);
    }
    row_bytes(out, "allocated", totals->allocated_bytes, note);
    snprintf(value, sizeof value, "%.2f %%", f->tlab_waste_percent);
    snprintf(note, sizeof note, "of that; %llu refills", (count_t)totals->tlab_refills);
    row(out, "given up in TLABs", value, note);
}

void gc_summary_print(const struct collection_totals *totals, uint64_t now_ns, FILE *out)
{
    char what[TEXT_BYTES];
    struct gc_figures figures = gc_figures_of(totals, now_ns);
    row_count(out, "collections", figures.collections, "");
    for (int i = 0; i < figures.causes; i++) {
        snprintf(what, sizeof what, "  %s", figures.cause[i].text);
        row_count(out, what, figures.cause[i].collections, "");
    }
    if (figures.collections != 0) {
        print_pauses(&figures, out);
        print_work(totals, out);
    }
    if (totals->allocated_bytes != 0)
        print_allocation(totals, &figures, out);
}
