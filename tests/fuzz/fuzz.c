/* fuzz.c -- see fuzz.h.  SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"

#include "base/insist.h"
#include "gc/heap.h"
#include "safepoint/stops.h"
#include "vm/error_object.h"
#include "vm/guest_output.h"
#include "vm/guest_thread.h"
#include "vm/interp.h"
#include "vm/start.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define FUEL 20000 /* arbitrary: a few milliseconds under sanitizers */

struct fuzz_counts fuzz_counts;

_Noreturn void fuzz_found(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("FOUND: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    abort();
}

FILE *fuzz_nowhere(void)
{
    static FILE *file;
    if (!file && !(file = fopen("/dev/null", "w")))
        fuzz_found("cannot open /dev/null");
    return file;
}

/* Small, so that every limit is near. */
static void start_process(void)
{
    const char *const arguments[] = { "-Xmx8m", "-Xms64k", "-XX:G1HeapRegionSize=64k", "-Xss64k" };
    struct start_message message;
    start_early();
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        if (start_take_flag(arguments[i], &message) != ERR_OK)
            fuzz_found("%s: %s", arguments[i], message.text);
    if (start_check_flags(&message) != ERR_OK || start_stops(&message) != ERR_OK ||
        program_start(message.text, sizeof message.text) != ERR_OK)
        fuzz_found("%s", message.text);
    guest_output_start(-1);
}

/* The class of error objects lay in the heap that is gone. */
static void renew_heap(void)
{
    char message[256];
    heap_end();
    *error_object_class() = VALUE_NIL;
    if (heap_start(message, sizeof message) != ERR_OK)
        fuzz_found("%s", message);
}

struct guest_thread *fuzz_begin(void)
{
    struct guest_thread *thread;
    if (fuzz_counts.inputs++ == 0)
        start_process();
    else
        renew_heap();
    if (program_attach("fuzz", &thread) != ERR_OK)
        fuzz_found("cannot attach");
    return thread;
}

void fuzz_end(struct guest_thread *thread) { program_detach(thread); }

struct program *fuzz_compile(struct guest_thread *thread, const char *source, size_t bytes)
{
    struct program *program = NULL;
    switch (program_compile(thread, source, bytes, fuzz_nowhere(), &program)) {
    case PROGRAM_OK:
        fuzz_counts.compiled++;
        return program;
    case PROGRAM_COMPILE_ERROR:
        return NULL;
    default:
        fuzz_found("the system has no memory for a program of %zu bytes", bytes);
    }
}

static void verify(void *unused)
{
    char text[256];
    (void)unused;
    INSIST(heap_verify_at_safepoint(text, sizeof text), "the heap is broken: %s", text);
}

void fuzz_run(struct guest_thread *thread, struct program *program)
{
    static char *arguments[] = { "one", "" };
    interp_fuel = FUEL;
    enum program_result result = program_run(thread, program, 2, arguments, fuzz_nowhere());
    if (result == PROGRAM_OK)
        fuzz_counts.ended++;
    else if (interp_fuel == 0)
        fuzz_counts.out_of_fuel++;
    else
        fuzz_counts.failed++;
    stops_force(verify, NULL);
}
