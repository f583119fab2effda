/* collection.c -- see collection.h.  SPDX-License-Identifier: MIT */
#include "gc/collection.h"

static const char *const cause_texts[] = {
#define X(name, text, operation) text,
    COLLECTION_CAUSE_LIST(X)
#undef X
};
const char *collection_cause_text(enum collection_cause cause) { return cause_texts[cause]; }

static const char *const phase_texts[] = {
#define X(name, text) text,
    COLLECTION_PHASE_LIST(X)
#undef X
};
const char *collection_phase_text(enum collection_phase phase) { return phase_texts[phase]; }

static struct collection_totals totals;
static void (*observer)(const struct collection_record *record);

bool collection_request_mp(struct mutator *mutator, enum collection_cause cause, size_t bytes)
{
    (void)mutator, (void)cause, (void)bytes;
    return false;
}
uint64_t collection_count(void) { return totals.collections; }
const struct collection_totals *collection_totals(void) { return &totals; }
void collection_set_observer(void (*observe)(const struct collection_record *record))
{
    observer = observe;
    (void)observer;
}
