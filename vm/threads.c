/* threads.c -- see threads.h.
 *
 * Note [E] The end of a thread.  In this order: its result or error is stored, then `state`
 *   (release), then who waits for it is taken out of the queue and woken; then its stack and
 *   its registration go; then, as its last touch of anything of the program, it is no longer
 *   counted, as alive or as active.  The main thread frees the program's memory only after the
 *   count of the living has come down to itself.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/threads.h"

#include "base/insist.h"
#include "base/os.h"
#include "gc/heap.h"
#include "safepoint/stops.h"
#include "vm/class.h"
#include "vm/error_object.h"
#include "vm/interp.h"
#include "vm/natives.h"
#include "vm/outside.h"
#include "vm/string.h"

#include <ctype.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* What the C code of a guest thread needs, with room for a signal handler that takes its
 * native frames; registers and frames of the guest lie elsewhere. */
#define C_STACK_BYTES ((size_t)512 << 10)

#define MOST_SLEEP_MS 1e12 /* some 31 years; what nanoseconds in 64 bits bear */

/* Of the running program. */
static struct waitable all_ended;              /* guard: alive */
static uint32_t alive;                         /* main included */
static _Atomic(struct thread_record *) failed; /* who ended with an error, latest first */

/* --- records --------------------------------------------------------------------------- */

static void init_record(struct thread_record *record, const char *name, size_t length)
{
    waitable_init(&record->end, "end of thread", 0, NULL);
    if (length >= sizeof record->name)
        length = sizeof record->name - 1;
    for (size_t i = 0; i < length; i++) /* it goes into tables and logs */
        record->name[i] = iscntrl((unsigned char)name[i]) ? '?' : name[i];
    record->name[length] = '\0';
    record->end.name = record->name;
}

/* Those that have failed are kept until the program ends, for what is told then. */
static bool release_record(void *part)
{
    const struct thread_record *record = part;
    if (record->error_kind == GUEST_ERROR_NONE)
        outside_free(part);
    return true;
}

struct thread_record *thread_record_new(const char *name)
{
    struct thread_record *record = calloc(1, sizeof *record);
    if (record)
        init_record(record, name, strlen(name));
    return record;
}

struct thread_record *threads_record_of(value_t thread_object)
{
    const struct object *object = value_as_object(thread_object);
    return (struct thread_record *)(uintptr_t)load_relaxed(&object->word[0]); /* never changes */
}

/* A THREAD: record, result, no value yet. */
static struct object *new_object_mp(struct guest_thread *thread)
{
    struct object *object =
        heap_allocate_mp(&thread->mutator, object_header(OBJECT_THREAD, 3, 0), 3);
    if (!object)
        guest_fail_out_of_heap(thread, 3 * OBJECT_WORD_BYTES);
    return object;
}

static void bind_object(struct object *object, struct thread_record *record)
{
    store_relaxed(&object->word[0], (uintptr_t)record); /* published by whoever stores it */
}

/* --- the life of a thread ----------------------------------------------------------------- */

/* Keeps what a failed thread has to say; its frames are still in place. */
static void keep_error(struct guest_thread *thread)
{
    struct thread_record *record = thread->record;
    size_t length;
    record->error_kind = thread->error.kind;
    record->error_message = strdup(thread->error.message);
    record->error_trace = guest_trace(thread, &length);
    if (record->error_trace)
        record->error_trace[length] = '\0'; /* without the last newline */
    record->next = load_relaxed(&failed);   /* checked by the exchange */
    while (!compare_exchange_seq(&failed, &record->next, record))
        ;
}

static void keep_result(struct guest_thread *thread)
{
    struct object *object = value_as_object(thread->object);
    store_release(&object->word[1], thread->stack[0]);
}

/* [BLOCKED or NATIVE] */
static void announce_end(struct thread_record *record) /* [E] */
{
    struct parker *waiting;
    pthread_mutex_lock(&record->end.guard);
    store_release(&record->state, THREAD_STATE_ENDED); /* [E] pairs with has_ended() */
    while ((waiting = waitable_take(&record->end)) != NULL)
        unpark(waiting);
    pthread_mutex_unlock(&record->end.guard);
}

/* [unattached] */
static void count_end(void) /* [E] */
{
    struct parker *main_thread = NULL;
    pthread_mutex_lock(&all_ended.guard);
    if (--alive == 1)
        main_thread = waitable_take(&all_ended);
    if (main_thread)
        unpark(main_thread);
    parking_end_active(); /* under the guard: after it, main may free everything */
    pthread_mutex_unlock(&all_ended.guard);
}

