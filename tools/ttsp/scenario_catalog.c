/* scenario_catalog.c -- see scenario_catalog.h.  SPDX-License-Identifier: MIT */
#include "tools/ttsp/scenario_catalog.h"

#include "base/err.h"
#include "base/insist.h"
#include "base/spelling.h"
#include "tools/ttsp/scenario_lox.h"

#include <stdio.h>
#include <string.h>

#define MOST_SCENARIOS     64
#define DEFAULT_SECONDS_NS UINT64_C(6000000000) /* eight of them stay under a minute */

/* Guest programs, then the ones in C. */
static size_t count_all(void) { return scenario_lox_count() + scenario_count; }

static const struct scenario *scenario_at(size_t index)
{
    size_t lox = scenario_lox_count();
    return index < lox ? scenario_lox_at(index) : &scenarios[index - lox];
}

void scenario_list(FILE *out)
{
    for (size_t i = 0; i < count_all(); i++) {
        const struct scenario *scenario = scenario_at(i);
        if (i == scenario_lox_default_count())
            fputs("\nOnly when they are named:\n", out);
        else if (!scenario->source && i == scenario_lox_count())
            fputs("\nIn C, only when they are named:\n", out);
        fprintf(out, "%-18s %s\n", scenario->name, scenario->question);
    }
}

static void fail_unknown(struct cli *cli, const char *name)
{
    const char *names[MOST_SCENARIOS];
    size_t count = count_all();
    INSIST(count <= MOST_SCENARIOS, "%zu scenarios", count);
    for (size_t i = 0; i < count; i++)
        names[i] = scenario_at(i)->name;
    const char *near = spelling_nearest(name, names, count);
    cli_fail(cli, EXIT_CODE_USAGE, "unknown scenario %s%s%s%s; --list shows them", name,
             near ? ", did you mean " : "", near ? near : "", near ? "?" : "");
}

const struct scenario *scenario_find(struct cli *cli, const char *argument)
{
    char message[512];
    int exit_code;
    const struct scenario *scenario = scenario_lox_named(argument);
    if (!scenario)
        scenario = scenario_named(argument);
    if (!scenario && !scenario_lox_is_path(argument)) {
        fail_unknown(cli, argument);
    } else if (!scenario) {
        scenario = scenario_lox_from_file(argument, &exit_code, message, sizeof message);
        if (!scenario)
            cli_fail(cli, exit_code, "%s", message);
    }
    return scenario;
}

struct scenario_options scenario_options_for(const struct scenario_options *typed,
                                             const struct scenario *scenario)
{
    struct scenario_options options = *typed;
    if (options.every_ns == 0)
        options.every_ns = scenario->every_ns;
    if (options.seconds_ns == 0)
        options.seconds_ns = scenario->seconds_ns ? scenario->seconds_ns : DEFAULT_SECONDS_NS;
    return options;
}
