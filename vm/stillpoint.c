/* stillpoint.c -- the public header over the layers below.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/stillpoint.h"

#include "alloc/bulk.h"
#include "base/insist.h"
#include "base/log.h"
#include "safepoint/ledger.h"
#include "safepoint/participant.h"
#include "safepoint/stops.h"
#include "vm/start.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct stillpoint_thread) == sizeof(struct participant_head),
               "the public head is the participant's head");

static struct participant *participant_of(struct stillpoint_thread *self)
{
    return (struct participant *)self;
}

static enum stillpoint_result result_of(enum err err)
{
    return err == ERR_OK         ? STILLPOINT_OK
           : err == ERR_STATE    ? STILLPOINT_STATE
           : err == ERR_BAD_FLAG ? STILLPOINT_USAGE
                                 : STILLPOINT_ENVIRONMENT;
}

enum stillpoint_result stillpoint_start(const char *const *flag_list, int flag_count,
                                        char *message_out, size_t message_bytes)
{
    struct start_message message = { "" };
    enum err err = ERR_OK;
    if (stops_are_on() || stops_have_ended()) {
        snprintf(message_out, message_bytes, "stillpoint %s",
                 stops_are_on() ? "is started already" : "has ended; it starts once per process");
        return STILLPOINT_STATE;
    }
    start_early();
    for (int i = 0; i < flag_count && err == ERR_OK; i++)
        err = start_take_flag(flag_list[i], &message);
    if (err == ERR_OK)
        err = start_check_flags(&message);
    if (err == ERR_OK)
        err = start_stops(&message);
    if (err != ERR_OK)
        start_reset_flags(); /* so that a second try begins from the defaults */
    if (err != ERR_OK && message_bytes)
        snprintf(message_out, message_bytes, "%s", message.text);
    return result_of(err);
}

void stillpoint_shutdown(void)
{
    stops_exit();
    log_flush();
}

void stillpoint_stop(void (*run)(void *), void *argument) { stops_force(run, argument); }
void stillpoint_dump_threads(void) { stops_dump_threads(); }

enum stillpoint_result stillpoint_attach(const char *name, struct stillpoint_thread **self_out)
{
    struct participant *p = NULL;
    INSIST(name, "stillpoint_attach without a name");
    enum err err = participant_attach(PARTICIPANT_MUTATOR, name, &p);
    if (err == ERR_OK)
        *self_out = (struct stillpoint_thread *)p;
    return result_of(err);
}

void stillpoint_detach(struct stillpoint_thread *self) { participant_detach(participant_of(self)); }

void stillpoint_leave_native(struct stillpoint_thread *self)
{
    participant_leave_safe(participant_of(self), PARTICIPANT_GUEST);
}

void stillpoint_enter_native(struct stillpoint_thread *self)
{
    participant_enter_safe(participant_of(self), PARTICIPANT_NATIVE);
}

void stillpoint_poll_slow(struct stillpoint_thread *self)
{
    participant_poll_slow(participant_of(self));
}

/* The public struct has the members of doing_what in the same order. */
_Static_assert(sizeof(struct stillpoint_work) == sizeof(struct doing_what), "same members");

void stillpoint_work_begin(struct stillpoint_thread *self, const struct stillpoint_work *work,
                           uint64_t total)
{
    doing_begin(participant_doing(participant_of(self)), (const struct doing_what *)work, total);
}

void stillpoint_work_progress(struct stillpoint_thread *self, uint64_t done)
{
    doing_progress(participant_doing(participant_of(self)), done);
}

void stillpoint_work_end(struct stillpoint_thread *self)
{
    doing_end(participant_doing(participant_of(self)), (struct doing_value){ NULL, 0, 0, NULL });
}

void stillpoint_zero(struct stillpoint_thread *self, void *start, size_t bytes)
{
    bulk_zero_mp(participant_of(self), start, bytes);
}

static struct stillpoint_percentiles percentiles_of(const struct hist *h)
{
    struct stillpoint_percentiles p = { 0, 0, 0, hist_max(h) };
    hist_percentile(h, 50, &p.p50_ns);
    hist_percentile(h, 90, &p.p90_ns);
    hist_percentile(h, 99, &p.p99_ns);
    return p;
}

static void copy_last(const struct ledger_sums *sums, struct stillpoint_summary *summary_out)
{
    const struct ledger_group *worst = &sums->worst;
    snprintf(summary_out->last_thread, sizeof summary_out->last_thread, "%s", worst->thread);
    snprintf(summary_out->last_doing, sizeof summary_out->last_doing, "%s", worst->example);
}

enum stillpoint_result stillpoint_get_summary(struct stillpoint_summary *summary_out)
{
    const struct ledger_sums *sums = ledger_totals();
    if (!stops_have_ended())
        return STILLPOINT_STATE;
    memset(summary_out, 0, sizeof *summary_out);
    summary_out->stops = sums->stops;
    summary_out->ttsp = percentiles_of(&sums->span[LEDGER_SPAN_ttsp]);
    summary_out->lag = percentiles_of(&sums->span[LEDGER_SPAN_lag]);
    summary_out->operation = percentiles_of(&sums->span[LEDGER_SPAN_op]);
    summary_out->leave = percentiles_of(&sums->span[LEDGER_SPAN_leave]);
    summary_out->resume = percentiles_of(&sums->span[LEDGER_SPAN_resume]);
    summary_out->total = percentiles_of(&sums->span[LEDGER_SPAN_total]);
    struct ledger_audit audit = ledger_audit(sums);
    summary_out->adds_up = audit.ok && !audit.is_off;
    copy_last(sums, summary_out);
    return STILLPOINT_OK;
}