static void *thread_main(void *argument)
{
    struct guest_thread *thread = argument;
    struct thread_record *record = thread->record;
    os_set_thread_name(record->name);
    enum err err = guest_thread_adopt(thread);
    if (err == ERR_OK) {
        participant_leave_safe(guest_thread_participant(thread), PARTICIPANT_GUEST);
        if (interp_call_mp(thread, thread->argument_count))
            keep_result(thread);
        else
            keep_error(thread);
        participant_enter_safe(guest_thread_participant(thread), PARTICIPANT_NATIVE);
    } else if (err != ERR_STATE) { /* that: all was stopped for good before it began */
        guest_fail_kind(thread, GUEST_ERROR_OUT_OF_MEMORY,
                        "OutOfMemory: the system has none to register a thread.");
        keep_error(thread);
    }
    announce_end(record);
    guest_thread_detach(thread);
    count_end();
    return NULL;
}

static bool start_detached(struct guest_thread *thread)
{
    pthread_attr_t attributes;
    pthread_t id;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, C_STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int error = pthread_create(&id, &attributes, thread_main, thread);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

static void change_alive(uint32_t by)
{
    pthread_mutex_lock(&all_ended.guard);
    alive += by;
    pthread_mutex_unlock(&all_ended.guard);
}

/* Counts it and starts it; in BLOCKED, for the system may take its time. */
static bool start_blocked_mp(struct guest_thread *self, struct guest_thread *thread)
{
    struct participant *participant = guest_thread_participant(self);
    participant_enter_safe(participant, PARTICIPANT_BLOCKED);
    change_alive(1);
    parking_add_active();
    bool is_started = start_detached(thread);
    if (!is_started) {
        parking_end_active(); /* not the last: we are active */
        change_alive((uint32_t)-1);
        store_relaxed(&thread->record->state, THREAD_STATE_ENDED); /* nobody knows it */
    }
    participant_leave_safe(participant, PARTICIPANT_GUEST);
    return is_started;
}

/* --- spawn ------------------------------------------------------------------------------------ */

/* What names a callee: "worker", or NULL when it cannot be called. */
static const struct object *name_of_callee(value_t callee, const char **fixed_out)
{
    *fixed_out = "thread";
    if (!value_is_reference(callee))
        return *fixed_out = NULL, NULL;
    const struct object *object = value_as_object(callee);
    switch (object_kind(object)) {
    case OBJECT_BOUND_METHOD:
        return name_of_callee(load_relaxed(&object->word[1]), fixed_out); /* never changes */
    case OBJECT_CLOSURE: {
        const struct function *f = (const void *)(uintptr_t)load_relaxed(&object->word[0]);
        return f->name;
    }
    case OBJECT_CLASS:
        return class_description(object)->name;
    case OBJECT_NATIVE:
        *fixed_out = native_of_object(object)->name;
        return NULL;
    default:
        return *fixed_out = NULL, NULL;
    }
}

/* A record with its name; the callee is window[*callee_out].  NULL: a guest error is recorded. */
static struct thread_record *new_record(struct guest_thread *thread, const value_t *window,
                                        uint32_t argument_count, uint32_t *callee_out)
{
    const char *fixed;
    bool has_name = argument_count >= 2 && value_is_kind(window[1], OBJECT_STRING);
    *callee_out = has_name ? 2 : 1;
    const struct object *name = name_of_callee(window[*callee_out], &fixed);
    if (!name && !fixed) {
        guest_fail(thread, "Can only call functions and classes.");
        return NULL;
    }
    struct thread_record *record = outside_calloc(sizeof *record, release_record);
    if (!record) {
        guest_fail_kind(thread, GUEST_ERROR_OUT_OF_MEMORY,
                        "OutOfMemory: the system has none for a thread.");
        return NULL;
    }
    if (has_name)
        name = value_as_object(window[1]);
    init_record(record, name ? string_bytes(name) : fixed,
                name ? string_length(name) : strlen(fixed));
    return record;
}

/* The new thread's stack, with callee and arguments; they are roots from heap_attach() on. */
static struct guest_thread *new_thread_mp(struct guest_thread *self, const value_t *window,
                                          uint32_t argument_count, uint32_t callee,
                                          struct thread_record *record)
{
    value_t spare_error = error_object_spare_for_another_mp(self);
    if (spare_error == VALUE_NIL)
        return NULL;
    struct guest_thread *thread = guest_thread_new(record, argument_count - callee);
    if (!thread) {
        guest_fail_kind(self, GUEST_ERROR_OUT_OF_MEMORY,
                        "OutOfMemory: the system has none for a thread's stack.");
        return NULL;
    }
    thread->program = self->program;
    thread->object = window[0];
    thread->spare_error = spare_error; /* nothing has polled since it was made */
    memcpy(thread->stack, window + callee, (argument_count - callee + 1) * sizeof *window);
    heap_attach(&thread->mutator, NULL);
    return thread;
}

bool threads_spawn_mp(struct guest_thread *self, value_t *window, uint32_t argument_count)
{
    uint32_t callee;
    if (argument_count == 0)
        return guest_fail(self, "Expected at least 1 arguments but got 0.");
    struct object *object = new_object_mp(self);
    if (!object)
        return false;
    window[0] = value_of_object(object); /* a root */
    struct thread_record *record = new_record(self, window, argument_count, &callee);
    if (!record)
        return false;
    bind_object(value_as_object(window[0]), record);
    outside_watch(record, window[0]);
    struct guest_thread *thread = new_thread_mp(self, window, argument_count, callee, record);
    if (!thread)
        return false;
    if (!start_blocked_mp(self, thread)) {
        guest_thread_detach(thread);
        return guest_fail_kind(self, GUEST_ERROR_OUT_OF_MEMORY,
                               "OutOfMemory: the system starts no more threads.");
    }
    return true;
}

/* --- join ------------------------------------------------------------------------------------- */

static bool has_ended(struct thread_record *record)
{
    return load_acquire(&record->state) == THREAD_STATE_ENDED; /* [E] */
}

bool threads_fail_deadlock_mp(struct guest_thread *main_thread)
{
#ifndef STILLPOINT_FUEL
    stops_dump_threads();
#endif
    return guest_fail_kind(main_thread, GUEST_ERROR_DEADLOCK,
                           "Deadlock: all threads wait for one another.");
}

/* False: deadlock, told to main. */
static bool wait_for_end_mp(struct guest_thread *self, struct thread_record *record)
{
    bool is_done = true;
    struct participant *participant = guest_thread_participant(self);
    participant_enter_safe(participant, PARTICIPANT_BLOCKED);
    pthread_mutex_lock(&record->end.guard);
    if (has_ended(record))
        pthread_mutex_unlock(&record->end.guard);
    else
        is_done = park(&self->record->parker, &record->end, false);
    participant_leave_safe(participant, PARTICIPANT_GUEST);
    return is_done || threads_fail_deadlock_mp(self);
}

/* Message and kind of the other thread's error, and its trace above the joiner's. */
static bool raise_error(struct guest_thread *self, struct thread_record *record)
{
    store_relaxed(&record->error_was_raised, true); /* read when no other thread is left */
    guest_fail_kind(self, record->error_kind,
                    record->error_message ? record->error_message : "A thread failed.");
    guest_error_set_cause(self, record->name, record->error_trace);
    return false;
}

bool threads_join_mp(struct guest_thread *self, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    struct thread_record *record = threads_record_of(window[0]);
    if (record == self->record)
        return guest_fail(self, "A thread cannot join itself.");
    if (!has_ended(record) && !wait_for_end_mp(self, record))
        return false;
    if (record->error_kind != GUEST_ERROR_NONE)
        return raise_error(self, record);
    window[0] = load_acquire(&value_as_object(window[0])->word[1]); /* pairs with keep_result() */
    return true;
}

/* --- other natives ---------------------------------------------------------------------------- */

bool threads_current_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    if (thread->object == VALUE_NIL) { /* main's is made when somebody asks */
        struct object *object = new_object_mp(thread);
        if (!object)
            return false;
        bind_object(object, thread->record);
        thread->object = value_of_object(object);
    }
    window[0] = thread->object;
    return true;
}

