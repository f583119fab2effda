/* stress_protocol.h -- threads, native calls, locks and stops against each other.
 *
 * Read next: stress_checks.c: what is checked; stress_protocol.c: the actions of an actor.
 * Layer:     tools/.  Who may call: the command's main thread, once per process.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_STRESS_STRESS_PROTOCOL_H
#define TOOLS_STRESS_STRESS_PROTOCOL_H

#include "base/err.h"
#include "base/hist.h"

#include <stdint.h>

#define STRESS_PROTOCOL_MOST_THREADS 256

struct stress_protocol_options {
    uint64_t seed, seconds_ns;
    uint64_t threads;    /* 1 .. STRESS_PROTOCOL_MOST_THREADS */
    const char *program; /* of stress_guest.h and stress_gc.h only */
    /* Every 100 ms or so; NULL = nobody looks. */
    void (*progress)(uint64_t elapsed_ns, uint64_t stops);
};

struct stress_protocol_result {
    uint64_t stops, attaches, transitions, requests, dumps;
    uint64_t checks, failures;
    uint64_t collections, out_of_heap, live_bytes, used_bytes; /* of stress_gc.h only */
    struct hist ttsp;  /* empty with -XX:-SafepointRecording */
    char failure[256]; /* the first, in words; "" = none */
};

/* The number of actors when nobody names one: small under a sanitizer, which makes
 * every action about ten times as long. */
uint64_t stress_protocol_default_threads(void);

/* Starts the stop machinery, stresses it, ends it.  ERR_NO_MEMORY, ERR_NO_THREAD,
 * ERR_STATE: the environment refused, one line is in result_out->failure. */
MUST_USE enum err stress_protocol_run(const struct stress_protocol_options *options,
                                      struct stress_protocol_result *result_out);

#endif
