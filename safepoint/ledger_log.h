/* ledger_log.h -- the ledger as HotSpot's log lines, in four dialects, and our own.
 *
 * Layer: safepoint/.  Who may call: the VM thread, outside stops.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_LEDGER_LOG_H
#define SAFEPOINT_LEDGER_LOG_H

#include "base/log.h"
#include "safepoint/ledger.h"

/* safepoint=info: the line; safepoint+stats=info: the table row; safepoint=debug:
 * the last thread and the stages. */
void ledger_log_stop(const struct stop_record *record);
/* safepoint+stats=info at exit: counts, maxima, percentiles. */
void ledger_log_summary(const struct ledger_sums *sums);
/* The text of the safepoint=info line, of dialects that have one per stop (not 11); its length. */
int ledger_log_format(enum xlog_dialect dialect, const struct stop_record *record, char *text_out,
                      size_t bytes);
/* The safepoint+stats table: its head, and the row of one stop. */
const char *ledger_log_header(enum xlog_dialect dialect);
int ledger_log_row(enum xlog_dialect dialect, const struct stop_record *record, char *text_out,
                   size_t bytes);

#endif
