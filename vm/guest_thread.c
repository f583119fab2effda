/* guest_thread.c -- see guest_thread.h.  SPDX-License-Identifier: MIT */
#include "vm/guest_thread.h"

#include "base/flags.h"
#include "base/os.h"
#include "gc/heap.h"
#include "gc/roots.h"

#include <stdlib.h>
#include <string.h>

static struct instruction halt[] = { { OP_HALT, 0, 0, 0 } };
static uint32_t halt_lines[] = { 0 };
static struct function bottom = {
    .code = halt, .code_count = 1, .lines = halt_lines, .register_count = 1, .is_checked = true
};

/* Registers above the innermost frame hold leftovers: Note [S]. */
static void each_root_at_safepoint(struct mutator *mutator, struct root_visitor *visitor)
{
    struct guest_thread *thread = (struct guest_thread *)mutator; /* its first member */
    const value_t *top = thread->frame->base + thread->frame->function->register_count;
    root_visit_range(visitor, thread->stack, top, "register");
    for (struct frame *f = thread->frames; f <= thread->frame; f++)
        root_visit(visitor, &f->closure, "closure of a frame");
    root_visit(visitor, &thread->spare_error, "spare error object");
}

static bool map_stack(struct guest_thread *thread)
{
    size_t registers = flags->thread_stack_size / sizeof(value_t);
    thread->stack_bytes = registers * sizeof(value_t);
    thread->frames_bytes = (registers + 1) * sizeof(struct frame);
    thread->stack = os_map(thread->stack_bytes);
    thread->frames = os_map(thread->frames_bytes);
    if (!thread->stack || !thread->frames)
        return false;
    thread->stack_end = thread->stack + registers;
    thread->frame = thread->frames;
    *thread->frame = (struct frame){ .pc = halt, .base = thread->stack, .function = &bottom };
    return true;
}

static void free_thread(struct guest_thread *thread)
{
    if (thread->stack)
        os_unmap(thread->stack, thread->stack_bytes);
    if (thread->frames)
        os_unmap(thread->frames, thread->frames_bytes);
    free(thread);
}

enum err guest_thread_attach(const char *name, struct guest_thread **thread_out)
{
    struct participant *participant;
    struct guest_thread *thread = calloc(1, sizeof *thread);
    if (!thread || !map_stack(thread)) {
        if (thread)
            free_thread(thread);
        return ERR_NO_MEMORY;
    }
    enum err err = participant_attach(PARTICIPANT_MUTATOR, name, &participant);
    if (err != ERR_OK) {
        free_thread(thread);
        return err;
    }
    thread->mutator.each_root_at_safepoint = each_root_at_safepoint;
    heap_attach(&thread->mutator, participant);
    *thread_out = thread;
    return ERR_OK;
}

void guest_thread_detach(struct guest_thread *thread)
{
    guest_error_clear(thread);
    heap_detach(&thread->mutator);
    participant_detach(thread->mutator.participant);
    free_thread(thread);
}
