/* gc_log.c -- see gc_log.h.
 *
 *   dialect   first lines         the heap                        phases
 *   11        task, start, heap   total, used; behind its head    4, "Prepare for compaction"
 *   17        start, heap, task   total, used                     the same
 *   21        the same            the same                        5, "Prepare compaction"
 *   25        the same            reserved, committed, used       the same
 *
 * 17 also counts archive regions.  11 has no cause "G1 Compaction Pause"; it names the pause that
 * failed.  From 17 on these are lines that a JDK printed; of 11 we know only what readers of its
 * logs show as examples.
 *
 * Lines on metaspace are left out: we have none, and readers do without.  Our small regions count
 * as old: there is no young generation yet.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/gc_log.h"

#include "base/insist.h"
#include "base/os.h"
#include "gc/gc_figures.h"
#include "gc/heap_priv.h"

#include <stdarg.h>
#include <stdio.h>

#define KIB       1024u
#define MIB       (KIB * KIB)
#define INFO      LOG_LEVEL_INFO
#define DEBUG     LOG_LEVEL_DEBUG
#define HEAP_TEXT 200 /* bytes, of heap_text() */

typedef unsigned long long count_t; /* as printf wants it */

/* Where the next line goes; head is "GC(7) " or "". */
struct writer {
    struct gc_log_block *block;
    char head[32];
};

static double ms(uint64_t ns) { return (double)ns / 1e6; }
static double seconds(uint64_t ns) { return (double)ns / 1e9; }

__attribute__((format(printf, 5, 6))) static void put(struct writer *w, enum log_tags tags,
                                                      enum log_level level, uint64_t event_ns,
                                                      const char *format, ...)
{
    va_list ap;
    INSIST(w->block->count < GC_LOG_LINES_MOST, "more than %d log lines", GC_LOG_LINES_MOST);
    struct gc_log_line *line = &w->block->line[w->block->count++];
    line->tags = tags;
    line->level = level;
    line->event_ns = event_ns;
    int used = snprintf(line->text, sizeof line->text, "%s", w->head);
    va_start(ap, format);
    vsnprintf(line->text + used, sizeof line->text - (size_t)used, format, ap);
    va_end(ap);
}

/* --- the heap ---------------------------------------------------------------------------- */

static void heap_text(enum xlog_dialect dialect, const struct gc_log_space *space,
                      uint64_t committed_bytes, uint64_t used_bytes, char text_out[HEAP_TEXT])
{
    char sizes[110];
    if (dialect == XLOG_DIALECT_25)
        snprintf(sizes, sizeof sizes, "total reserved %lluK, committed %lluK, used %lluK",
                 (count_t)(space->reserved_bytes / KIB), (count_t)(committed_bytes / KIB),
                 (count_t)(used_bytes / KIB));
    else
        snprintf(sizes, sizeof sizes, "total %lluK, used %lluK", (count_t)(committed_bytes / KIB),
                 (count_t)(used_bytes / KIB));
    snprintf(text_out, HEAP_TEXT, "garbage-first heap   %s [0x%016llx, 0x%016llx)", sizes,
             (count_t)space->base, (count_t)(space->base + space->reserved_bytes));
}

static void put_regions(struct writer *w, enum log_tags tags, enum log_level level,
                        uint64_t event_ns, const struct gc_log_space *space)
{
    put(w, tags, level, event_ns, "  region size %lluK, 0 young (0K), 0 survivors (0K)",
        (count_t)(space->region_bytes / KIB));
}

/* done: collections, this one not counted before it; each of ours is a full one. */
static void put_heap(struct writer *w, enum xlog_dialect dialect, const struct gc_log_space *space,
                     bool is_before, const struct collection_record *r)
{
    char text[HEAP_TEXT];
    const char *when = dialect == XLOG_DIALECT_25 ? (is_before ? "Before" : "After")
                                                  : (is_before ? "before" : "after");
    uint64_t done = is_before ? r->number : r->number + 1;
    uint64_t event_ns = is_before ? r->begin_ns : r->end_ns;
    heap_text(dialect, space, is_before ? r->capacity_before_bytes : r->capacity_after_bytes,
              is_before ? r->used_before_bytes : r->used_after_bytes, text);
    bool is_one_line = dialect == XLOG_DIALECT_11;
    put(w, LOG_TAGS_GC_HEAP, DEBUG, event_ns, "Heap %s GC invocations=%llu (full %llu):%s%s", when,
        (count_t)done, (count_t)done, is_one_line ? " " : "", is_one_line ? text : "");
    if (!is_one_line)
        put(w, LOG_TAGS_GC_HEAP, DEBUG, event_ns, " %s", text);
    put_regions(w, LOG_TAGS_GC_HEAP, DEBUG, event_ns, space);
}

