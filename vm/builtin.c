/* builtin.c -- see builtin.h.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/builtin.h"

#include "vm/direct.h"
#include "vm/names.h"
#include "vm/sync.h"
#include "vm/threads.h"

#include <string.h>

#define METHOD(kind, name, arity, call)                                                            \
    {                                                                                              \
        OBJECT_##kind, false, { NATIVE_HEADER, name, arity, false, call }                          \
    }
#define PROPERTY(kind, name, call)                                                                 \
    {                                                                                              \
        OBJECT_##kind, true, { NATIVE_HEADER, name, 0, false, call }                               \
    }

static struct builtin table[] = {
    METHOD(THREAD, "join", 0, threads_join_mp),
    PROPERTY(THREAD, "name", threads_name_mp),
    PROPERTY(THREAD, "number", threads_number),
    PROPERTY(THREAD, "isAlive", threads_is_alive),

    METHOD(LOCK, "acquire", 0, sync_lock_acquire_mp),
    METHOD(LOCK, "release", 0, sync_lock_release_mp),
    METHOD(LOCK, "tryAcquire", 0, sync_lock_try_acquire),

    METHOD(BARRIER, "wait", 0, sync_barrier_wait_mp),

    METHOD(DIRECT, "get", 1, direct_method_get),
    METHOD(DIRECT, "set", 2, direct_method_set),
    METHOD(DIRECT, "free", 0, direct_method_free_mp),
    PROPERTY(DIRECT, "size", direct_property_size),
    PROPERTY(DIRECT, "length", direct_property_size),
};
enum { ROWS = sizeof table / sizeof *table };

/* Interned, of each row; and where the rows of a kind begin and end. */
static struct object *names[ROWS];
static struct {
    uint8_t first, end;
} rows_of[OBJECT_KIND_COUNT];

bool builtins_start(void)
{
    for (uint8_t i = 0; i < ROWS; i++) {
        enum object_kind kind = table[i].kind;
        names[i] = names_intern(table[i].native.name, strlen(table[i].native.name));
        if (!names[i])
            return false;
        if (rows_of[kind].end == 0)
            rows_of[kind].first = i;
        rows_of[kind].end = i + 1;
    }
    return true;
}

bool builtin_kind(enum object_kind kind) { return rows_of[kind].end != 0; }

struct builtin *builtin_find(enum object_kind kind, const struct object *name)
{
    for (uint8_t i = rows_of[kind].first; i < rows_of[kind].end; i++)
        if (names[i] == name)
            return &table[i];
    return NULL;
}
