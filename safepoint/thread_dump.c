/* thread_dump.c -- see thread_dump.h.
 *
 * Each thread takes its own frames in a signal handler: instruction pointers
 * only, into memory of its participant touched at attach.  The operation sends
 * the signals, waits for the answers (a thread that has the signal blocked, or
 * sits in an uninterruptible call, is given up after ANSWER_LIMIT_NS) and copies
 * them to an array made before the stop.  Names are looked up after the release.
 *
 * Note [U] Answers.  The operation publishes `request` (release) before it sends
 *   signals; the handler writes its frames, then stores the request's number into
 *   dump_answered (release); the operation reads that (acquire) before the frames.
 *
 * SPDX-License-Identifier: MIT */
#include "safepoint/thread_dump.h"

#include "base/atomics.h"
#include "base/os.h"
#include "base/unwind.h"
#include "safepoint/participant_priv.h"
#include "safepoint/registry.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_LIMIT_NS 100000000 /* 100 ms: arbitrary, far above a signal's 15 us */

struct dumped {
    char name[PARTICIPANT_NAME_BYTES];
    enum participant_kind kind;
    uint32_t number, state;
    int tid;
    struct doing_value doing;
    int frame_count; /* -1: no answer */
    void *frames[PARTICIPANT_FRAMES];
};

static struct dumped *dumped;
static char *extras; /* of each, extra->bytes */
static const struct thread_dump_extra *extra;
static uint32_t dumped_room, dumped_count, dumped_left_out;
static _Atomic uint64_t request;

static int dump_signal(void) { return SIGRTMIN + 4; }

static void on_dump_signal(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)info;
    int before = errno;
    struct participant *self = participant_self();
    uint64_t wanted = load_acquire(&request);                   /* [U] */
    if (self && load_relaxed(&self->dump_answered) != wanted) { /* our own word */
        self->dump_count = unwind_capture(context, self->dump_frames, PARTICIPANT_FRAMES);
        store_release(&self->dump_answered, wanted); /* [U] */
    }
    errno = before;
}

void thread_dump_install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_dump_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(dump_signal(), &action, NULL);
}

static void make_room(struct operation *operation)
{
    (void)operation;
    uint32_t wanted = registry_count() * 2 + 64;
    if (wanted <= dumped_room)
        return;
    size_t extra_bytes = extra ? extra->bytes : 0;
    struct dumped *more = malloc(wanted * sizeof *more);
    char *more_extras = malloc(wanted * extra_bytes + 1);
    if (!more || !more_extras) { /* those without room are counted below */
        free(more);
        free(more_extras);
        return;
    }
    memset(more, 0, wanted * sizeof *more); /* touched here, not in the stop */
    memset(more_extras, 0, wanted * extra_bytes + 1);
    free(dumped);
    free(extras);
    dumped = more;
    extras = more_extras;
    dumped_room = wanted;
}

static void signal_all(uint64_t wanted)
{
    store_release(&request, wanted); /* [U] */
    registry_for_each (line) {
        struct participant *p = line->participant;
        bool is_there = os_signal_thread(p->tid, dump_signal());
        p->dump_asked = is_there ? wanted : 0;
    }
}

/* True when p answered, or is not worth waiting for any more. */
static bool await_answer(struct participant *p, uint64_t wanted, uint64_t deadline)
{
    if (p->dump_asked != wanted)
        return false; /* it attached after the signals went out, or had ended */
    while (load_acquire(&p->dump_answered) != wanted) { /* [U] */
        if (load_relaxed(&p->line->state) == PARTICIPANT_GONE || os_now_ns() >= deadline)
            return false;
        os_sleep_ns(20000); /* about two signals' time */
    }
    return true;
}

static void copy_one(struct participant *p, bool has_answered)
{
    if (dumped_count == dumped_room) {
        dumped_left_out++;
        return;
    }
    if (extra)
        extra->capture_at_safepoint(p, extras + dumped_count * extra->bytes);
    struct dumped *d = &dumped[dumped_count++];
    memcpy(d->name, p->name, sizeof d->name);
    d->kind = p->kind;
    d->number = p->number;
    d->state = load_relaxed(&p->line->state); /* a picture */
    d->tid = p->tid;
    d->doing = doing_read(&p->doing);
    d->frame_count = has_answered ? p->dump_count : -1;
    if (has_answered)
        memcpy(d->frames, p->dump_frames, sizeof d->frames);
}

static void take_dump(struct operation *operation)
{
    (void)operation;
    uint64_t wanted = load_relaxed(&request) + 1; /* one operation at a time */
    uint64_t deadline = os_now_ns() + ANSWER_LIMIT_NS;
    dumped_count = dumped_left_out = 0;
    signal_all(wanted);
    registry_for_each (line)
        copy_one(line->participant, await_answer(line->participant, wanted, deadline));
}

static void write_one(FILE *out, const struct dumped *d, const void *extra_copy)
{
    char doing[96], name[200];
    doing_format(d->doing, doing, sizeof doing);
    fprintf(out, "\"%s\" #%u %s tid=%d %s%s%s\n", d->name, d->number,
            d->kind == PARTICIPANT_MUTATOR ? "mutator" : "worker", d->tid,
            participant_state_name(d->state), doing[0] ? ", " : "", doing);
    if (extra)
        extra->write(out, extra_copy);
    if (d->frame_count < 0)
        fprintf(out, "    (no answer: ended, just attached, or deaf for %d ms)\n",
                ANSWER_LIMIT_NS / 1000000);
    for (int i = 0; i < d->frame_count; i++) {
        unwind_name(d->frames[i], name, sizeof name);
        fprintf(out, "    at %s\n", name);
    }
    fputc('\n', out);
}

static void write_dump(struct operation *operation)
{
    (void)operation;
    fprintf(stderr, "Full thread dump Stillpoint (%u participants):\n\n", dumped_count);
    for (uint32_t i = 0; i < dumped_count; i++)
        write_one(stderr, &dumped[i], extras + (extra ? i * extra->bytes : 0));
    if (dumped_left_out)
        fprintf(stderr, "(%u more that attached during the dump)\n", dumped_left_out);
    fflush(stderr);
}

void thread_dump_set_extra(const struct thread_dump_extra *more) { extra = more; }

void thread_dump_init(struct operation *operation_out)
{
    memset(operation_out, 0, sizeof *operation_out);
    operation_out->kind = OPERATION_THREAD_DUMP;
    operation_out->prepare = make_room;
    operation_out->run = take_dump;
    operation_out->finish = write_dump;
}
