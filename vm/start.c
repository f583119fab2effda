/* start.c -- see start.h.  SPDX-License-Identifier: MIT */
#include "vm/start.h"

#include "base/crash.h"
#include "base/flags.h"
#include "base/log.h"
#include "base/os.h"
#include "gc/gc_init_log.h"
#include "gc/heap_sizes.h"
#include "safepoint/coordinator.h"
#include "safepoint/stops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void start_early(void)
{
    log_start(os_now_ns());
    crash_install();
}

bool start_is_flag(const char *argument) { return strncmp(argument, "-X", 2) == 0; }

static enum err say(struct start_message *message_out, enum err err, const char *text)
{
    snprintf(message_out->text, sizeof message_out->text, "%s", text);
    return err;
}

static enum err take_log_option(const char *argument, struct start_message *message_out)
{
    struct log_error error;
    if (log_is_help(argument))
        return say(message_out, ERR_BAD_FLAG, "-Xlog:help is for the command line of stillpoint");
    enum err err = log_configure(argument, &error);
    return err == ERR_OK ? ERR_OK : say(message_out, err, error.message);
}

enum err start_take_flag(const char *argument, struct start_message *message_out)
{
    struct flags_error error;
    if (log_is_option(argument))
        return take_log_option(argument, message_out);
    switch (flags_parse_one(argument, &error)) {
    case FLAGS_OK:
        return ERR_OK;
    case FLAGS_ERROR:
        return say(message_out, ERR_BAD_FLAG, error.message);
    case FLAGS_NOT_A_FLAG:
        break;
    }
    snprintf(
        message_out->text, sizeof message_out->text,
        "unknown flag %.200s; there are -XX:..., -Xlog:..., -Xmx, -Xms and -Xss, see stillpoint "
        "flags",
        argument);
    return ERR_BAD_FLAG;
}

/* -XX:InjectDelay=STAGE:MS, "" = none. */
static bool parse_delay(const char *text, enum coordinator_stage *stage_out, uint64_t *ns_out)
{
    const char *colon = strchr(text, ':');
    char *end;
    if (!colon || colon[1] < '0' || colon[1] > '9')
        return false;
    double ms = strtod(colon + 1, &end);
    if (*end || !(ms >= 0 && ms <= 60000))
        return false;
    for (int s = 0; s < COORDINATOR_STAGE_COUNT; s++) {
        const char *name = coordinator_stage_name(s);
        if (strlen(name) == (size_t)(colon - text) && strncmp(name, text, strlen(name)) == 0) {
            *stage_out = s;
            *ns_out = (uint64_t)(ms * 1e6);
            return true;
        }
    }
    return false;
}

enum err start_check_flags(struct start_message *message_out)
{
    struct flags_error error;
    enum coordinator_stage stage;
    uint64_t ns;
    if (!flags_check(&error))
        return say(message_out, ERR_BAD_FLAG, error.message);
    if (flags->inject_delay[0] && !parse_delay(flags->inject_delay, &stage, &ns)) {
        snprintf(
            message_out->text, sizeof message_out->text,
            "-XX:InjectDelay=%.100s: not STAGE:MS with stage lock, cleanup, operation or wake and "
            "0 to 60000 ms",
            flags->inject_delay);
        return ERR_BAD_FLAG;
    }
    heap_sizes_fill_flags();
    return ERR_OK;
}

void start_reset_flags(void)
{
    flags_reset();
    log_close();
}

uint64_t start_injected_delay_ns(void)
{
    enum coordinator_stage stage;
    uint64_t ns;
    return flags->inject_delay[0] && parse_delay(flags->inject_delay, &stage, &ns) ? ns : 0;
}

enum err start_stops(struct start_message *message_out)
{
    enum coordinator_stage stage;
    uint64_t ns;
    log_take_dialect();
    gc_init_log();
    if (flags->inject_delay[0] && parse_delay(flags->inject_delay, &stage, &ns))
        coordinator_inject_delay(stage, ns);
    enum err err = stops_start();
    if (err != ERR_OK)
        snprintf(message_out->text, sizeof message_out->text, "cannot start the stop machinery: %s",
                 err_text(err));
    return err;
}
