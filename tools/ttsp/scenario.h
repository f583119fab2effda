/* scenario.h -- a workload to be stopped, and what is asked of it.
 *
 * Read next: scenario_lox.h (guest programs), scenarios.c (the ones in C), scenario_run.c (a
 *            child process runs one), ttsp.c (the command).
 * Layer:     tools/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_TTSP_SCENARIO_H
#define TOOLS_TTSP_SCENARIO_H

#include "safepoint/participant.h"
#include "tools/ttsp/scenario_header.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scenario_run; /* body in scenario_run.c */

struct scenario {
    const char *name;
    const char *question; /* one sentence for --list */
    const char *focus;    /* kind of work whose stops are counted apart, or NULL */
    const char *cure;     /* name of the scenario that cures this disease, or NULL */
    /* As typed, ended by NULL.  Of one in C they are what it is about, and the command line may
     * not contradict them; over those of a guest program it wins. */
    const char *flags[SCENARIO_MOST_FLAGS + 1];
    uint64_t every_ns;                       /* between two probes */
    void (*start)(struct scenario_run *run); /* in C; NULL = a guest program: */
    const char *source;
    size_t source_bytes;
    const char *origin;  /* "lox" = built in, else the file's path; NULL = in C */
    uint64_t setup_ns;   /* the main guest thread may run so long before the first probe */
    uint64_t seconds_ns; /* of probing, 0 = the command's default */
};

/* The ones in C. */
extern const struct scenario scenarios[];
extern const size_t scenario_count;
const struct scenario *scenario_named(const char *name);

/* --- for the bodies of scenarios ------------------------------------------- */

/* Starts a mutator thread called name: body(run, self, number) runs in GUEST and
 * returns when scenario_is_over(); it must poll, or be the disease. */
void scenario_thread(struct scenario_run *run, const char *name,
                     void (*body)(struct scenario_run *, struct participant *, int number),
                     int number);
/* The same for a thread that is no participant. */
void scenario_plain_thread(struct scenario_run *run,
                           void (*body)(struct scenario_run *, int number), int number);
/* Relaxed: a late look only prolongs the run by one round. */
bool scenario_is_over(const struct scenario_run *run);
/* [self, GUEST] Sleeps in BLOCKED until the scenario is over. */
void scenario_sleep_until_over(struct scenario_run *run, struct participant *self);
/* Anything that went wrong in the environment: the run fails with this line. */
void scenario_fail(struct scenario_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
