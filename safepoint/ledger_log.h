/* ledger_log.h -- the ledger as HotSpot's log lines (dialect 25) and our own.
 *
 * Layer: safepoint/.  Who may call: the VM thread, outside stops.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_LEDGER_LOG_H
#define SAFEPOINT_LEDGER_LOG_H

#include "safepoint/ledger.h"

/* safepoint=info: the line; safepoint+stats=info: the table row; safepoint=debug:
 * the last thread and the stages. */
void ledger_log_stop(const struct stop_record *record);
/* safepoint+stats=info at exit: counts, maxima, percentiles. */
void ledger_log_summary(const struct ledger_sums *sums);
/* The text of the safepoint=info line; returns its length. */
int ledger_log_format(const struct stop_record *record, char *text_out, size_t bytes);

#endif
