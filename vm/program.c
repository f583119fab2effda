/* program.c -- see program.h.  SPDX-License-Identifier: MIT */
#include "vm/program.h"

#include "alloc/direct.h"
#include "base/flags.h"
#include "base/insist.h"
#include "gc/heap.h"
#include "gc/roots.h"
#include "gc/weak.h"
#include "safepoint/stops.h"
#include "vm/arena.h"
#include "vm/array.h"
#include "vm/checker.h"
#include "vm/compiler.h"
#include "vm/diagnostics.h"
#include "vm/error_object.h"
#include "vm/globals.h"
#include "vm/guest_frames.h"
#include "vm/guest_output.h"
#include "vm/guest_thread.h"
#include "vm/interp.h"
#include "vm/interp_priv.h"
#include "vm/names.h"
#include "vm/natives.h"
#include "vm/parser.h"
#include "vm/resolver.h"
#include "vm/shape.h"
#include "vm/string.h"
#include "vm/threads.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

struct program {
    struct globals globals;
    struct function *functions; /* all */
    struct function *script;
};

/* The one that runs; its globals are roots.  Written between runs. */
static struct program *running;
/* After it ended; then it stays the one that runs. */
static bool are_threads_left;

/* --- the process ------------------------------------------------------------------ */

static void each_common_root(struct root_visitor *visitor)
{
    root_visit(visitor, error_object_class(), "class of error objects");
    for (size_t i = 0; running && running->globals.values && i < running->globals.count; i++)
        root_visit(visitor, (value_t *)&running->globals.values[i], "global");
}

static void verify_heap_at_safepoint(void)
{
    char fault[256];
    INSIST(heap_verify_at_safepoint(fault, sizeof fault), "the heap is broken: %s", fault);
}

enum err program_start(char *message_out, size_t bytes)
{
    enum err err = heap_start(message_out, bytes);
    if (err != ERR_OK)
        return err;
    direct_set_limit(flags->max_direct_memory_size ? flags->max_direct_memory_size
                                                   : flags->max_heap_size);
    roots_set_common(each_common_root);
    guest_frames_start();
    stops_set_check(verify_heap_at_safepoint);
    err = names_start();
    if (err == ERR_OK)
        err = shapes_start();
    if (err == ERR_OK)
        err = interp_slow_start() ? ERR_OK : ERR_NO_MEMORY;
    if (err != ERR_OK)
        snprintf(message_out, bytes, "cannot start the guest language: %s", err_text(err));
    return err;
}

enum err program_attach(const char *name, struct guest_thread **thread_out)
{
    return guest_thread_attach(name, thread_out);
}

void program_detach(struct guest_thread *thread) { guest_thread_detach(thread); }

/* --- compiling ---------------------------------------------------------------------- */

struct compile_job {
    struct program *program;
    const char *source;
    size_t bytes;
    FILE *errors;
    struct arena arena;
    jmp_buf out_of_memory;
    enum program_result result;
};

/* Everything that lives in the arena; jumps out of it when there is no memory. */
static bool compile_in_arena(struct compile_job *job)
{
    struct diagnostics diagnostics;
    diagnostics_start(&diagnostics, &job->arena);
    struct function_node *tree = parser_parse(job->source, job->bytes, &job->arena, &diagnostics);
    resolver_resolve(tree, &job->arena, &diagnostics);
    if (diagnostics.count == 0)
        job->program->script = compiler_compile(tree, &job->program->globals, &job->arena,
                                                &diagnostics, &job->program->functions);
    if (diagnostics.count > 0)
        diagnostics_write(&diagnostics, job->errors);
    return diagnostics.count == 0;
}

static enum program_result compile(struct compile_job *job)
{
    job->result = PROGRAM_NO_MEMORY; /* not a local: the jump keeps it */
    arena_start(&job->arena, &job->out_of_memory);
    if (setjmp(job->out_of_memory) == 0)
        job->result = compile_in_arena(job) ? PROGRAM_OK : PROGRAM_COMPILE_ERROR;
    arena_end(&job->arena);
    return job->result;
}

static bool name_natives(struct globals *globals)
{
    for (size_t i = 0; i < native_count; i++) {
        struct object *name = names_intern(natives[i].name, strlen(natives[i].name));
        if (!name || globals_index(globals, name) == GLOBALS_NONE)
            return false;
    }
    struct object *args = names_intern("args", 4);
    return args && globals_index(globals, args) != GLOBALS_NONE;
}

/* Code of ours that the checker refuses is our bug. */
static enum program_result check(struct program *program)
{
    struct checker_fault fault;
    enum checker_result result =
        checker_check(program->script, (uint32_t)program->globals.count, &fault);
    INSIST(result != CHECKER_REFUSED, "the checker refuses compiled code, instruction %u: %s",
           fault.at, fault.text);
    return result == CHECKER_OK ? PROGRAM_OK : PROGRAM_NO_MEMORY;
}

enum program_result program_compile(struct guest_thread *thread, const char *source, size_t bytes,
                                    FILE *errors, struct program **program_out)
{
    (void)thread; /* attached: names and shapes are read under RCU */
    struct compile_job job = { .source = source, .bytes = bytes, .errors = errors };
    job.program = calloc(1, sizeof *job.program);
    if (!job.program)
        return PROGRAM_NO_MEMORY;
    enum program_result result = PROGRAM_NO_MEMORY;
    if (name_natives(&job.program->globals))
        result = compile(&job);
    if (result == PROGRAM_OK)
        result = check(job.program);
    if (result == PROGRAM_OK && globals_freeze(&job.program->globals) != ERR_OK)
        result = PROGRAM_NO_MEMORY;
    if (result == PROGRAM_OK)
        *program_out = job.program;
    else
        program_destroy(job.program);
    return result;
}

