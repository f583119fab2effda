/* told_stop.c -- see told_stop.h.  SPDX-License-Identifier: MIT */
#include "tools/explain/told_stop.h"

#include <stdlib.h>
#include <string.h>

#define MOST_THREADS      2048 /* more than that, and some are not considered */
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
    uint64_t woken_ns;
    struct told_step coordinator[TRACE_EVENTS];
    uint32_t coordinator_count, count;
    uint32_t latest; /* met_of() found this one: the next is behind it, as a rule */
    struct met met[MOST_THREADS];
    uint64_t lost;
} gathered;

/* Until it had woken: a record that is delivered late finds steps of the next stop, too. */
static void gather_coordinator(const struct trace_event *events, size_t count)
{
    for (size_t i = 0; i < count && events[i].ns <= gathered.woken_ns; i++)
        gathered.coordinator[gathered.coordinator_count++] =
            (struct told_step){ events[i].ns, events[i].what, events[i].argument, 0 };
}

static void add_step_of(struct met *met, const struct trace_event *event)
{
    if (event->what == STOP_STEP_ARRIVED)
        met->arrived_ns = event->ns;
    if (event->what == STOP_STEP_RESUMED)
        met->resumed_ns = event->ns;
    if (met->step_count == STEPS_OF_A_THREAD)
        gathered.lost++;
    else
        met->step[met->step_count++] =
            (struct told_step){ event->ns, event->what, event->argument, 0 };
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
    /* Steps of other stops carry another epoch; COUNTED carries none, it is of the stop in
     * which the thread arrived before. */
    bool counts_for_us = false;
    for (size_t i = 0; i < count; i++) {
        bool is_ours = events[i].argument == gathered.epoch;
        if (events[i].what == STOP_STEP_ARRIVED)
            counts_for_us = is_ours;
        if (events[i].what == STOP_STEP_COUNTED ? counts_for_us : is_ours)
            add_step_of(met, &events[i]);
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
    for (uint32_t i = 0; i < gathered.count; i++) {
        uint32_t k = (gathered.latest + 1 + i) % gathered.count;
        if (gathered.met[k].number != number)
            continue;
        gathered.latest = k;
        return &gathered.met[k];
    }
    return NULL;
}

static bool is_about_a_thread(enum stop_step step)
{
    return step == STOP_STEP_SEEN_SAFE || step == STOP_STEP_SEEN_ARRIVED ||
           step == STOP_STEP_SEEN_UNSAFE || step == STOP_STEP_FOUND_SAFE;
}

/* It was safe when it was looked at and says a moment later that it has arrived: for the ledger
 * it was safe already. */
static void forget_arrival(struct met *met)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < met->step_count; i++)
        if (met->step[i].step != STOP_STEP_ARRIVED)
            met->step[kept++] = met->step[i];
    met->step_count = kept;
    met->arrived_ns = 0;
}

static void note_look(struct met *met, const struct told_step *s)
{
    if (s->step == STOP_STEP_FOUND_SAFE) { /* the earlier one counts: Note [A] in participant.c */
        if (!met->arrived_ns || s->ns < met->arrived_ns)
            met->arrived_ns = s->ns;
        return;
    }
    met->was_seen = true;
    met->state = s->argument % 8;
    if (s->step == STOP_STEP_SEEN_SAFE)
        forget_arrival(met);
}

static void note_what_was_seen(void)
{
    for (uint32_t i = 0; i < gathered.coordinator_count; i++) {
        const struct told_step *s = &gathered.coordinator[i];
        struct met *met = is_about_a_thread(s->step) ? met_of(s->argument / 8) : NULL;
        if (met)
            note_look(met, s);
    }
    /* One that ended before the walk came to it is nobody's business, nor the ledger's.  Where
     * steps were lost, the look at it may be among them. */
    for (uint32_t i = 0; gathered.lost == 0 && i < gathered.count; i++)
        if (!gathered.met[i].was_seen)
            forget_arrival(&gathered.met[i]);
}

/* --- whom to tell of ----------------------------------------------------------------------- */

/* The last to arrive, the first, one that was safe; then whoever there is, up to the columns. */
static int worth_of(const struct met *met, const struct told_stop *stop)
{
    if (!met->was_seen && !met->arrived_ns)
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
    return is_about_a_thread(step->step) && !is_told(stop, step->argument / 8);
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
    gathered.woken_ns = record->stamp[LEDGER_STAMP_woken];
    gathered.count = gathered.coordinator_count = 0;
    gathered.latest = 0;
    gathered.lost = 0;
    stop_trace_each(record->stamp[LEDGER_STAMP_begin], gather, NULL);
    note_what_was_seen();
    note_extremes(stop);
    choose_threads(stop);
    order_by_number(stop);
    stop->left_out =
        record->participants > stop->thread_count ? record->participants - stop->thread_count : 0;
    add_steps(stop);
    stop->lost += gathered.lost;
}

/* --- the ledger beside it ---------------------------------------------------------------- */

/* The step of the coordinator, or NULL. */
static const struct told_step *step_of(const struct told_stop *stop, enum stop_step step)
{
    for (uint32_t i = 0; i < stop->step_count; i++)
        if (stop->step[i].step == step)
            return &stop->step[i];
    return NULL;
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
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct told_step *step = step_of(stop, pairs[i].step);
        if (step ? step->ns != stamp[pairs[i].stamp] : stop->lost == 0)
            return differs(pairs[i].what, why_out, bytes);
        *instants_out += step != NULL;
    }
    if (stop->lost)
        return true; /* the last one's arrival may be among what is lost */
    uint64_t last = stop->last_arrival_ns > stamp[LEDGER_STAMP_scanned]
                        ? stop->last_arrival_ns
                        : stamp[LEDGER_STAMP_scanned];
    if (!stop->record.by_look) { /* then a stamp may have come too late for the ledger */
        if (last != stamp[LEDGER_STAMP_last_arrival])
            return differs("had all arrive", why_out, bytes);
        ++*instants_out;
    }
    if (stop->record.carried || !stamp[LEDGER_STAMP_last_resumed])
        return true;
    ++*instants_out;
    return stop->last_resumed_ns == stamp[LEDGER_STAMP_last_resumed] ||
           differs("had all run again", why_out, bytes);
}