/* --- the parts of a collection, in their order --------------------------------------------- */

static const char *cause_text(enum xlog_dialect dialect, enum collection_cause cause)
{
    return dialect == XLOG_DIALECT_11 && cause == COLLECTION_ALLOCATION
               ? "G1 Evacuation Pause"
               : collection_cause_text(cause);
}

static void put_task(struct writer *w, const struct collection_record *r)
{
    put(w, LOG_TAGS_GC_TASK, INFO, r->begin_ns, "Using %u workers of %u for full compaction",
        r->workers, r->workers_most);
}

/* HotSpot's words and places for them, but its tags are gc,verify at info.  Readers have lists of
 * tag words, and one that has no `verify` gives up on such a line: it is under gc,phases, which
 * they all know, at debug as other parts of a phase. */
static void put_verification(struct writer *w, const char *what, uint64_t begin_ns, uint64_t ns)
{
    if (ns == 0)
        return;
    put(w, LOG_TAGS_GC_PHASES_START, DEBUG, begin_ns, "Verifying %s", what);
    put(w, LOG_TAGS_GC_PHASES, DEBUG, begin_ns + ns, "Verifying %s %.3fms", what, ms(ns));
}

static void put_tlabs(struct writer *w, const struct collection_record *r)
{
    double waste = r->allocated_bytes == 0
                       ? 0
                       : 100.0 * (double)r->tlab_waste_bytes / (double)r->allocated_bytes;
    put(w, LOG_TAGS_GC_TLAB, DEBUG, r->begin_ns,
        "TLAB totals: refills: %u waste: %4.1f%% (%lluB) allocated: %lluB", r->tlab_refills, waste,
        (count_t)r->tlab_waste_bytes, (count_t)r->allocated_bytes);
}

static void put_phases(struct writer *w, enum xlog_dialect dialect,
                       const struct collection_record *r)
{
    bool is_old = dialect <= XLOG_DIALECT_17;
    for (int p = 0; p < COLLECTION_PHASES; p++) {
        if (is_old && p == COLLECTION_PHASE_RESET)
            continue;
        const char *text = is_old && p == COLLECTION_PHASE_PREPARE ? "Prepare for compaction"
                                                                   : collection_phase_text(p);
        put(w, LOG_TAGS_GC_PHASES_START, INFO, r->phase_begin_ns[p], "Phase %d: %s", p + 1, text);
        uint64_t end_ns = r->phase_begin_ns[p] + r->phase_ns[p];
        put(w, LOG_TAGS_GC_PHASES, INFO, end_ns, "Phase %d: %s %.3fms", p + 1, text,
            ms(r->phase_ns[p]));
        if (p == COLLECTION_PHASE_MARK) /* of the marks */
            put_verification(w, "During GC (full)", end_ns, r->verify_during_ns);
    }
}

static void put_transition(struct writer *w, enum xlog_dialect dialect,
                           const struct collection_record *r)
{
    uint64_t end = r->end_ns;
    put(w, LOG_TAGS_GC_HEAP, INFO, end, "Eden regions: 0->0(0)");
    put(w, LOG_TAGS_GC_HEAP, INFO, end, "Survivor regions: 0->0(0)");
    put(w, LOG_TAGS_GC_HEAP, INFO, end, "Old regions: %u->%u", r->small_before, r->small_after);
    if (dialect == XLOG_DIALECT_17)
        put(w, LOG_TAGS_GC_HEAP, INFO, end, "Archive regions: 0->0");
    put(w, LOG_TAGS_GC_HEAP, INFO, end, "Humongous regions: %u->%u", r->humongous_before,
        r->humongous_after);
}

/* Ours, under HotSpot's tags. */
static void put_own(struct writer *w, const struct collection_record *r)
{
    uint64_t end = r->end_ns;
    put(w, LOG_TAGS_GC_HEAP, DEBUG, end, "Live: %llu objects %lluB, moved: %llu objects %lluB",
        (count_t)r->live_objects, (count_t)r->live_bytes, (count_t)r->moved_objects,
        (count_t)r->moved_bytes);
    put(w, LOG_TAGS_GC_REF, DEBUG, end, "Weak references cleared: %llu", (count_t)r->weak_cleared);
    if (r->mark_stack_overflows != 0)
        put(w, LOG_TAGS_GC_PHASES, DEBUG, end, "Mark stack overflows: %llu",
            (count_t)r->mark_stack_overflows);
    put(w, LOG_TAGS_GC_CPU, DEBUG, end, "Page faults: %llu", (count_t)r->faults);
}

