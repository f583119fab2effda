/* guest_frames.c -- see guest_frames.h.
 *
 * Note [D] Dumps.  A thread's frames are read in an operation: it is stopped, or in a safe
 *   state, where it does not touch them; but in a safe state it may detach meanwhile.  So
 *   what leads to the frames, the participant's owner, is written and followed under a marked lock.
 *   Names are interned strings, which live for ever: a copy of their addresses will do.
 *
 * Note [P] Places.  A place is the address of an instruction.  The table that names them is
 *   published with release, read with acquire inside an RCU read section, and taken away
 *   by an exchange and a grace period before its functions are freed.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/guest_frames.h"

#include "base/lock.h"
#include "safepoint/doing.h"
#include "safepoint/registry.h"
#include "safepoint/thread_dump.h"
#include "vm/string.h"
#include "vm/threads.h"

#include <stdlib.h>
#include <string.h>

static uint32_t line_of(const struct function *f, const struct instruction *next)
{
    return f->lines[next - f->code - (next > f->code)];
}

/* "name:line"; the script has no name. */
static void place_text(const struct object *name, uint32_t line, char *text_out, size_t bytes)
{
    char end[16];
    int end_length = snprintf(end, sizeof end, ":%u", line);
    size_t room = bytes > (size_t)end_length + 1 ? bytes - (size_t)end_length - 1 : 0;
    const char *start = name ? string_bytes(name) : "script";
    size_t length = name ? string_length(name) : strlen(start);
    snprintf(text_out, bytes, "%.*s%s", (int)(length < room ? length : room), start, end);
}

/* --- dumps ---------------------------------------------------------------------------- */

#define INNERMOST_FRAMES 24 /* shown of a deep stack, ... */
#define OUTERMOST_FRAMES 8  /* ... and so many of its beginning */

struct frames_copy {
    bool is_guest;
    uint32_t total, copied;
    struct {
        const struct object *name;
        uint32_t line;
    } frame[INNERMOST_FRAMES + OUTERMOST_FRAMES];
    const char *waits_for, *waits_for_name; /* static; name is copied below */
    uint32_t waits_for_number, holder;
    char name[PARTICIPANT_NAME_BYTES];
};

static struct lock shown = LOCK_INITIALIZER(SHARED); /* the owner of each participant, [D] */

void guest_frames_show(struct guest_thread *thread)
{
    lock_acquire(&shown);
    participant_set_owner(guest_thread_participant(thread), thread);
    lock_release(&shown);
}

void guest_frames_hide(struct guest_thread *thread)
{
    lock_acquire(&shown);
    participant_set_owner(guest_thread_participant(thread), NULL);
    lock_release(&shown);
}

/* Those of attempt and the bottom one are the runtime's own. */
static bool is_guest_frame(const struct frame *frame) { return frame->closure != VALUE_NIL; }

static void copy_frames(const struct guest_thread *thread, struct frames_copy *copy)
{
    uint32_t number = 0;
    for (const struct frame *f = thread->frame; f > thread->frames; f--)
        copy->total += is_guest_frame(f);
    for (const struct frame *f = thread->frame; f > thread->frames; f--) {
        if (!is_guest_frame(f))
            continue;
        bool is_shown = number < INNERMOST_FRAMES || number + OUTERMOST_FRAMES >= copy->total;
        number++;
        if (!is_shown)
            continue;
        copy->frame[copy->copied].name = f->function->name;
        copy->frame[copy->copied++].line = line_of(f->function, f->pc);
    }
}

static void copy_waiting(const struct thread_record *record, struct frames_copy *copy)
{
    const struct waitable *on = load_acquire(&record->parker.waits_for); /* parking.h */
    if (!on)
        return;
    copy->waits_for = on->what;
    copy->waits_for_number = on->number;
    copy->holder = on->holder ? load_relaxed(on->holder) >> 1 : 0; /* a picture */
    if (on->name)
        memcpy(copy->name, on->name, sizeof copy->name); /* a thread's, of that size */
}

static void capture_at_safepoint(struct participant *participant, void *copy_out)
{
    struct frames_copy *copy = copy_out;
    memset(copy, 0, sizeof *copy);
    lock_acquire(&shown); /* marked: an operation may */
    const struct guest_thread *thread = participant_owner(participant);
    if (thread) {
        copy->is_guest = true;
        copy_frames(thread, copy);
        copy_waiting(thread->record, copy);
    }
    lock_release(&shown);
}

static void write_waiting(FILE *out, const struct frames_copy *copy)
{
    fprintf(out, "    waits for %s", copy->waits_for);
    if (copy->waits_for_number)
        fprintf(out, " %u", copy->waits_for_number);
    if (copy->name[0])
        fprintf(out, " \"%s\"", copy->name);
    if (copy->holder)
        fprintf(out, ", held by #%u", copy->holder);
    fputc('\n', out);
}

static void write_frames(FILE *out, const void *pointer)
{
    const struct frames_copy *copy = pointer;
    char place[96];
    if (copy->waits_for)
        write_waiting(out, copy);
    for (uint32_t i = 0; i < copy->copied; i++) {
        if (i == INNERMOST_FRAMES && copy->total > copy->copied)
            fprintf(out, "    ... %u more\n", copy->total - copy->copied);
        place_text(copy->frame[i].name, copy->frame[i].line, place, sizeof place);
        fprintf(out, "    in %s (guest)\n", place);
    }
}

void guest_frames_start(void)
{
    static const struct thread_dump_extra extra = { sizeof(struct frames_copy),
                                                    capture_at_safepoint, write_frames };
    thread_dump_set_extra(&extra);
}

/* --- places ------------------------------------------------------------------------------ */

struct places {
    size_t count;
    const struct function *function[]; /* by the address of their code */
};

static _Atomic(struct places *) places; /* [P] */

static int by_code(const void *a, const void *b)
{
    const struct function *x = *(const struct function *const *)a;
    const struct function *y = *(const struct function *const *)b;
    return x->code < y->code ? -1 : x->code > y->code;
}

/* [reader] The function whose code holds the instruction, or NULL. */
static const struct function *function_at(const struct places *table,
                                          const struct instruction *instruction)
{
    size_t low = 0, high = table->count;
    while (low < high) { /* the first whose code begins behind it */
        size_t middle = low + (high - low) / 2;
        if (table->function[middle]->code <= instruction)
            low = middle + 1;
        else
            high = middle;
    }
    const struct function *f = low ? table->function[low - 1] : NULL;
    return f && instruction < f->code + f->code_count ? f : NULL;
}

static void describe_place(const void *place, char *text_out, size_t bytes)
{
    const struct places *table = load_acquire(&places); /* [P] */
    const struct function *f = table ? function_at(table, place) : NULL;
    if (f)
        place_text(f->name, f->lines[(const struct instruction *)place - f->code], text_out, bytes);
}

enum err guest_frames_name_places(struct function *functions)
{
    size_t count = 0, i = 0;
    for (const struct function *f = functions; f; f = f->next)
        count++;
    struct places *table = malloc(sizeof *table + count * sizeof table->function[0]);
    if (!table)
        return ERR_NO_MEMORY;
    table->count = count;
    for (const struct function *f = functions; f; f = f->next)
        table->function[i++] = f;
    qsort(table->function, count, sizeof table->function[0], by_code);
    store_release(&places, table); /* [P] */
    doing_set_place_describer(describe_place);
    return ERR_OK;
}

void guest_frames_forget_places(void)
{
    struct places *table = exchange_seq(&places, NULL); /* [P] */
    if (!table)
        return;
    registry_synchronize();
    free(table);
}
