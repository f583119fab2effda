/* heap_tests.h -- a heap and a thread that allocates in it, for the unit tests of gc/.
 *
 * Each test of check runs in a process of its own, so that each has a heap of its own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_HEAP_TESTS_H
#define TESTS_UNIT_HEAP_TESTS_H

#include "base/flags.h"
#include "base/log.h"
#include "base/os.h"
#include "gc/heap_priv.h"
#include "gc/roots.h"
#include "safepoint/stops.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <string.h>

#define KIB UINT64_C(1024)
#define MIB (KIB << 10)

static struct mutator self; /* the test's own */

static inline void heap_start_or_die(void)
{
    char message[200] = "";
    ck_assert_msg(heap_start(message, sizeof message) == ERR_OK, "%s", message);
}

static inline void attach(struct mutator *mutator, const char *name)
{
    struct participant *participant;
    ck_assert_int_eq(participant_attach(PARTICIPANT_MUTATOR, name, &participant), ERR_OK);
    participant_leave_safe(participant, PARTICIPANT_GUEST);
    heap_attach(mutator, participant);
}

static inline void detach(struct mutator *mutator)
{
    struct participant *participant = mutator->participant;
    heap_detach(mutator);
    participant_detach(participant);
}

/* Stops, a heap, and the calling thread in it.  Flags as on a command line, NULL ends. */
static inline void begin_collecting(const char *const *arguments)
{
    log_start(os_now_ns());
    for (; *arguments; arguments++)
        flags_set_for_test(*arguments);
    ck_assert_int_eq(stops_start(), ERR_OK);
    heap_start_or_die();
    attach(&self, "test");
}
#define BEGIN_COLLECTING(...) begin_collecting((const char *const[]){ __VA_ARGS__, NULL })

/* The same without a collector, and with TLABs of one size: every object stays, where it is,
 * rooted or not. */
static inline void begin(const char *const *arguments)
{
    flags_set_for_test("-XX:+UseEpsilonGC");
    flags_set_for_test("-XX:-ResizeTLAB");
    begin_collecting(arguments);
}
#define BEGIN(...) begin((const char *const[]){ __VA_ARGS__, NULL })

struct verdict {
    bool is_good;
    char text[300];
};

static inline void take_verdict(void *argument)
{
    struct verdict *verdict = argument;
    verdict->is_good = heap_verify_at_safepoint(verdict->text, sizeof verdict->text);
}

static inline struct verdict verify(void)
{
    struct verdict verdict = { false, "no stop" };
    stops_force(take_verdict, &verdict);
    return verdict;
}

static inline void verify_or_die(void)
{
    struct verdict verdict = verify();
    ck_assert_msg(verdict.is_good, "%s", verdict.text);
}

/* NULL = out of heap. */
static inline struct object *new_with_length(struct mutator *m, enum object_kind kind,
                                             uint64_t length)
{
    struct object *object =
        heap_allocate_mp(m, object_header(kind, 0, 0), object_words_for_length(kind, length));
    if (object)
        store_relaxed(&object->word[0], length); /* ours alone so far */
    return object;
}

static inline struct object *new_of_bytes(struct mutator *m, uint64_t bytes)
{
    return new_with_length(m, OBJECT_DOUBLES, bytes / 8 - 2);
}

static inline struct object *new_cell(struct mutator *m)
{
    return heap_allocate_mp(m, object_header(OBJECT_CELL, 2, 0), 2);
}

#endif