bool threads_sleep_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    struct participant *self = guest_thread_participant(thread);
    double ms = value_is_number(window[1]) ? value_as_double(window[1]) : -1;
    if (!(ms >= 0 && ms <= MOST_SLEEP_MS))
        return guest_fail(thread, "Milliseconds must be a number from 0 to %.0f.", MOST_SLEEP_MS);
    participant_enter_safe(self, PARTICIPANT_BLOCKED);
    parking_note_main_waits(&thread->record->parker);
#ifndef STILLPOINT_FUEL /* fuzzing does not wait for anything */
    os_sleep_ns((uint64_t)(ms * 1e6));
#endif
    participant_leave_safe(self, PARTICIPANT_GUEST);
    window[0] = VALUE_NIL;
    return true;
}

bool threads_yield_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    struct participant *self = guest_thread_participant(thread);
    participant_enter_safe(self, PARTICIPANT_BLOCKED); /* it may be long until we run again */
    sched_yield();
    participant_leave_safe(self, PARTICIPANT_GUEST);
    window[0] = VALUE_NIL;
    return true;
}

bool threads_name_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    const char *name = threads_record_of(window[0])->name;
    struct object *string = string_new_mp(&thread->mutator, name, strlen(name));
    if (!string)
        return guest_fail_out_of_heap(thread, object_words_for_length(OBJECT_STRING, strlen(name)) *
                                                  OBJECT_WORD_BYTES);
    window[0] = value_of_object(string);
    return true;
}

