/* report.h -- what people and programs read of a ttsp run.
 *
 * Layer: tools/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_TTSP_REPORT_H
#define TOOLS_TTSP_REPORT_H

#include "tools/ttsp/scenario_run.h"

#include <stdio.h>

/* At most 100 columns. */
void report_table_head(FILE *out);
void report_table_row(FILE *out, const struct scenario *scenario,
                      const struct scenario_result *result);
/* The worst stop of each scenario, who was late, what did not add up. */
void report_notes(FILE *out, const struct scenario *const *run,
                  const struct scenario_result *results, size_t count);
/* One sentence per disease whose cure ran as well. */
void report_cures(FILE *out, const struct scenario *const *run,
                  const struct scenario_result *results, size_t count);

/* schema stillpoint-ttsp-1; returns nothing: the writer's errors are the file's. */
void report_json(FILE *out, const struct scenario *const *run,
                 const struct scenario_result *results, size_t count,
                 const struct scenario_options *options);

#endif
