/* guest_thread.h -- one thread that runs guest code: its registers and frames.
 *
 * Read next: interp.h (who uses them), guest_error.h (what goes wrong in them).
 * Layer:     vm/.
 *
 *   stack (-Xss), in one mapping with                    frames
 *   +----------------+--------------+------+-----+      +--------+---------+-----+
 *   | script's r0..  | f's r0 r1 .. | free | nil |      | bottom | script  |  f  |
 *   +----------------+--------------+------+-----+      +--------+---------+-----+
 *                    ^ base of f's frame   ^     ^ stack_hard_end            ^ frame
 *                                          stack_end
 *
 * A call's window is the top of the caller's registers: callee or receiver, arguments; the
 * callee's register 0 is the window's first.  The bottom frame holds the HALT instruction at
 * which the interpreter ends.  Every call raises the base by one register at least, so a
 * stack of n registers never needs more than n frames and one check serves both.
 *
 * Note [S] What a register holds.  A register that the running function has not written
 *   may hold what an earlier, deeper call left there.  That is a value like any other: a
 *   collection visits all registers up to the end of the innermost frame and sets those
 *   above to nil, so whatever is found in a frame later is nil or was stored since, and the
 *   object it names has not moved since.  Frames need no map of which registers are live,
 *   and calls need not clear any.  The price: such an object may live longer than the program
 *   needs.
 *   A collection clears no further than to stack_end, a soft limit: from there to the hard end
 *   all is nil, never written or cleared since.  A call that needs more raises it, so memory
 *   that no call has needed stays untouched; a collection lowers it again, so that the next
 *   one finds little to clear.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_GUEST_THREAD_H
#define VM_GUEST_THREAD_H

#include "base/err.h"
#include "gc/mutator.h"
#include "vm/function.h"
#include "vm/guest_error.h"

#include <stddef.h>
#include <stdint.h>

struct program;
struct thread_record;

struct frame {
    const struct instruction *pc; /* where it goes on; of the innermost only at slow paths */
    value_t *base;                /* its register 0 */
    struct function *function;
    value_t closure; /* nil in the bottom frame and in those of attempt */
};

/* What a property lookup found, by shape and name; filled on a site's miss, so that a site
 * that sees many shapes need not walk them.  Owner only. */
struct lookup {
    uint32_t shape;
    const struct object *name;
    uint64_t cache; /* as in struct site */
};
#define LOOKUP_COUNT 256 /* a power of two; 6 KiB */

struct guest_thread {
    struct mutator mutator; /* first: the heap knows no more */
    struct program *program;
    struct thread_record *record; /* threads.h; it outlives this */
    struct doing *doing;          /* of its participant */
    value_t object;               /* its THREAD object, nil = nobody asked for one; a root */
    uint32_t argument_count;      /* of the call that a spawned thread begins with */
    bool owns_record;
    bool is_in_counted_loop; /* it has said so in doing, see counted_loop_begins() */
    struct function bottom;  /* of the bottom frame; its registers are the first call's window */
    struct frame *frames, *frame; /* bottom, innermost */
    value_t *stack;               /* all registers */
    value_t *stack_end;           /* soft limit, [S]: a frame beyond it makes room first */
    value_t *stack_hard_end;      /* first register behind the last */
    struct guest_error error;
    value_t spare_error; /* an error object for when the heap has no room for one; a root */
    struct lookup lookup[LOOKUP_COUNT];
    size_t mapped_bytes; /* from stack on */
};

/* [any] Registers and frames for a thread that will begin with a call of argument_count
 * arguments; NULL = no memory.  Its roots count from heap_attach() on. */
struct guest_thread *guest_thread_new(struct thread_record *record, uint32_t argument_count);
/* [self] The calling thread becomes that thread, in NATIVE.  ERR_NO_MEMORY, ERR_STATE. */
MUST_USE enum err guest_thread_adopt(struct guest_thread *thread);
/* [self] All of it for the calling thread, with a record of its own. */
MUST_USE enum err guest_thread_attach(const char *name, struct guest_thread **thread_out);
/* [self] Raises the soft limit to window + register_count or more.  False: there are not so
 * many registers. */
bool guest_thread_make_room(struct guest_thread *thread, const value_t *window,
                            uint32_t register_count);
/* [self, NATIVE, or not adopted] */
void guest_thread_detach(struct guest_thread *thread);

static inline struct participant *guest_thread_participant(struct guest_thread *thread)
{
    return thread->mutator.participant;
}

#endif