/* In M and cut off, as HotSpot, which does not start with a heap below 4M; of ours that are smaller
 * M would tell nothing. */
static void put_pause(struct writer *w, const char *cause, const struct collection_record *r)
{
    uint64_t most = r->capacity_before_bytes > r->capacity_after_bytes ? r->capacity_before_bytes
                                                                       : r->capacity_after_bytes;
    bool is_small = most < 4 * MIB;
    uint64_t unit = is_small ? KIB : MIB;
    char letter = is_small ? 'K' : 'M';
    put(w, LOG_TAGS_GC, INFO, r->end_ns, "Pause Full (%s) %llu%c->%llu%c(%llu%c) %.3fms", cause,
        (count_t)(r->used_before_bytes / unit), letter, (count_t)(r->used_after_bytes / unit),
        letter, (count_t)(r->capacity_after_bytes / unit), letter, ms(r->end_ns - r->begin_ns));
    put(w, LOG_TAGS_GC_CPU, INFO, r->end_ns, "User=%.2fs Sys=%.2fs Real=%.2fs", seconds(r->user_ns),
        seconds(r->system_ns), seconds(r->end_ns - r->begin_ns));
}

void gc_log_block(enum xlog_dialect dialect, const struct gc_log_space *space,
                  const struct collection_record *r, struct gc_log_block *block_out)
{
    struct writer w = { .block = block_out };
    const char *cause = cause_text(dialect, r->cause);
    bool is_task_first = dialect == XLOG_DIALECT_11;
    block_out->count = 0;
    snprintf(w.head, sizeof w.head, "GC(%llu) ", (count_t)r->number);
    if (is_task_first)
        put_task(&w, r);
    put(&w, LOG_TAGS_GC_START, INFO, r->begin_ns, "Pause Full (%s)", cause);
    put_heap(&w, dialect, space, true, r);
    if (!is_task_first)
        put_task(&w, r);
    put_tlabs(&w, r);
    put_verification(&w, "Before GC", r->begin_ns, r->verify_before_ns);
    put_phases(&w, dialect, r);
    put_verification(&w, "After GC", r->end_ns - r->verify_after_ns, r->verify_after_ns);
    put_own(&w, r);
    put_transition(&w, dialect, r);
    put_heap(&w, dialect, space, false, r);
    put_pause(&w, cause, r);
}

/* --- the end of the program ------------------------------------------------------------------ */

void gc_log_exit_block(enum xlog_dialect dialect, const struct gc_log_space *space,
                       uint64_t committed_bytes, uint64_t used_bytes, uint64_t now_ns,
                       struct gc_log_block *block_out)
{
    struct writer w = { .block = block_out };
    enum log_tags tags = dialect == XLOG_DIALECT_25 ? LOG_TAGS_GC_EXIT : LOG_TAGS_GC_HEAP_EXIT;
    char text[HEAP_TEXT];
    block_out->count = 0;
    heap_text(dialect, space, committed_bytes, used_bytes, text);
    put(&w, tags, INFO, now_ns, "Heap");
    put(&w, tags, INFO, now_ns, " %s", text);
    put_regions(&w, tags, INFO, now_ns, space);
}

static void put_collections(struct writer *w, const struct gc_figures *f, uint64_t now_ns)
{
    char text[GC_LOG_TEXT_BYTES] = "";
    int used = 0;
    for (int i = 0; i < f->causes; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, ", %s %llu", f->cause[i].text,
                         (count_t)f->cause[i].collections);
    put(w, LOG_TAGS_GC_STATS, INFO, now_ns, "Collections: %llu%s", (count_t)f->collections, text);
}

static void put_pauses(struct writer *w, const struct gc_figures *f, uint64_t now_ns)
{
    char text[100] = "", share[60] = "";
    int used = 0;
    for (int i = 0; i < GC_FIGURES_PERCENTILES; i++)
        if (f->pause[i].is_known)
            used += snprintf(text + used, sizeof text - (size_t)used, "p%g %.3fms, ",
                             f->pause[i].percent, ms(f->pause[i].ns));
    if (f->elapsed_ns != 0)
        snprintf(share, sizeof share, ", %.2f%% of %.3fs", f->gc_percent, seconds(f->elapsed_ns));
    put(w, LOG_TAGS_GC_STATS, INFO, now_ns, "Pauses: %smax %.3fms, sum %.3fms%s", text,
        ms(f->longest_ns), ms(f->pauses_ns), share);
}

