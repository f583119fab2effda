/* told_text.c -- a stop as a picture, a timeline in columns, and the words for its steps.
 *
 * Columns: time 9, then the coordinator and up to three threads with 22 each.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/explain/told_stop.h"

#include "tools/text.h"

#include <string.h>

#define TIME_COLUMNS 9
#define LANE_COLUMNS 22
#define CELLS        27 /* of each of the picture's three parts */
#define FIGURE_BYTES 16

static uint64_t begin_of(const struct told_stop *stop)
{
    return stop->record.stamp[LEDGER_STAMP_begin];
}

static uint64_t end_of(const struct told_stop *stop)
{
    uint64_t woken = stop->record.stamp[LEDGER_STAMP_woken];
    uint64_t resumed = stop->record.stamp[LEDGER_STAMP_last_resumed];
    return resumed > woken ? resumed : woken;
}

/* --- the picture ------------------------------------------------------------------------ */

struct part {
    const char *name;
    uint64_t from_ns, to_ns;
};

static void write_part_heads(FILE *out, const struct part *parts)
{
    fprintf(out, "%-*s", TIME_COLUMNS + 5, "");
    for (int p = 0; p < 3; p++) {
        char figure[FIGURE_BYTES], text[64];
        text_ns(figure, sizeof figure, parts[p].to_ns - parts[p].from_ns);
        snprintf(text, sizeof text, "%s %s", parts[p].name, figure);
        fprintf(out, "|%-*.*s", CELLS, CELLS, text);
    }
    fputs("|\n", out);
}

static uint64_t when(const struct told_stop *stop, enum stop_step step, uint64_t otherwise)
{
    for (uint32_t i = 0; i < stop->step_count; i++)
        if (stop->step[i].step == step)
            return stop->step[i].ns;
    return otherwise;
}

/* What a lane shows at one moment; the picture's last line says what the signs mean. */
static char coordinator_at(const struct told_stop *stop, uint64_t ns)
{
    const uint64_t *stamp = stop->record.stamp;
    if (ns >= stamp[LEDGER_STAMP_op_begin] && ns < stamp[LEDGER_STAMP_op_end])
        return '#';
    if (ns >= when(stop, STOP_STEP_SLEEPS, UINT64_MAX) && ns < stamp[LEDGER_STAMP_noticed])
        return '.';
    return ns < stamp[LEDGER_STAMP_woken] ? '-' : ' ';
}

static char thread_at(const struct told_thread *thread, uint64_t ns)
{
    if (thread->resumed_ns && ns >= thread->resumed_ns)
        return '=';
    if (participant_state_is_safe(thread->state) && !thread->arrived_ns)
        return '.';
    return thread->arrived_ns && ns >= thread->arrived_ns ? '.' : '=';
}

static void write_lane(FILE *out, const struct told_stop *stop, const struct part *parts,
                       const struct told_thread *thread)
{
    fprintf(out, "%-*.*s ", TIME_COLUMNS + 4, TIME_COLUMNS + 4,
            thread ? thread->name : "coordinator");
    for (int p = 0; p < 3; p++) {
        uint64_t length = parts[p].to_ns - parts[p].from_ns;
        fputc('|', out);
        for (uint64_t c = 0; c < CELLS; c++) {
            uint64_t ns = parts[p].from_ns + (2 * c + 1) * length / (2 * CELLS);
            fputc(thread ? thread_at(thread, ns) : coordinator_at(stop, ns), out);
        }
    }
    fputs("|\n", out);
}

static void write_picture(FILE *out, const struct told_stop *stop)
{
    const uint64_t *stamp = stop->record.stamp;
    const struct part parts[3] = {
        { "reaching", begin_of(stop), stamp[LEDGER_STAMP_noticed] },
        { "all stand still", stamp[LEDGER_STAMP_noticed], stamp[LEDGER_STAMP_released] },
        { "letting go", stamp[LEDGER_STAMP_released], end_of(stop) },
    };
    write_part_heads(out, parts);
    write_lane(out, stop, parts, NULL);
    for (uint32_t i = 0; i < stop->thread_count; i++)
        write_lane(out, stop, parts, &stop->thread[i]);
    fputs("= runs   . stands still, sleeps or is safe   - at work   # the operation\n"
          "Each of the three parts has a scale of its own.\n\n",
          out);
}

/* --- the timeline ------------------------------------------------------------------------- */

#define LABEL_CHARACTERS 8

/* The name if it is enough to tell which thread is meant, else the number. */
static void label_of(const struct told_stop *stop, uint32_t number, char *label_out, size_t bytes)
{
    const char *name = "?";
    for (uint32_t i = 0; i < stop->thread_count; i++)
        if (stop->thread[i].number == number)
            name = stop->thread[i].name;
    snprintf(label_out, bytes, "%.*s", LABEL_CHARACTERS, name);
    for (uint32_t i = 0; i < stop->thread_count; i++)
        if (stop->thread[i].number != number &&
            strncmp(stop->thread[i].name, name, LABEL_CHARACTERS) == 0)
            snprintf(label_out, bytes, "#%u", number);
}

