/* told_stop.h -- a stop put together from the rings of its threads.
 *
 * Read next: told_stop.c (how it is collected), told_text.c (how it is told).
 * Layer:     tools/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_EXPLAIN_TOLD_STOP_H
#define TOOLS_EXPLAIN_TOLD_STOP_H

#include "safepoint/ledger.h"
#include "safepoint/stop_trace.h"

#include <stdbool.h>
#include <stdio.h>

#define TOLD_THREADS    3 /* columns that fit a terminal */
#define TOLD_STEPS      64
#define TOLD_MOST_STOPS 256

struct told_step {
    uint64_t ns;
    enum stop_step step;
    uint32_t argument;
    uint8_t column; /* 0 = the coordinator, 1 ... = thread[column - 1] */
};

struct told_thread {
    char name[PARTICIPANT_NAME_BYTES];
    uint32_t number;
    uint32_t state;                  /* when the coordinator saw it */
    uint64_t arrived_ns, resumed_ns; /* 0 = it did not; arrived as the ledger has it */
};

struct told_stop {
    struct stop_record record;
    struct told_thread thread[TOLD_THREADS];
    uint32_t thread_count, left_out;   /* told, and met by the stop but not told */
    struct told_step step[TOLD_STEPS]; /* in the order of time */
    uint32_t step_count;
    uint64_t lost; /* steps that the rings or we had no room for; at least so many */
    uint64_t first_arrival_ns, last_arrival_ns; /* of all threads; 0 = nobody arrived */
    uint64_t last_resumed_ns;                   /* of all threads */
};

/* Plain data that comes through a pipe. */
struct told_stops {
    uint32_t count;
    struct told_stop stop[TOLD_MOST_STOPS];
};

/* [VM thread, outside stops] Adds one, while there is room. */
void told_stop_collect(struct told_stops *stops, const struct stop_record *record);

/* Do rings and ledger name the same instants?  instants_out: how many were compared, those that
 * the rings have lost are not; on failure why_out names the first that differs. */
bool told_stop_agrees(const struct told_stop *stop, uint32_t *instants_out, char *why_out,
                      size_t bytes);

/* The whole story, at most 100 columns. */
void told_text_write(FILE *out, const struct told_stop *stop);

#endif
