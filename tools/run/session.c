/* session.c -- see session.h.  SPDX-License-Identifier: MIT */
#include "tools/run/session.h"

#include "base/err.h"
#include "gc/gc_log.h"
#include "gc/heap.h"
#include "safepoint/stops.h"
#include "vm/guest_output.h"
#include "vm/program.h"
#include "vm/start.h"

#include <stdio.h>

static int refuse(const char *command, const char *why)
{
    fprintf(stderr, "stillpoint %s: %s\n", command, why);
    return EXIT_CODE_ENVIRONMENT;
}

static void report(void (*at_end)(void))
{
    gc_log_exit();
    if (at_end)
        at_end();
}

int session_run(const char *command, int (*body)(struct guest_thread *thread, void *argument),
                void *argument, void (*at_end)(void))
{
    struct start_message message;
    struct guest_thread *thread;
    if (start_stops(&message) != ERR_OK ||
        program_start(message.text, sizeof message.text) != ERR_OK)
        return refuse(command, message.text);
    stops_handle_sigquit();
    enum err err = program_attach("main", &thread);
    if (err != ERR_OK) {
        snprintf(message.text, sizeof message.text, "cannot start the guest thread: %s",
                 err_text(err));
        return refuse(command, message.text);
    }
    int code = body(thread, argument);
    if (program_threads_are_left()) { /* the process's end is theirs */
        stops_exit();
        guest_output_flush_last();
        report(at_end);
        return code;
    }
    program_detach(thread);
    stops_exit();
    report(at_end);
    heap_end();
    return code;
}
