/* told_stop.c -- see told_stop.h.  SPDX-License-Identifier: MIT */
#include "tools/explain/told_stop.h"

#include <stdlib.h>
#include <string.h>

#define MOST_THREADS      512 /* more than that, and some are not considered */
#define STEPS_OF_A_THREAD 16

/* --- what the rings hold of one stop ---------------------------------------------------- */

struct met {
    char name[PARTICIPANT_NAME_BYTES];
    uint32_t number, state;
    bool was_seen; /* by the coordinator's walk */
    uint64_t arrived_ns, resumed_ns;
    uint32_t step_count;
    struct told_step step[STEPS_OF_A_THREAD];
};

/* The VM thread's; big, so not on a stack. */
static struct {
    uint32_t epoch;
    struct told_step coordinator[TOLD_STEPS + 2 * MOST_THREADS];
    uint32_t coordinator_count, count;
    struct met met[MOST_THREADS];
    uint64_t lost;
} gathered;

static void gather_coordinator(const struct trace_event *events, size_t count)
{
    gathered.coordinator_count = 0;
    for (size_t i = 0; i < count; i++)
        gathered.coordinator[gathered.coordinator_count++] =
            (struct told_step){ events[i].ns, events[i].what, events[i].argument, 0 };
}

/* Steps of other stops carry another epoch; COUNTED carries none and follows ARRIVED. */
static bool is_of_this_stop(const struct met *met, const struct trace_event *event)
{
    return event->what == STOP_STEP_COUNTED ? met->arrived_ns != 0
                                            : event->argument == gathered.epoch;
}

static void gather_thread(const char *name, uint32_t number, const struct trace_event *events,
                          size_t count)
{
    if (gathered.count == MOST_THREADS) {
        gathered.lost++;
        return;
    }
    struct met *met = &gathered.met[gathered.count++];
    memset(met, 0, sizeof *met);
    snprintf(met->name, sizeof met->name, "%s", name);
    met->number = number;
    for (size_t i = 0; i < count; i++) {
        if (!is_of_this_stop(met, &events[i]))
            continue;
        if (events[i].what == STOP_STEP_ARRIVED)
            met->arrived_ns = events[i].ns;
        if (events[i].what == STOP_STEP_RESUMED)
            met->resumed_ns = events[i].ns;
        if (met->step_count == STEPS_OF_A_THREAD)
            gathered.lost++;
        else
            met->step[met->step_count++] =
                (struct told_step){ events[i].ns, events[i].what, events[i].argument, 0 };
    }
}

static void gather(void *argument, const char *name, uint32_t number,
                   const struct trace_event *events, size_t count, uint64_t lost)
{
    (void)argument;
    gathered.lost += lost;
    if (number == 0)
        gather_coordinator(events, count);
    else
        gather_thread(name, number, events, count);
}

static struct met *met_of(uint32_t number)
{
    for (uint32_t i = 0; i < gathered.count; i++)
        if (gathered.met[i].number == number)
            return &gathered.met[i];
    return NULL;
}

static void note_what_was_seen(void)
{
    for (uint32_t i = 0; i < gathered.coordinator_count; i++) {
        const struct told_step *s = &gathered.coordinator[i];
        if (s->step != STOP_STEP_SEEN_SAFE && s->step != STOP_STEP_SEEN_UNSAFE)
            continue;
        struct met *met = met_of(s->argument / 8);
        if (!met)
            continue; /* it has ended since */
        met->was_seen = true;
        met->state = s->argument % 8;
    }
}

/* --- whom to tell of ----------------------------------------------------------------------- */

/* The last to arrive, the first, one that was safe; then whoever there is, up to the columns. */
static int worth_of(const struct met *met, const struct told_stop *stop)
{
    if (!met->was_seen)
        return 0;
    if (met->arrived_ns && met->arrived_ns == stop->last_arrival_ns)
        return 5;
    if (met->arrived_ns && met->arrived_ns == stop->first_arrival_ns)
        return 4;
    return met->arrived_ns ? 2 : 1;
}

static bool is_told(const struct told_stop *stop, uint32_t number)
{
    for (uint32_t i = 0; i < stop->thread_count; i++)
        if (stop->thread[i].number == number)
            return true;
    return false;
}

static bool has_safe_one(const struct told_stop *stop)
{
    for (uint32_t i = 0; i < stop->thread_count; i++)
        if (participant_state_is_safe(stop->thread[i].state))
            return true;
    return false;
}

static void choose_threads(struct told_stop *stop)
{
    while (stop->thread_count < TOLD_THREADS) {
        struct met *best = NULL;
        int most = 0;
        for (uint32_t i = 0; i < gathered.count; i++) {
            struct met *met = &gathered.met[i];
            int worth = is_told(stop, met->number) ? 0 : worth_of(met, stop);
            if (worth == 1 && !has_safe_one(stop))
                worth = 3; /* before those that arrived in between */
            if (worth > most) {
                most = worth;
                best = met;
            }
        }
        if (!best)
            return;
        struct told_thread *t = &stop->thread[stop->thread_count++];
        memcpy(t->name, best->name, sizeof t->name);
        t->number = best->number;
        t->state = best->state;
        t->arrived_ns = best->arrived_ns;
        t->resumed_ns = best->resumed_ns;
    }
}

