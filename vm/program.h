/* program.h -- a guest program from source to exit code.
 *
 * Read next: program.c; tools/run/run.c for the command.
 * Layer:     vm/.
 *
 * One program per process runs at a time: globals and functions are its own, the heap, the
 * names and the stop machinery are the process's.
 *
 * Who may call: [attached] the thread that called program_attach().
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_PROGRAM_H
#define VM_PROGRAM_H

#include "base/err.h"
#include "vm/function.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct program;
struct guest_thread;

enum program_result {
    PROGRAM_OK,
    PROGRAM_COMPILE_ERROR, /* messages were written; exit 65 */
    PROGRAM_RUNTIME_ERROR, /* message and trace were written; exit 70 */
    PROGRAM_OUT_OF_MEMORY, /* the same; exit 71 */
    PROGRAM_OUTPUT_ERROR,  /* stdout cannot be written; exit 74 */
    PROGRAM_NO_MEMORY,     /* the system has none; exit 74 */
};

/* [any] The heap, the names, the shapes; once per process, after start_stops().  On failure
 * message_out (bytes of it) says why. */
MUST_USE enum err program_start(char *message_out, size_t bytes);

/* [any] Makes the calling thread a guest thread named name, in NATIVE. */
MUST_USE enum err program_attach(const char *name, struct guest_thread **thread_out);
void program_detach(struct guest_thread *thread);

/* [attached] Compiles and checks.  errors: where messages go.  PROGRAM_OK, _COMPILE_ERROR or
 * _NO_MEMORY. */
enum program_result program_compile(struct guest_thread *thread, const char *source, size_t bytes,
                                    FILE *errors, struct program **program_out);
/* Does nothing while other threads of the program are left. */
void program_destroy(struct program *program);

/* [attached] Runs it to its end: the script's, and that of all threads; `args` holds the
 * arguments.  After an error of the script, and after a deadlock, other threads may be left,
 * running or waiting: then this process can only stop them for good (stops_exit()) and end;
 * nothing that they may use may be freed. */
enum program_result program_run(struct guest_thread *thread, struct program *program,
                                int argument_count, char **arguments, FILE *errors);

/* [any, after stops_exit()] Of a program that was stopped for good while it ran: errors that
 * ended a thread and that no join raised are written to errors; the worst of them. */
enum program_result program_left_errors(FILE *errors);
/* [any] A program has ended, but not all its threads. */
bool program_threads_are_left(void);

struct function *program_script(struct program *program);
uint32_t program_global_count(const struct program *program);
/* [self] The values, by index; never moves. */
_Atomic value_t *program_global_values(struct program *program);
/* The name of a global, NULL = no such. */
const char *program_global_name(void *program, uint32_t index);

#endif