/* 0 until the thread has begun to run. */
bool threads_number(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)thread, (void)argument_count;
    window[0] = value_of_double(load_relaxed(&threads_record_of(window[0])->number));
    return true;
}

bool threads_is_alive(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)thread, (void)argument_count;
    window[0] = value_of_bool(!has_ended(threads_record_of(window[0])));
    return true;
}

/* --- the program's threads together ------------------------------------------------------------
 */

void threads_begin(struct guest_thread *main_thread)
{
    waitable_init(&all_ended, "all other threads to end", 0, NULL);
    alive = 1;
    store_relaxed(&failed, NULL); /* no other thread yet */
    store_relaxed(&main_thread->record->state, THREAD_STATE_RUNS);
    parking_begin(&main_thread->record->parker);
}

void threads_main_is_over_mp(struct guest_thread *main_thread)
{
    struct participant *self = guest_thread_participant(main_thread);
    participant_enter_safe(self, PARTICIPANT_BLOCKED);
    announce_end(main_thread->record);
    parking_note_main_waits(&main_thread->record->parker);
    participant_leave_safe(self, PARTICIPANT_GUEST);
}

bool threads_wait_for_all_mp(struct guest_thread *main_thread)
{
    bool is_done = true;
    struct participant *self = guest_thread_participant(main_thread);
    participant_enter_safe(self, PARTICIPANT_BLOCKED);
    pthread_mutex_lock(&all_ended.guard);
    if (alive == 1)
        pthread_mutex_unlock(&all_ended.guard);
    else
        is_done = park(&main_thread->record->parker, &all_ended, false);
    participant_leave_safe(self, PARTICIPANT_GUEST);
    return is_done || threads_fail_deadlock_mp(main_thread);
}

bool threads_are_left(void)
{
    pthread_mutex_lock(&all_ended.guard);
    bool are_left = alive > 1;
    pthread_mutex_unlock(&all_ended.guard);
    return are_left;
}

/* In the order in which they ended. */
static void turn_round_failed(void)
{
    struct thread_record *first = NULL, *next;
    for (struct thread_record *r = exchange_seq(&failed, NULL); r; r = next) {
        next = r->next;
        r->next = first;
        first = r;
    }
    store_seq(&failed, first);
}

static void write_error(FILE *errors, const struct thread_record *r)
{
    fprintf(errors, "Thread \"%s\" ended with an error that no join raised:\n%s\n", r->name,
            r->error_message ? r->error_message : "(no memory for its message)");
    if (r->error_trace && r->error_trace[0])
        fprintf(errors, "%s\n", r->error_trace);
}

enum guest_error_kind threads_write_errors(FILE *errors)
{
    enum guest_error_kind worst = GUEST_ERROR_NONE;
    if (!threads_are_left())
        turn_round_failed();
    for (struct thread_record *r = load_acquire(&failed); r; r = r->next) {
        if (!has_ended(r) || load_relaxed(&r->error_was_raised))
            continue;
        write_error(errors, r);
        if (worst != GUEST_ERROR_OUT_OF_MEMORY)
            worst = r->error_kind;
    }
    return worst;
}

void threads_end(void)
{
    struct thread_record *next;
    for (struct thread_record *r = exchange_seq(&failed, NULL); r; r = next) {
        next = r->next;
        free(r->error_message);
        free(r->error_trace);
        outside_free(r);
    }
}

bool threads_await_main(uint64_t timeout_ns) { return parking_await_main(timeout_ns); }