static void order_by_number(struct told_stop *stop)
{
    for (uint32_t i = 1; i < stop->thread_count; i++)
        for (uint32_t k = i; k > 0 && stop->thread[k].number < stop->thread[k - 1].number; k--) {
            struct told_thread t = stop->thread[k];
            stop->thread[k] = stop->thread[k - 1];
            stop->thread[k - 1] = t;
        }
}

/* --- putting it together --------------------------------------------------------------------- */

static void add_step(struct told_stop *stop, struct told_step step, uint8_t column)
{
    if (stop->step_count == TOLD_STEPS) {
        stop->lost++;
        return;
    }
    step.column = column;
    stop->step[stop->step_count++] = step;
}

static bool is_about_a_stranger(const struct told_stop *stop, const struct told_step *step)
{
    return (step->step == STOP_STEP_SEEN_SAFE || step->step == STOP_STEP_SEEN_UNSAFE) &&
           !is_told(stop, step->argument / 8);
}

static int by_time(const void *a, const void *b)
{
    const struct told_step *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

static void add_steps(struct told_stop *stop)
{
    for (uint32_t i = 0; i < gathered.coordinator_count; i++)
        if (!is_about_a_stranger(stop, &gathered.coordinator[i]))
            add_step(stop, gathered.coordinator[i], 0);
    for (uint8_t column = 1; column <= stop->thread_count; column++) {
        const struct met *met = met_of(stop->thread[column - 1].number);
        for (uint32_t i = 0; i < met->step_count; i++)
            add_step(stop, met->step[i], column);
    }
    qsort(stop->step, stop->step_count, sizeof *stop->step, by_time);
}

static void note_extremes(struct told_stop *stop)
{
    for (uint32_t i = 0; i < gathered.count; i++) {
        uint64_t arrived = gathered.met[i].arrived_ns, resumed = gathered.met[i].resumed_ns;
        if (arrived > stop->last_arrival_ns)
            stop->last_arrival_ns = arrived;
        if (arrived && (!stop->first_arrival_ns || arrived < stop->first_arrival_ns))
            stop->first_arrival_ns = arrived;
        if (resumed > stop->last_resumed_ns)
            stop->last_resumed_ns = resumed;
    }
}

void told_stop_collect(struct told_stops *stops, const struct stop_record *record)
{
    if (stops->count == TOLD_MOST_STOPS)
        return;
    struct told_stop *stop = &stops->stop[stops->count++];
    memset(stop, 0, sizeof *stop);
    stop->record = *record;
    gathered.epoch = (uint32_t)record->epoch;
    gathered.count = gathered.coordinator_count = 0;
    gathered.lost = 0;
    stop_trace_each(record->stamp[LEDGER_STAMP_begin], gather, NULL);
    note_what_was_seen();
    note_extremes(stop);
    choose_threads(stop);
    order_by_number(stop);
    stop->left_out = record->participants - stop->thread_count;
    add_steps(stop);
    stop->lost += gathered.lost;
}

/* --- the ledger beside it -----------------------------------------------------------------------
 */

static bool has_instant(const struct told_stop *stop, enum stop_step step, uint64_t ns)
{
    for (uint32_t i = 0; i < stop->step_count; i++)
        if (stop->step[i].step == step && stop->step[i].ns == ns)
            return true;
    return false;
}

static bool differs(const char *what, char *why_out, size_t bytes)
{
    snprintf(why_out, bytes, "the rings and the ledger differ in when it %s", what);
    return false;
}

bool told_stop_agrees(const struct told_stop *stop, uint32_t *instants_out, char *why_out,
                      size_t bytes)
{
    static const struct {
        enum ledger_stamp stamp;
        enum stop_step step;
        const char *what;
    } pairs[] = {
        { LEDGER_STAMP_begin, STOP_STEP_BEGIN, "began" },
        { LEDGER_STAMP_armed, STOP_STEP_ARMED, "was armed" },
        { LEDGER_STAMP_scanned, STOP_STEP_SCANNED, "had looked at all" },
        { LEDGER_STAMP_noticed, STOP_STEP_NOTICED, "noticed the last one" },
        { LEDGER_STAMP_op_begin, STOP_STEP_OP_BEGIN, "began its operation" },
        { LEDGER_STAMP_op_end, STOP_STEP_OP_END, "ended its operation" },
        { LEDGER_STAMP_released, STOP_STEP_RELEASED, "released" },
        { LEDGER_STAMP_woken, STOP_STEP_WOKEN, "had woken" },
    };
    const uint64_t *stamp = stop->record.stamp;
    *instants_out = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++, ++*instants_out)
        if (!has_instant(stop, pairs[i].step, stamp[pairs[i].stamp]))
            return differs(pairs[i].what, why_out, bytes);
    if (stop->record.by_look || stop->lost)
        return true; /* an arrival that the coordinator saw first is in no ring */
    uint64_t last = stop->last_arrival_ns > stamp[LEDGER_STAMP_scanned]
                        ? stop->last_arrival_ns
                        : stamp[LEDGER_STAMP_scanned];
    if (last != stamp[LEDGER_STAMP_last_arrival])
        return differs("had all arrive", why_out, bytes);
    ++*instants_out;
    if (stop->record.carried || !stamp[LEDGER_STAMP_last_resumed])
        return true;
    ++*instants_out;
    return stop->last_resumed_ns == stamp[LEDGER_STAMP_last_resumed] ||
           differs("had all run again", why_out, bytes);
}
