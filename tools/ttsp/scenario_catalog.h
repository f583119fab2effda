/* scenario_catalog.h -- all scenarios by name: guest programs, those in C, the user's files.
 *
 * Layer: tools/.  Who may call: the command's only thread.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_TTSP_SCENARIO_CATALOG_H
#define TOOLS_TTSP_SCENARIO_CATALOG_H

#include "tools/cli.h"
#include "tools/ttsp/scenario_run.h"

#include <stdio.h>

/* Names and questions, those of a run without a name first. */
void scenario_list(FILE *out);
/* A name of ours, or a file.  NULL: a line has been written, cli has failed. */
const struct scenario *scenario_find(struct cli *cli, const char *argument);
/* What the command line says (0 = nothing), else the scenario, else 6 seconds. */
struct scenario_options scenario_options_for(const struct scenario_options *typed,
                                             const struct scenario *scenario);

#endif
