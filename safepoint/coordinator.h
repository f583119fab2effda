/* coordinator.h -- one stop, from the odd epoch to the last wake.
 *
 * Read next: coordinator.c, then participant.c for the other half.
 * Layer:     safepoint/.  Who may call: the VM thread, but for what says [self].
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_COORDINATOR_H
#define SAFEPOINT_COORDINATOR_H

#include "base/atomics.h"
#include "base/err.h"
#include "safepoint/ledger.h"
#include "safepoint/operation.h"

#include <stdbool.h>

/* Once, at start: CPUs, spin limit, flags are read here and never again. */
MUST_USE enum err coordinator_start(void);

/* Outside the stop, before coordinator_stop(): memory for the witness. */
void coordinator_prepare(void);

/* Stops all, runs operation->run, lets all go (Exit: does not).  Fills the
 * record's stamps and counts; the resume side comes later, from the gate. */
void coordinator_stop(struct operation *operation, struct stop_record *record);

/* Outside the stop, after its requesters were answered: moves to another CPU if it sat on
 * that of the last one to arrive. */
void coordinator_settle(void);

/* [self] One ticket was claimed; wakes the coordinator when it was the last, and says so. */
STOP_PATH bool coordinator_count_arrival(void);

/* A delay on purpose in one stage of every stop, 0 = none (field report C33). */
enum coordinator_stage {
    COORDINATOR_STAGE_LOCK, /* before arming: belongs to TTSP */
    COORDINATOR_STAGE_CLEANUP,
    COORDINATOR_STAGE_OPERATION,
    COORDINATOR_STAGE_WAKE,
    COORDINATOR_STAGE_COUNT,
};
void coordinator_inject_delay(enum coordinator_stage stage, uint64_t ns);
const char *coordinator_stage_name(enum coordinator_stage stage);

#endif
