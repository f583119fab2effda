/* scenario_run.h -- one scenario in a child process under a watchdog.
 *
 * Layer: tools/.  Who may call: the command's main thread, while it has no other.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_TTSP_SCENARIO_RUN_H
#define TOOLS_TTSP_SCENARIO_RUN_H

#include "safepoint/ledger.h"
#include "tools/ttsp/scenario.h"

/* What a command wants to see of each stop, beyond the sums.  on_stop runs in the child's VM
 * thread and writes to data, which is sent to the parent's data at the end. */
struct scenario_watch {
    void (*on_stop)(const struct stop_record *record);
    void *data;
    size_t bytes;
};

struct scenario_options {
    const struct scenario_watch *watch; /* NULL = nothing */
    uint64_t seconds_ns;                /* of probing */
    uint64_t every_ns;
    uint64_t seed;
};

/* Plain data: it comes through a pipe. */
struct scenario_result {
    bool is_complete;  /* the child lived to tell all of it */
    char failure[256]; /* one line, "" = none */
    int failure_exit;  /* EXIT_CODE_ENVIRONMENT or EXIT_CODE_SELF_CHECK */
    char flags[512];   /* in force and not at their defaults */
    int cpus;
    uint64_t elapsed_ns;
    bool has_program_ended; /* a guest program, before its time was over */
    struct ledger_sums sums;
    uint64_t stops_at_gate; /* in which a thread had not left the gate of the stop before */
    struct hist focus;      /* TTSP of the stops in which a thread was at the focus when armed */
};

/* Forks, runs, collects.  progress, if not NULL, is called about ten times a
 * second.  False: the system gave no process; a line is in result_out->failure. */
bool scenario_run_in_child(const struct scenario *scenario, const struct scenario_options *options,
                           void (*progress)(void *, uint64_t elapsed_ns), void *argument,
                           struct scenario_result *result_out);

#endif