static void step_text(const struct told_stop *stop, const struct told_step *s, char *text_out,
                      size_t bytes)
{
    static const char *const fixed[STOP_STEPS] = {
        [STOP_STEP_BEGIN] = "begins",
        [STOP_STEP_ARMED] = "arms: epoch odd",
        [STOP_STEP_SCANNED] = "has looked at all",
        [STOP_STEP_NOTICED] = "notices: all here",
        [STOP_STEP_OP_BEGIN] = "operation begins",
        [STOP_STEP_OP_END] = "operation ends",
        [STOP_STEP_RELEASED] = "releases: epoch even",
        [STOP_STEP_WOKEN] = "has woken",
        [STOP_STEP_POLL_FIRED] = "poll fires",
        [STOP_STEP_ENTERS_SAFE] = "enters a safe state",
        [STOP_STEP_STEPS_BACK] = "steps back",
        [STOP_STEP_ARRIVED] = "arrives",
        [STOP_STEP_WAITS] = "waits at the gate",
        [STOP_STEP_AWAKE] = "awake",
        [STOP_STEP_WAKES] = "wakes others",
        [STOP_STEP_RESUMED] = "resumes",
    };
    char label[16];
    label_of(stop, s->argument / 8, label, sizeof label);
    switch (s->step) {
    case STOP_STEP_SEEN_SAFE:
        snprintf(text_out, bytes, "sees %s: %.7s", label, participant_state_name(s->argument % 8));
        break;
    case STOP_STEP_SEEN_ARRIVED:
        snprintf(text_out, bytes, "sees %s: is here", label);
        break;
    case STOP_STEP_SEEN_UNSAFE:
        snprintf(text_out, bytes, "sees %s: ticket", label);
        break;
    case STOP_STEP_FOUND_SAFE:
        snprintf(text_out, bytes, "finds %s safe", label);
        break;
    case STOP_STEP_SPINS:
        snprintf(text_out, bytes, "looks again, %u out", s->argument);
        break;
    case STOP_STEP_SLEEPS:
        snprintf(text_out, bytes, "sleeps, %u out", s->argument);
        break;
    case STOP_STEP_COUNTED:
        snprintf(text_out, bytes, "%s", s->argument ? "is the last" : "is counted");
        break;
    default:
        snprintf(text_out, bytes, "%s", fixed[s->step] ? fixed[s->step] : "?");
    }
}

static void write_row(FILE *out, const struct told_stop *stop, const struct told_step *s)
{
    char time[FIGURE_BYTES], text[64];
    text_ns(time, sizeof time, s->ns - begin_of(stop));
    step_text(stop, s, text, sizeof text);
    fprintf(out, "%*s  %*s%.*s\n", TIME_COLUMNS - 2, time, LANE_COLUMNS * s->column, "",
            LANE_COLUMNS, text);
}

static void write_rule(FILE *out, const char *text)
{
    static const char dashes[] = "----------------------------------------------------------------"
                                 "------------------------------------";
    fprintf(out, "%.*s %s %.*s\n", TIME_COLUMNS - 1, dashes, text,
            (int)(97 - (TIME_COLUMNS - 1) - strlen(text)), dashes);
}

/* Between the steps, where one part of the stop ends and the next begins. */
static void write_rules_before(FILE *out, const struct told_stop *stop, uint64_t ns,
                               uint32_t *written)
{
    const uint64_t *stamp = stop->record.stamp;
    char text[96], figure[FIGURE_BYTES];
    if (*written == 0 && ns > stamp[LEDGER_STAMP_last_arrival]) {
        text_ns(figure, sizeof figure, (uint64_t)stop_record_span(&stop->record, LEDGER_SPAN_ttsp));
        if (stop->record.last == LEDGER_LAST_THREAD)
            snprintf(text, sizeof text, "all are here: TTSP %s, %.31s was the last", figure,
                     stop_record_last_thread(&stop->record));
        else
            snprintf(text, sizeof text, "all are here: TTSP %s", figure);
        write_rule(out, text);
        *written = 1;
    }
    if (*written == 1 && ns >= stamp[LEDGER_STAMP_released]) {
        write_rule(out, "the operation is over");
        *written = 2;
    }
}