void program_destroy(struct program *program)
{
    if (!program || program_threads_are_left())
        return;
    compiler_free_functions(program->functions);
    globals_end(&program->globals);
    free(program);
}

struct function *program_script(struct program *program) { return program->script; }

uint32_t program_global_count(const struct program *program)
{
    return (uint32_t)program->globals.count;
}

_Atomic value_t *program_global_values(struct program *program) { return program->globals.values; }

const char *program_global_name(void *program, uint32_t index)
{
    const struct globals *globals = &((struct program *)program)->globals;
    return index < globals->count ? string_bytes(globals->names[index]) : NULL;
}

/* --- running -------------------------------------------------------------------------- */

/* The natives come first in the globals, in their order; then `args`. */
static bool define_library_mp(struct guest_thread *thread, int argument_count, char **arguments)
{
    _Atomic value_t *values = thread->program->globals.values;
    for (size_t i = 0; i < native_count; i++)
        store_release(&values[i], value_of_object((struct object *)&natives[i]));
    struct object *array = array_new_mp(thread, OBJECT_ARRAY, value_of_double(argument_count));
    if (!array)
        return false;
    store_release(&values[native_count], value_of_object(array)); /* a root from here on */
    for (int i = 0; i < argument_count; i++) {
        size_t length = strlen(arguments[i]);
        struct object *string = string_new_mp(&thread->mutator, arguments[i], length);
        if (!string)
            return guest_fail_out_of_heap(thread, object_words_for_length(OBJECT_STRING, length) *
                                                      OBJECT_WORD_BYTES);
        array = value_as_object(load_relaxed(&values[native_count])); /* our own store */
        store_release(&array->word[1 + i], value_of_object(string));
    }
    return true;
}

static bool run_script_mp(struct guest_thread *thread)
{
    thread->stack[0] = VALUE_NIL;
    return new_closure_mp(thread, &thread->stack[0], thread->program->script) &&
           interp_run_mp(thread, &thread->stack[0]);
}

static enum program_result result_of(enum guest_error_kind kind)
{
    switch (kind) {
    case GUEST_ERROR_NONE:
        return PROGRAM_OK;
    case GUEST_ERROR_OUT_OF_MEMORY:
        return PROGRAM_OUT_OF_MEMORY;
    case GUEST_ERROR_OUTPUT:
        return PROGRAM_OUTPUT_ERROR;
    default:
        return PROGRAM_RUNTIME_ERROR;
    }
}

enum program_result program_left_errors(FILE *errors)
{
    return running ? result_of(threads_write_errors(errors)) : PROGRAM_OK;
}

/* The result, after what is left to print and what went wrong are written. */
static enum program_result tell_result_mp(struct guest_thread *thread, bool is_done, FILE *errors)
{
    enum program_result result = is_done ? PROGRAM_OK : result_of(thread->error.kind);
    if (!guest_output_flush_mp(thread))
        result = PROGRAM_OUTPUT_ERROR;
    /* In BLOCKED: a reader of stderr may be slow.  Neither looks into the heap. */
    participant_enter_safe(guest_thread_participant(thread), PARTICIPANT_BLOCKED);
    if (result == PROGRAM_RUNTIME_ERROR || result == PROGRAM_OUT_OF_MEMORY)
        guest_error_write(thread, errors);
    enum guest_error_kind unraised = threads_write_errors(errors);
    participant_leave_safe(guest_thread_participant(thread), PARTICIPANT_GUEST);
    return result == PROGRAM_OK ? result_of(unraised) : result;
}

/* While still in GUEST, so that no stop sees half of it. */
static void leave(struct guest_thread *thread)
{
    interp_reset(thread);
    guest_error_clear(thread);
    thread->object = VALUE_NIL;
    running = thread->program = NULL;
}

enum program_result program_run(struct guest_thread *thread, struct program *program,
                                int argument_count, char **arguments, FILE *errors)
{
    struct participant *self = guest_thread_participant(thread);
    participant_leave_safe(self, PARTICIPANT_GUEST);
    guest_error_clear(thread);
    running = thread->program = program;
    threads_begin(thread);
    bool is_done = guest_frames_name_places(program->functions) == ERR_OK ||
                   guest_fail_kind(thread, GUEST_ERROR_OUT_OF_MEMORY,
                                   "OutOfMemory: the system has none for a table of the code.");
    is_done = is_done && error_object_start_mp(thread) && error_object_make_spare_mp(thread) &&
              define_library_mp(thread, argument_count, arguments) && run_script_mp(thread);
    threads_main_is_over_mp(thread);
    is_done = is_done && threads_wait_for_all_mp(thread);
    enum program_result result = tell_result_mp(thread, is_done, errors);
    are_threads_left = threads_are_left();
    if (!are_threads_left)
        leave(thread);
    participant_enter_safe(self, PARTICIPANT_NATIVE);
    if (!are_threads_left) {
        guest_frames_forget_places(); /* it waits for readers: not in GUEST */
        weak_clean_all();
        threads_end();
    }
    return result;
}

bool program_threads_are_left(void) { return are_threads_left; }