static void put_allocated(struct writer *w, const struct gc_figures *f,
                          const struct collection_totals *totals, uint64_t now_ns)
{
    char allocated[32], rate[40] = "";
    gc_figures_bytes(totals->allocated_bytes, allocated, sizeof allocated);
    if (f->elapsed_ns != 0)
        snprintf(rate, sizeof rate, ", %.1fM/s", f->allocated_per_s / MIB);
    put(w, LOG_TAGS_GC_STATS, INFO, now_ns, "Allocated: %s%s, TLAB waste: %.1f%%, refills: %llu",
        allocated, rate, f->tlab_waste_percent, (count_t)totals->tlab_refills);
}

void gc_log_totals_block(const struct collection_totals *totals, uint64_t now_ns,
                         struct gc_log_block *block_out)
{
    struct writer w = { .block = block_out };
    struct gc_figures figures = gc_figures_of(totals, now_ns);
    char moved[32];
    block_out->count = 0;
    put_collections(&w, &figures, now_ns);
    if (figures.collections != 0)
        put_pauses(&w, &figures, now_ns);
    if (totals->allocated_bytes != 0)
        put_allocated(&w, &figures, totals, now_ns);
    if (figures.collections != 0) {
        gc_figures_bytes(totals->moved_bytes, moved, sizeof moved);
        put(&w, LOG_TAGS_GC_STATS, INFO, now_ns,
            "Moved: %s, weak references cleared: %llu, User=%.2fs Sys=%.2fs", moved,
            (count_t)totals->weak_cleared, seconds(totals->user_ns), seconds(totals->system_ns));
    }
    if (totals->verify_ns != 0)
        put(&w, LOG_TAGS_GC_STATS, INFO, now_ns, "Verification: %.3fs", seconds(totals->verify_ns));
}

/* --- to the log ---------------------------------------------------------------------------- */

static struct gc_log_space space_of_heap(void)
{
    const struct region_table *t = &heap.regions; /* these of it do not change while it is on */
    return (struct gc_log_space){
        .base = (uintptr_t)t->space.base,
        .reserved_bytes = (uint64_t)t->reserved << t->region_shift,
        .region_bytes = t->region_bytes,
    };
}

/* Debug is below info: what takes one of our lines takes one of these. */
static bool is_wanted(enum xlog_dialect dialect)
{
    static const enum log_tags tags[] = { LOG_TAGS_GC,        LOG_TAGS_GC_START,
                                          LOG_TAGS_GC_HEAP,   LOG_TAGS_GC_TASK,
                                          LOG_TAGS_GC_PHASES, LOG_TAGS_GC_PHASES_START,
                                          LOG_TAGS_GC_CPU,    LOG_TAGS_GC_TLAB,
                                          LOG_TAGS_GC_REF };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (log_dialect_is_on(dialect, tags[i], INFO))
            return true;
    return false;
}

static void write_block(enum xlog_dialect dialect, const struct gc_log_block *block)
{
    for (int i = 0; i < block->count; i++) {
        const struct gc_log_line *line = &block->line[i];
        log_line_of(dialect, line->event_ns, line->tags, line->level, "%s", line->text);
    }
}

void gc_log_collection(const struct collection_record *record)
{
    struct gc_log_block block;
    struct gc_log_space space = space_of_heap();
    for (int d = 0; d < LOG_DIALECTS; d++)
        if (is_wanted(d)) {
            gc_log_block(d, &space, record, &block);
            write_block(d, &block);
        }
}

void gc_log_init(unsigned workers_most)
{
    log_line(LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "Parallel Workers: %u", workers_most);
}

/* A plan that never collects has HotSpot's line for such a heap, and no figures of collections. */
static void log_epsilon(const struct heap_figures *f)
{
    log_line(
        LOG_TAGS_GC, INFO, "Heap: %lluK reserved, %lluK (%.2f%%) committed, %lluK (%.2f%%) used",
        (count_t)(f->reserved_bytes / KIB), (count_t)(f->committed_bytes / KIB),
        100.0 * (double)f->committed_bytes / (double)f->reserved_bytes,
        (count_t)(f->used_bytes / KIB), 100.0 * (double)f->used_bytes / (double)f->reserved_bytes);
}

void gc_log_exit(void)
{
    struct gc_log_block block;
    struct gc_log_space space = space_of_heap();
    struct heap_figures figures = heap_figures();
    uint64_t now_ns = os_now_ns();
    if (!heap.plan->collects) {
        log_epsilon(&figures);
        return;
    }
    for (int d = 0; d < LOG_DIALECTS; d++) {
        gc_log_exit_block(d, &space, figures.committed_bytes, figures.used_bytes, now_ns, &block);
        write_block(d, &block);
    }
    if (!log_is_on(LOG_TAGS_GC_STATS, INFO))
        return;
    gc_log_totals_block(collection_totals(), now_ns, &block);
    for (int d = 0; d < LOG_DIALECTS; d++)
        write_block(d, &block);
}
