/* stop_model.c -- walks all interleavings of the stop protocol: as built, with each of
 * the code's planted faults, and with designs that were not taken.
 *
 *     stop_model [--list] [--stops N] [VARIANT...]
 *
 * Per variant one line, `clean` with the number of states or what breaks; then the
 * shortest way there.  Exit 0 when every variant came out as expected; 75 when one did
 * not; 64 for a wrong argument; 74 when memory is short.  README.md says what is covered.
 *
 * SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "tests/model/explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STOPS_ASKED 6

static const struct model_variant variants[] = {
    { .name = "flag", .text = "as built, -XX:SafepointPoll=flag" },
    { .name = "global", .text = "as built, -XX:SafepointPoll=global", .global_poll = true },
    { .name = "mutant-1",
      .text = "the coordinator does not wait",
      .mutant = 1,
      .expectation = EXPECT_BROKEN },
    { .name = "mutant-2",
      .text = "no re-check after announcing GUEST",
      .mutant = 2,
      .expectation = EXPECT_BROKEN },
    { .name = "mutant-3",
      .text = "counts without an issued ticket",
      .mutant = 3,
      .expectation = EXPECT_BROKEN },
    { .name = "mutant-4",
      .text = "who loses the ticket counts too",
      .mutant = 4,
      .expectation = EXPECT_BROKEN },
    { .name = "mutant-5",
      .text = "the last to arrive does not wake the coordinator",
      .mutant = 5,
      .expectation = EXPECT_BROKEN },
    { .name = "mutant-6",
      .text = "ends without arriving",
      .mutant = 6,
      .expectation = EXPECT_BROKEN },
    { .name = "mutant-7",
      .text = "the poll word is cleared after the look at the causes",
      .mutant = 7,
      .least_stops = 2,
      .expectation = EXPECT_BROKEN },
    { .name = "mutant-8",
      .text = "a ticket won by the coordinator's look is booked already-safe",
      .mutant = 8,
      .expectation = EXPECT_BROKEN },
    { .name = "no-second-look",
      .text = "the coordinator does not look again after issuing",
      .no_second_look = true,
      .expectation = EXPECT_BROKEN },
    { .name = "count-after-walk",
      .text = "no bias: remaining is set when the walk is over",
      .count_after_walk = true,
      .expectation = EXPECT_BROKEN },
    { .name = "entry-swapped",
      .text = "entering a safe state: reads the epoch, then stores the state",
      .entry_swapped = true,
      .expectation = EXPECT_BROKEN },
    { .name = "exit-swapped",
      .text = "leaving a safe state: reads the epoch, then stores the state",
      .exit_swapped = true,
      .expectation = EXPECT_BROKEN },
    { .name = "stamp-late",
      .text = "at a poll: stores STOPPED, then stamps",
      .stamp_late = true,
      .least_stops = 2,
      .expectation = EXPECT_BROKEN },
    { .name = "sleep-blind",
      .text = "at the gate: sleeps without comparing the epoch",
      .sleep_blind = true,
      .expectation = EXPECT_BROKEN },
    { .name = "no-hint",
      .text = "announces GUEST without a glance at the epoch before",
      .no_hint = true },
    { .name = "arm-before-issue",
      .text = "the coordinator arms the word, then issues the ticket",
      .arm_before_issue = true },
    { .name = "add-at-issue",
      .text = "no bias: remaining grows by one before each ticket",
      .add_at_issue = true },
};
#define VARIANTS (sizeof variants / sizeof *variants)

static void print_remaining(int32_t remaining)
{
    if (remaining > MODEL_BIAS / 2)
        printf("  [remaining BIAS%+d]", remaining - MODEL_BIAS);
    else
        printf("  [remaining %d]", remaining);
}

static void print_way(const struct explore_result *result)
{
    int32_t remaining = 0;
    for (uint32_t i = 0; i < result->steps; i++) {
        const struct model_move *move = &result->way[i];
        printf("    %2u  %c %s", i + 1, "ABC"[move->who], move -> text);
        if (move->to.remaining != remaining)
            print_remaining(move->to.remaining);
        remaining = move->to.remaining;
        printf("\n");
    }
}

/* A clean walk that has not been everywhere is none.  One stop alone cannot be: a word
 * is armed again only when the next stop begins. */
static bool has_been_everywhere(const struct model_variant *v, uint32_t stops,
                                const struct explore_result *result)
{
    uint64_t missed = (model_participant_pcs(v) & ~result->participant_pcs) |
                      (model_coordinator_pcs(v) & ~result->coordinator_pcs);
    return result->fault || stops == 1 || missed == 0;
}

/* Walks one variant and says what came out; false when that was not expected. */
static bool walk(const struct model_variant *v, uint32_t stops)
{
    struct explore_result result;
    if (explore(v, stops, &result) != ERR_OK) {
        fprintf(stderr, "stop_model: %s: the states do not fit into memory\n", v->name);
        exit(EXIT_CODE_ENVIRONMENT);
    }
    bool is_complete = has_been_everywhere(v, stops, &result);
    bool may_break = v->expectation == EXPECT_BROKEN && stops >= v->least_stops;
    bool is_expected = (result.fault != NULL) == may_break && is_complete;
    if (result.fault)
        printf("%-17s broken after %u steps, %u states: %s%s\n", v->name, result.steps,
               result.states, result.fault, is_expected ? "" : "  UNEXPECTED");
    else
        printf("%-17s clean, %u states, %u steps deep, %zu MiB%s%s\n", v->name, result.states,
               result.steps, result.memory_bytes >> 20,
               is_complete ? "" : ", but did not reach every step",
               is_expected ? "" : "  UNEXPECTED");
    if (result.fault)
        print_way(&result);
    fflush(stdout);
    explore_free(&result);
    return is_expected;
}

static void list(void)
{
    for (size_t i = 0; i < VARIANTS; i++)
        printf("%-17s %-7s %s\n", variants[i].name,
               variants[i].expectation == EXPECT_CLEAN ? "clean" : "broken", variants[i].text);
}

static const struct model_variant *variant_named(const char *name)
{
    for (size_t i = 0; i < VARIANTS; i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    fprintf(stderr, "stop_model: no variant \"%s\"; --list shows them\n", name);
    exit(EXIT_CODE_USAGE);
}

static uint32_t stops_asked(const char *text)
{
    if (text && text[0] >= '1' && text[0] <= '0' + MOST_STOPS_ASKED && text[1] == '\0')
        return (uint32_t)(text[0] - '0');
    fprintf(stderr, "stop_model: --stops takes 1 to %d; without it their number is not bounded\n",
            MOST_STOPS_ASKED);
    exit(EXIT_CODE_USAGE);
}

int main(int argc, char **argv)
{
    uint32_t stops = MODEL_NO_LIMIT;
    int first = 1;
    if (first < argc && strcmp(argv[first], "--list") == 0) {
        list();
        return EXIT_CODE_OK;
    }
    if (first < argc && strcmp(argv[first], "--stops") == 0) {
        stops = stops_asked(first + 1 < argc ? argv[first + 1] : NULL);
        first += 2;
    }
    for (int i = first; i < argc; i++)
        variant_named(argv[i]); /* all names are looked at before the first walk */
    bool is_expected = true;
    for (int i = first; i < argc; i++)
        is_expected &= walk(variant_named(argv[i]), stops);
    for (size_t i = 0; first == argc && i < VARIANTS; i++)
        is_expected &= walk(&variants[i], stops);
    return is_expected ? EXIT_CODE_OK : EXIT_CODE_SELF_CHECK;
}