/* What the ledger knows of the time before: no ring has it, nobody is affected yet. */
static void write_before(FILE *out, const struct told_stop *stop)
{
    static const struct {
        enum ledger_stamp stamp;
        enum ledger_span span;
        const char *text;
    } rows[] = {
        { LEDGER_STAMP_requested, LEDGER_SPAN_queued, "is asked for a stop" },
        { LEDGER_STAMP_picked, LEDGER_SPAN_prepare, "takes the request" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char time[FIGURE_BYTES], signed_time[FIGURE_BYTES + 1];
        if (!stop_record_has_span(&stop->record, rows[i].span))
            continue;
        text_ns(time, sizeof time, begin_of(stop) - stop->record.stamp[rows[i].stamp]);
        snprintf(signed_time, sizeof signed_time, "-%s", time);
        fprintf(out, "%*s  %s\n", TIME_COLUMNS - 2, signed_time, rows[i].text);
    }
}

static void write_timeline(FILE *out, const struct told_stop *stop)
{
    uint32_t rules = 0;
    fprintf(out, "%*s  %-*s", TIME_COLUMNS - 2, "time", LANE_COLUMNS, "coordinator");
    for (uint32_t i = 0; i < stop->thread_count; i++) {
        char head[48];
        snprintf(head, sizeof head, "%.14s #%u", stop->thread[i].name, stop->thread[i].number);
        fprintf(out, i + 1 < stop->thread_count ? "%-*s" : "%.*s", LANE_COLUMNS, head);
    }
    fputc('\n', out);
    write_before(out, stop);
    for (uint32_t i = 0; i < stop->step_count; i++) {
        write_rules_before(out, stop, stop->step[i].ns, &rules);
        write_row(out, stop, &stop->step[i]);
    }
    fputc('\n', out);
}

/* --- words and figures --------------------------------------------------------------------- */

static const char *word_of(enum stop_step step)
{
    static const char *const words[STOP_STEPS] = {
        [STOP_STEP_BEGIN] = "begins",
        [STOP_STEP_ARMED] = "arms",
        [STOP_STEP_SEEN_ARRIVED] = "sees: is here",
        [STOP_STEP_SEEN_UNSAFE] = "sees: ticket",
        [STOP_STEP_FOUND_SAFE] = "finds safe",
        [STOP_STEP_SCANNED] = "looked at all",
        [STOP_STEP_SPINS] = "looks again",
        [STOP_STEP_SLEEPS] = "sleeps",
        [STOP_STEP_NOTICED] = "notices",
        [STOP_STEP_OP_BEGIN] = "operation",
        [STOP_STEP_RELEASED] = "releases",
        [STOP_STEP_WOKEN] = "has woken",
        [STOP_STEP_POLL_FIRED] = "poll fires",
        [STOP_STEP_ENTERS_SAFE] = "enters safe",
        [STOP_STEP_STEPS_BACK] = "steps back",
        [STOP_STEP_ARRIVED] = "arrives",
        [STOP_STEP_COUNTED] = "is counted",
        [STOP_STEP_WAITS] = "waits",
        [STOP_STEP_AWAKE] = "awake",
        [STOP_STEP_WAKES] = "wakes others",
        [STOP_STEP_RESUMED] = "resumes",
    };
    return words[step];
}

static void write_word(FILE *out, const char *word, const char *meaning)
{
    fprintf(out, "  %-14s %s\n", word, meaning);
}

/* Which safe state it was, and what that is. */
static void write_safe_words(FILE *out, const struct told_stop *stop)
{
    static const struct {
        enum participant_state state;
        const char *word, *meaning;
    } rows[] = {
        { PARTICIPANT_NATIVE, "sees: native", "it runs foreign code, safe: nothing to wait for" },
        { PARTICIPANT_BLOCKED, "sees: blocked",
          "it waits for something, safe: nothing to wait for" },
        { PARTICIPANT_STOPPED, "sees: stopped",
          "it has not left the gate of the stop before: nothing to wait for" },
        { PARTICIPANT_GONE, "sees: gone", "it is ending, safe: nothing to wait for" },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint32_t i = 0; i < stop->step_count; i++)
            if (stop->step[i].step == STOP_STEP_SEEN_SAFE &&
                stop->step[i].argument % 8 == rows[r].state) {
                write_word(out, rows[r].word, rows[r].meaning);
                break;
            }
}

static void write_words(FILE *out, const struct told_stop *stop)
{
    bool occurs[STOP_STEPS] = { false };
    for (uint32_t i = 0; i < stop->step_count; i++)
        occurs[stop->step[i].step] = true;
    fputs("In words:\n", out);
    if (stop_record_has_span(&stop->record, LEDGER_SPAN_queued))
        write_word(out, "is asked", "a thread puts its request into the queue of the VM thread");
    if (stop_record_has_span(&stop->record, LEDGER_SPAN_prepare))
        write_word(out, "takes", "the VM thread makes ready; nobody is affected yet");
    for (int s = 0; s < STOP_STEPS; s++)
        if (s == STOP_STEP_SEEN_SAFE)
            write_safe_words(out, stop);
        else if (occurs[s] && word_of(s))
            write_word(out, word_of(s), stop_step_meaning(s));
    fputc('\n', out);
}

static void write_account(FILE *out, const struct told_stop *stop)
{
    fputs("The ledger of the same stop:\n", out);
    for (int s = 0; s < LEDGER_SPANS; s++) {
        char figure[FIGURE_BYTES];
        if (!stop_record_has_span(&stop->record, s))
            continue;
        text_ns(figure, sizeof figure, (uint64_t)stop_record_span(&stop->record, s));
        fprintf(out, "  %-8s %8s  %s\n", ledger_span_rows[s].name, figure,
                ledger_span_rows[s].meaning);
    }
}

void told_text_write(FILE *out, const struct told_stop *stop)
{
    write_picture(out, stop);
    write_timeline(out, stop);
    write_words(out, stop);
    write_account(out, stop);
}
