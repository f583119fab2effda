/* interp_priv.h -- the slow halves of instructions.
 *
 * Layer: vm/, for interp*.c.
 *
 * All of them: [self, GUEST], frame->pc set; slots are guest registers; false or CALLED_FAILED
 * means that a guest error is recorded.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_INTERP_PRIV_H
#define VM_INTERP_PRIV_H

#include "vm/guest_thread.h"
#include "vm/string.h"

enum called {
    CALLED_FAILED,
    CALLED_DONE,  /* the result is in window[0] */
    CALLED_FRAME, /* thread->frame is the callee's */
};

/* Once per process, before the first run. */
bool interp_slow_start(void);

enum called call_value_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
/* The new frame for a call of closure, whose function's arity is not checked yet. */
enum called push_frame(struct guest_thread *thread, value_t closure, value_t *window,
                       uint32_t argument_count);
enum called invoke_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count,
                      struct site *site);
enum called super_invoke(struct guest_thread *thread, value_t *window, uint32_t argument_count,
                         struct site *site);

bool get_property_mp(struct guest_thread *thread, value_t *target, const value_t *object,
                     struct site *site);
bool set_property_mp(struct guest_thread *thread, const value_t *object, struct site *site,
                     const value_t *value);
bool get_super_mp(struct guest_thread *thread, value_t *target, const value_t *superclass,
                  struct site *site);

bool add_slow_mp(struct guest_thread *thread, value_t *target, const value_t *left,
                 const value_t *right);
bool new_cell_mp(struct guest_thread *thread, value_t *target, const value_t *value);
bool new_closure_mp(struct guest_thread *thread, value_t *target, struct function *function);
/* A global was ABSENT. */
bool fail_undefined_global(struct guest_thread *thread, uint32_t index);

/* The end of the strip that begins at counter: -XX:LoopStripMiningIter steps further, but at
 * most limit; counter itself, so that each iteration polls, when steps lead nowhere. */
value_t strip_end(double counter, value_t step, double limit);

/* What a counted loop that may run for long says in `doing`, so that a report of a stop can name
 * it: at its first jump back when it has no polls, after its first strip when it has strips.
 * frame->pc is set.  limit: what it counts up to.  Nested loops have one mark: the inner one's
 * end takes it away, the outer one's next jump or strip puts it back. */
void counted_loop_begins(struct guest_thread *thread, bool has_strips, double limit);
static inline void counted_loop_strip(struct guest_thread *thread, double counter, double limit)
{
    if (!thread->is_in_counted_loop)
        counted_loop_begins(thread, true, limit);
    doing_progress(thread->doing, counter >= 0 && counter < 0x1p63 ? (uint64_t)counter : 0);
}
void counted_loop_end_slow(struct guest_thread *thread);
static inline void counted_loop_ends(struct guest_thread *thread)
{
    if (__builtin_expect(thread->is_in_counted_loop, 0))
        counted_loop_end_slow(thread);
}

/* As the language compares: numbers by value, strings by their bytes. */
static inline bool values_equal(value_t x, value_t y)
{
    if (value_is_number(x) && value_is_number(y))
        return value_as_double(x) == value_as_double(y);
    if (x == y)
        return true;
    return value_is_kind(x, OBJECT_STRING) && value_is_kind(y, OBJECT_STRING) &&
           string_equals(value_as_object(x), value_as_object(y));
}

#endif
