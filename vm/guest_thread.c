/* guest_thread.c -- see guest_thread.h.  SPDX-License-Identifier: MIT */
#include "vm/guest_thread.h"

#include "base/flags.h"
#include "base/insist.h"
#include "base/os.h"
#include "gc/heap.h"
#include "gc/roots.h"
#include "vm/guest_frames.h"
#include "vm/threads.h"

#include <stdlib.h>
#include <string.h>

static struct instruction halt[] = { { OP_HALT, 0, 0, 0 } };
static uint32_t halt_lines[] = { 0 };

/* How far the soft limit lies above what is in use, at first and after a collection: a page of
 * memory; arbitrary. */
#define SLACK_REGISTERS ((size_t)512)

static value_t *top_of(const struct guest_thread *thread)
{
    return thread->frame->base + thread->frame->function->register_count;
}

/* Registers above the innermost frame hold leftovers: Note [S]. */
static void each_root_at_safepoint(struct mutator *mutator, struct root_visitor *visitor)
{
    struct guest_thread *thread = (struct guest_thread *)mutator; /* its first member */
    root_visit_range(visitor, thread->stack, top_of(thread), "register");
    for (struct frame *f = thread->frames; f <= thread->frame; f++)
        root_visit(visitor, &f->closure, "closure of a frame");
    root_visit(visitor, &thread->spare_error, "spare error object");
    root_visit(visitor, &thread->object, "thread object");
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void forget_leftovers_at_safepoint(struct mutator *mutator) /* Note [S] */
{
    struct guest_thread *thread = (struct guest_thread *)mutator; /* its first member */
    value_t *top = top_of(thread);
    INSIST(top <= thread->stack_end, "the innermost frame ends %td registers behind the limit",
           top - thread->stack_end);
    memset(top, 0, (size_t)(thread->stack_end - top) * sizeof *top); /* all nil */
    thread->stack_end = top + least(SLACK_REGISTERS, (size_t)(thread->stack_hard_end - top));
}

bool guest_thread_make_room(struct guest_thread *thread, const value_t *window,
                            uint32_t register_count)
{
    size_t most = (size_t)(thread->stack_hard_end - thread->stack);
    size_t twice = 2 * (size_t)(thread->stack_end - thread->stack);
    size_t needed = (size_t)(window - thread->stack) + register_count;
    if (needed > most)
        return false;
    thread->stack_end = thread->stack + least(needed > twice ? needed : twice, most);
    return true;
}

/* The bottom frame's registers lie below the soft limit from the start: who spawns the thread
 * copies arguments into them. */
static bool map_stack(struct guest_thread *thread)
{
    size_t registers = flags->thread_stack_size / sizeof(value_t);
    size_t stack_bytes = registers * sizeof(value_t);
    thread->mapped_bytes = stack_bytes + (registers + 1) * sizeof(struct frame);
    thread->stack = os_map(thread->mapped_bytes); /* one call: it is the dearest part of a start */
    if (!thread->stack)
        return false;
    thread->frames = (struct frame *)(thread->stack + registers);
    size_t in_use = thread->bottom.register_count;
    INSIST(in_use <= registers, "%zu arguments for a stack of %zu registers", in_use, registers);
    thread->stack_end = thread->stack + least(in_use + SLACK_REGISTERS, registers);
    thread->stack_hard_end = thread->stack + registers;
    thread->frame = thread->frames;
    *thread->frame =
        (struct frame){ .pc = halt, .base = thread->stack, .function = &thread->bottom };
    return true;
}

static void free_thread(struct guest_thread *thread)
{
    if (thread->stack)
        os_unmap(thread->stack, thread->mapped_bytes);
    if (thread->owns_record)
        free(thread->record);
    free(thread);
}

struct guest_thread *guest_thread_new(struct thread_record *record, uint32_t argument_count)
{
    struct guest_thread *thread = calloc(1, sizeof *thread);
    if (!thread)
        return NULL;
    thread->record = record;
    thread->argument_count = argument_count;
    thread->bottom = (struct function){ .code = halt,
                                        .code_count = 1,
                                        .lines = halt_lines,
                                        .register_count = argument_count + 1,
                                        .is_checked = true };
    thread->mutator.each_root_at_safepoint = each_root_at_safepoint;
    thread->mutator.forget_leftovers_at_safepoint = forget_leftovers_at_safepoint;
    if (map_stack(thread))
        return thread;
    free_thread(thread);
    return NULL;
}

enum err guest_thread_adopt(struct guest_thread *thread)
{
    struct participant *participant;
    enum err err = participant_attach(PARTICIPANT_MUTATOR, thread->record->name, &participant);
    if (err != ERR_OK)
        return err;
    thread->mutator.participant = participant;
    thread->doing = participant_doing(participant);
    /* Relaxed: a number that is read early reads as 0, "not attached yet". */
    store_relaxed(&thread->record->number, participant_number(participant));
    guest_frames_show(thread);
    return ERR_OK;
}

enum err guest_thread_attach(const char *name, struct guest_thread **thread_out)
{
    struct thread_record *record = thread_record_new(name);
    struct guest_thread *thread = record ? guest_thread_new(record, 0) : NULL;
    if (!thread) {
        free(record);
        return ERR_NO_MEMORY;
    }
    thread->owns_record = true;
    enum err err = guest_thread_adopt(thread);
    if (err != ERR_OK) {
        free_thread(thread);
        return err;
    }
    heap_attach(&thread->mutator, thread->mutator.participant);
    *thread_out = thread;
    return ERR_OK;
}

void guest_thread_detach(struct guest_thread *thread)
{
    guest_error_clear(thread);
    if (thread->mutator.participant)
        guest_frames_hide(thread); /* before the record can go with the object */
    heap_detach(&thread->mutator);
    if (thread->mutator.participant)
        participant_detach(thread->mutator.participant);
    free_thread(thread);
}
