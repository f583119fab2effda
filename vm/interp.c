/* interp.c -- the interpreter: one function, one label per opcode.
 *
 * Read next: opcode.def for what each does, interp_slow.c for the uncommon cases.
 *
 * The loop keeps pc, the frame's base and its constants in C variables.  thread->frame and
 * frame->pc are brought up to date (SYNC) before anything that may poll, fail or look at
 * frames; after it nothing is read from a raw reference that was loaded before, because
 * objects may have moved; registers themselves never move.
 *
 * Each instruction ends by jumping straight to the next one's label, so that the
 * processor predicts each jump by the instruction it is in.
 *
 * Note [G] Values between threads.  Registers belong to one thread and are plain.  Globals,
 *   cells, fields and elements are stored with release and loaded with acquire: a thread that finds
 * a reference there finds the object behind it whole (gc/heap.h, C2).
 *
 * SPDX-License-Identifier: MIT */
#include "vm/interp.h"

#include "base/insist.h"
#include "gc/heap.h"
#include "vm/array.h"
#include "vm/class.h"
#include "vm/instance.h"
#include "vm/interp_priv.h"
#include "vm/print.h"
#include "vm/program.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#ifdef STILLPOINT_FUEL
_Thread_local uint64_t interp_fuel;
#define BURN()                                                                                     \
    do {                                                                                           \
        if (interp_fuel == 0) {                                                                    \
            SYNC();                                                                                \
            guest_fail_kind(thread, GUEST_ERROR_FUEL, "Out of fuel.");                             \
            goto failed;                                                                           \
        }                                                                                          \
        interp_fuel--;                                                                             \
    } while (0)
#else
#define BURN() ((void)0)
#endif

/* --- the loop's words; pc is the running instruction ---------------------------- */

#define OP(name)   L_##name:
#define DISPATCH() goto *labels[pc->op]
#define NEXT()                                                                                     \
    do {                                                                                           \
        pc++;                                                                                      \
        DISPATCH();                                                                                \
    } while (0)
#define RA   base[pc->a]
#define RB   base[pc->b]
#define RC   base[pc->c]
#define KB   constants[pc->b]
#define KC   constants[pc->c]
#define SITE (&frame->function->sites[pc->c])

#define SYNC()                                                                                     \
    do {                                                                                           \
        frame->pc = pc + 1;                                                                        \
        thread->frame = frame;                                                                     \
        doing_set_place(thread->doing, pc);                                                        \
    } while (0)
/* After thread->frame has changed. */
#define LOAD_FRAME()                                                                               \
    do {                                                                                           \
        frame = thread->frame;                                                                     \
        base = frame->base;                                                                        \
        constants = frame->function->constants;                                                    \
        pc = frame->pc;                                                                            \
    } while (0)
#define FAIL(message)                                                                              \
    do {                                                                                           \
        SYNC();                                                                                    \
        guest_fail(thread, "%s", (message));                                                       \
        goto failed;                                                                               \
    } while (0)
/* A slow half that returns false when it fails. */
#define SLOWLY(call)                                                                               \
    do {                                                                                           \
        SYNC();                                                                                    \
        if (unlikely(!(call)))                                                                     \
            goto failed;                                                                           \
    } while (0)
#define CALL_SLOWLY(call)                                                                          \
    do {                                                                                           \
        SYNC();                                                                                    \
        enum called called = (call);                                                               \
        if (unlikely(called == CALLED_FAILED))                                                     \
            goto failed;                                                                           \
        LOAD_FRAME();                                                                              \
        DISPATCH();                                                                                \
    } while (0)

#define POLL()                                                                                     \
    do {                                                                                           \
        if (unlikely(load_relaxed(poll) & 1)) { /* as participant_poll() */                        \
            SYNC();                                                                                \
            participant_poll_slow(thread->mutator.participant);                                    \
        }                                                                                          \
    } while (0)

#define JUMP(distance)                                                                             \
    do {                                                                                           \
        pc += (distance) + 1;                                                                      \
        DISPATCH();                                                                                \
    } while (0)
#define JUMP_BACK(distance)                                                                        \
    do {                                                                                           \
        BURN();                                                                                    \
        POLL();                                                                                    \
        JUMP(distance);                                                                            \
    } while (0)

#define BOTH_NUMBERS(x, y) (likely(value_is_number(x)) && likely(value_is_number(y)))

#define ARITHMETIC(name, sign, right, otherwise)                                                   \
    OP(name)                                                                                       \
    {                                                                                              \
        value_t x = RB, y = right;                                                                 \
        if (BOTH_NUMBERS(x, y)) {                                                                  \
            RA = value_of_double(value_as_double(x) sign value_as_double(y));                      \
            NEXT();                                                                                \
        }                                                                                          \
        otherwise;                                                                                 \
    }
#define NOT_NUMBERS FAIL("Operands must be numbers.")

#define COMPARE(name, sign)                                                                        \
    OP(name)                                                                                       \
    {                                                                                              \
        value_t x = RB, y = RC;                                                                    \
        if (!BOTH_NUMBERS(x, y))                                                                   \
            NOT_NUMBERS;                                                                           \
        RA = value_of_bool(value_as_double(x) sign value_as_double(y));                            \
        NEXT();                                                                                    \
    }
/* sense: jumps when the comparison holds, else when it does not. */
#define COMPARE_JUMP(name, sign, right, sense, jump)                                               \
    OP(name)                                                                                       \
    {                                                                                              \
        value_t x = RA, y = right;                                                                 \
        if (!BOTH_NUMBERS(x, y))                                                                   \
            NOT_NUMBERS;                                                                           \
        if ((value_as_double(x) sign value_as_double(y)) == (sense))                               \
            jump(instruction_jump16(*pc));                                                         \
        NEXT();                                                                                    \
    }
#define EQUAL_JUMP(name, right, sense)                                                             \
    OP(name)                                                                                       \
    {                                                                                              \
        if (values_equal(RA, right) == (sense))                                                    \
            JUMP(instruction_jump16(*pc));                                                         \
        NEXT();                                                                                    \
    }
#define JUMP_WITHOUT_POLL(distance)                                                                \
    do {                                                                                           \
        BURN();                                                                                    \
        JUMP(distance);                                                                            \
    } while (0)
/* The back edge without a poll, which makes a stop wait for the loop's end. */
#define NEXT_JUMP(name, right)                                                                     \
    OP(name)                                                                                       \
    {                                                                                              \
        value_t x = RA, y = right;                                                                 \
        if (!BOTH_NUMBERS(x, y))                                                                   \
            NOT_NUMBERS;                                                                           \
        if (likely(value_as_double(x) < value_as_double(y))) {                                     \
            if (unlikely(!thread->is_in_counted_loop)) {                                           \
                SYNC();                                                                            \
                counted_loop_begins(thread, false, 0);                                             \
            }                                                                                      \
            JUMP_WITHOUT_POLL(instruction_jump16(*pc));                                            \
        }                                                                                          \
        counted_loop_ends(thread);                                                                 \
        NEXT();                                                                                    \
    }
/* Between strips: a poll, and the next strip if the loop goes on. */
#define STRIP(name, right)                                                                         \
    OP(name)                                                                                       \
    {                                                                                              \
        value_t counter = RA, end = base[pc->a + 1], limit;                                        \
        if (BOTH_NUMBERS(counter, end) && value_as_double(counter) < value_as_double(end))         \
            JUMP_WITHOUT_POLL(instruction_jump16(*pc));                                            \
        limit = right;                                                                             \
        if (!BOTH_NUMBERS(counter, limit))                                                         \
            NOT_NUMBERS;                                                                           \
        if (!(value_as_double(counter) < value_as_double(limit))) {                                \
            counted_loop_ends(thread);                                                             \
            NEXT();                                                                                \
        }                                                                                          \
        if (value_is_number(end)) { /* a strip is over */                                          \
            SYNC();                                                                                \
            counted_loop_strip(thread, value_as_double(counter), value_as_double(limit));          \
        }                                                                                          \
        base[pc->a + 1] =                                                                          \
            strip_end(value_as_double(counter), base[pc->a + 2], value_as_double(limit));          \
        JUMP_BACK(instruction_jump16(*pc));                                                        \
    }

/* Goes on in the function of a closure whose arity fits.  The registers' soft limit is checked,
 * which the slow half raises; frames never run out before registers do (guest_thread.h). */
#define ENTER(called_closure, called_function, window)                                             \
    do {                                                                                           \
        BURN();                                                                                    \
        frame->pc = pc + 1;                                                                        \
        frame++;                                                                                   \
        base = (window);                                                                           \
        frame->base = base;                                                                        \
        frame->function = (called_function);                                                       \
        frame->closure = (called_closure);                                                         \
        constants = (called_function)->constants;                                                  \
        pc = (called_function)->code;                                                              \
        DISPATCH();                                                                                \
    } while (0)
#define MAY_ENTER(f, window, argument_count)                                                       \
    (likely((f)->arity == (argument_count)) &&                                                     \
     likely((f)->register_count <= (size_t)(thread->stack_end - (window))))
#define LEAVE(result)                                                                              \
    do {                                                                                           \
        POLL();                                                                                    \
        *base = (result); /* read after the poll: its object may have moved */                     \
        frame--;                                                                                   \
        base = frame->base;                                                                        \
        constants = frame->function->constants;                                                    \
        pc = frame->pc;                                                                            \
        DISPATCH();                                                                                \
    } while (0)

static inline struct function *function_of(const struct object *closure)
{
    return (struct function *)(uintptr_t)load_relaxed(&closure->word[0]); /* never changes */
}

/* Runs from thread->frame until HALT.  The one function that is allowed to be long. */
static bool run_mp(struct guest_thread *thread)
{
    static const void *const labels[OPCODE_COUNT] = {
#define OPCODE(name, a, b, c, flow, poll, text) [OP_##name] = &&L_##name,
#include "vm/opcode.def"
    };
    _Atomic uint32_t *const poll = ((struct participant_head *)thread->mutator.participant)->poll;
    _Atomic value_t *const globals = program_global_values(thread->program);
    struct frame *frame;
    value_t *base;
    const value_t *constants;
    const struct instruction *pc;

    LOAD_FRAME();
    DISPATCH();

    /* --- loads and variables ------------------------------------------------------ */

    OP(MOVE)
    RA = RB;
    NEXT();

    OP(LOAD_CONST)
    RA = constants[instruction_wide(*pc)];
    NEXT();

    OP(LOAD_NIL)
    RA = VALUE_NIL;
    NEXT();

    OP(LOAD_TRUE)
    RA = VALUE_TRUE;
    NEXT();

    OP(LOAD_FALSE)
    RA = VALUE_FALSE;
    NEXT();

    OP(GET_GLOBAL)
    {
        value_t value = load_acquire(&globals[instruction_wide(*pc)]); /* [G] */
        if (unlikely(value == VALUE_ABSENT))
            SLOWLY(fail_undefined_global(thread, instruction_wide(*pc)));
        RA = value;
        NEXT();
    }

    OP(SET_GLOBAL)
    {
        _Atomic value_t *global = &globals[instruction_wide(*pc)];
        if (unlikely(load_relaxed(global) == VALUE_ABSENT)) /* once defined, always */
            SLOWLY(fail_undefined_global(thread, instruction_wide(*pc)));
        store_release(global, RA); /* [G] */
        NEXT();
    }

    OP(DEFINE_GLOBAL)
    store_release(&globals[instruction_wide(*pc)], RA); /* [G] */
    NEXT();

    OP(CELL_NEW)
    SLOWLY(new_cell_mp(thread, &RA, &RB));
    NEXT();

    OP(CELL_GET)
    RA = load_acquire(&value_as_object(RB)->word[0]); /* [G] */
    NEXT();

    OP(CELL_SET)
    store_release(&value_as_object(RA)->word[0], RB); /* [G] */
    NEXT();

    OP(CAPTURE_GET)
    {
        const struct object *closure = value_as_object(frame->closure);
        const struct object *cell = value_as_object(load_relaxed(&closure->word[1 + pc->b]));
        RA = load_acquire(&cell->word[0]); /* [G] */
        NEXT();
    }

    OP(CAPTURE_SET)
    {
        const struct object *closure = value_as_object(frame->closure);
        struct object *cell = value_as_object(load_relaxed(&closure->word[1 + pc->b]));
        store_release(&cell->word[0], RA); /* [G] */
        NEXT();
    }

    OP(CLOSURE)
    SLOWLY(new_closure_mp(thread, &RA, frame->function->functions[instruction_wide(*pc)]));
    NEXT();

    /* --- arithmetic ------------------------------------------------------------------ */

    ARITHMETIC(ADD, +, RC, SLOWLY(add_slow_mp(thread, &RA, &RB, &RC)); NEXT())
    ARITHMETIC(SUB, -, RC, NOT_NUMBERS)
    ARITHMETIC(MUL, *, RC, NOT_NUMBERS)
    ARITHMETIC(DIV, /, RC, NOT_NUMBERS)
    ARITHMETIC(ADD_K, +, KC, FAIL("Operands must be two numbers or two strings."))
    ARITHMETIC(SUB_K, -, KC, NOT_NUMBERS)
    ARITHMETIC(MUL_K, *, KC, NOT_NUMBERS)
    ARITHMETIC(DIV_K, /, KC, NOT_NUMBERS)

    OP(NEGATE)
    {
        value_t x = RB;
        if (unlikely(!value_is_number(x)))
            FAIL("Operand must be a number.");
        RA = value_of_double(-value_as_double(x));
        NEXT();
    }

    OP(NOT)
    RA = value_of_bool(value_is_falsey(RB));
    NEXT();

    OP(EQUAL)
    RA = value_of_bool(values_equal(RB, RC));
    NEXT();

    OP(NOT_EQUAL)
    RA = value_of_bool(!values_equal(RB, RC));
    NEXT();

    COMPARE(LESS, <)
    COMPARE(LESS_EQUAL, <=)

    /* --- jumps -------------------------------------------------------------------------- */

    OP(JUMP)
    JUMP(instruction_jump32(*pc));

    OP(JUMP_IF_FALSE)
    if (value_is_falsey(RA))
        JUMP(instruction_jump32(*pc));
    NEXT();

    OP(JUMP_IF_TRUE)
    if (!value_is_falsey(RA))
        JUMP(instruction_jump32(*pc));
    NEXT();

    COMPARE_JUMP(JUMP_IF_LESS, <, RB, true, JUMP)
    COMPARE_JUMP(JUMP_UNLESS_LESS, <, RB, false, JUMP)
    COMPARE_JUMP(JUMP_IF_LESS_EQUAL, <=, RB, true, JUMP)
    COMPARE_JUMP(JUMP_UNLESS_LESS_EQUAL, <=, RB, false, JUMP)
    COMPARE_JUMP(JUMP_IF_LESS_K, <, KB, true, JUMP)
    COMPARE_JUMP(JUMP_UNLESS_LESS_K, <, KB, false, JUMP)
    COMPARE_JUMP(JUMP_IF_LESS_EQUAL_K, <=, KB, true, JUMP)
    COMPARE_JUMP(JUMP_UNLESS_LESS_EQUAL_K, <=, KB, false, JUMP)
    COMPARE_JUMP(JUMP_IF_GREATER_K, >, KB, true, JUMP)
    COMPARE_JUMP(JUMP_UNLESS_GREATER_K, >, KB, false, JUMP)
    COMPARE_JUMP(JUMP_IF_GREATER_EQUAL_K, >=, KB, true, JUMP)
    COMPARE_JUMP(JUMP_UNLESS_GREATER_EQUAL_K, >=, KB, false, JUMP)
    EQUAL_JUMP(JUMP_IF_EQUAL, RB, true)
    EQUAL_JUMP(JUMP_UNLESS_EQUAL, RB, false)
    EQUAL_JUMP(JUMP_IF_EQUAL_K, KB, true)
    EQUAL_JUMP(JUMP_UNLESS_EQUAL_K, KB, false)

    OP(LOOP)
    JUMP_BACK(instruction_jump32(*pc));

    COMPARE_JUMP(LOOP_IF_LESS, <, RB, true, JUMP_BACK)
    COMPARE_JUMP(LOOP_IF_LESS_EQUAL, <=, RB, true, JUMP_BACK)
    COMPARE_JUMP(LOOP_IF_LESS_K, <, KB, true, JUMP_BACK)
    COMPARE_JUMP(LOOP_IF_LESS_EQUAL_K, <=, KB, true, JUMP_BACK)
    COMPARE_JUMP(LOOP_IF_GREATER_K, >, KB, true, JUMP_BACK)
    COMPARE_JUMP(LOOP_IF_GREATER_EQUAL_K, >=, KB, true, JUMP_BACK)
    NEXT_JUMP(NEXT_IF_LESS, RB)
    NEXT_JUMP(NEXT_IF_LESS_K, KB)
    STRIP(STRIP_IF_LESS, RB)
    STRIP(STRIP_IF_LESS_K, KB)

    OP(LOOP_END)
    counted_loop_ends(thread);
    NEXT();

    /* --- calls ------------------------------------------------------------------------------ */

    OP(CALL)
    {
        value_t *window = &RA, callee = *window;
        if (likely(value_is_kind(callee, OBJECT_CLOSURE))) {
            struct function *f = function_of(value_as_object(callee));
            if (MAY_ENTER(f, window, pc->b))
                ENTER(callee, f, window);
        }
        BURN();
        CALL_SLOWLY(call_value_mp(thread, window, pc->b));
    }

    OP(INVOKE)
    {
        value_t *window = &RA, receiver = *window;
        struct site *site = SITE;
        uint64_t cache = load_relaxed(&site->cache); /* right for any content: shape.h */
        if (likely(value_is_reference(receiver)) && likely(cache_kind(cache) == CACHE_METHOD)) {
            const struct object *object = value_as_object(receiver);
            if (likely(object_header_shape(load_acquire(&object->header)) == cache_shape(cache))) {
                const struct object *class =
                    value_as_object(load_relaxed(&object->word[INSTANCE_WORD_CLASS]));
                value_t method = class_method(class, cache_slot(cache));
                struct function *f = function_of(value_as_object(method));
                if (MAY_ENTER(f, window, pc->b))
                    ENTER(method, f, window);
            }
        }
        BURN();
        CALL_SLOWLY(invoke_mp(thread, window, pc->b, site));
    }

    OP(SUPER_INVOKE)
    BURN();
    CALL_SLOWLY(super_invoke(thread, &RA, pc->b, SITE));

    OP(RETURN)
    LEAVE(RA);

    OP(RETURN_NIL)
    LEAVE(VALUE_NIL);

    OP(HALT)
    thread->frame = frame;
    return true;

    /* --- objects ------------------------------------------------------------------------------ */

    OP(GET_PROPERTY)
    {
        value_t receiver = RB;
        struct site *site = SITE;
        uint64_t cache = load_relaxed(&site->cache); /* right for any content: shape.h */
        if (likely(value_is_reference(receiver)) && likely(cache_kind(cache) == CACHE_INLINE)) {
            const struct object *object = value_as_object(receiver);
            if (likely(object_header_shape(load_acquire(&object->header)) == cache_shape(cache))) {
                value_t value = load_acquire(&object->word[cache_slot(cache)]); /* [G] */
                if (likely(value != VALUE_ABSENT)) {
                    RA = value;
                    NEXT();
                }
            }
        }
        SLOWLY(get_property_mp(thread, &RA, &RB, site));
        NEXT();
    }

    OP(SET_PROPERTY)
    {
        value_t receiver = RA;
        struct site *site = SITE;
        uint64_t cache =
            load_acquire(&site->cache); /* of an ADD its shape is read: instance.c [F] */
        if (likely(value_is_reference(receiver))) {
            struct object *object = value_as_object(receiver);
            uint64_t header = load_acquire(&object->header);
            if (likely(object_header_shape(header) == cache_shape(cache))) {
                if (likely(cache_kind(cache) == CACHE_INLINE)) {
                    store_release(&object->word[cache_slot(cache)], RB); /* [G] */
                    NEXT();
                }
                if (cache_kind(cache) == CACHE_ADD &&
                    likely(instance_add_cached(object, header, cache_slot(cache), RB)))
                    NEXT();
            }
        }
        SLOWLY(set_property_mp(thread, &RA, site, &RB));
        NEXT();
    }

    OP(GET_SUPER)
    SLOWLY(get_super_mp(thread, &RA, &RB, SITE));
    NEXT();

    OP(GET_INDEX)
    {
        value_t array = RB, index = RC;
        if (likely(value_is_kind(array, OBJECT_ARRAY)) && likely(value_is_number(index))) {
            const struct object *object = value_as_object(array);
            double wanted = value_as_double(index);
            if (likely(wanted >= 0) && likely(wanted < (double)object_length(object))) {
                uint64_t at = (uint64_t)(int64_t)wanted; /* signed: one instruction */
                if (likely((double)at == wanted)) {
                    RA = load_acquire(&object->word[1 + at]); /* [G] */
                    NEXT();
                }
            }
        }
        SYNC();
        value_t value = array_get(thread, array, index);
        if (unlikely(value == VALUE_ABSENT))
            goto failed;
        RA = value;
        NEXT();
    }

    OP(SET_INDEX)
    {
        value_t array = RA, index = RB;
        if (likely(value_is_kind(array, OBJECT_ARRAY)) && likely(value_is_number(index))) {
            struct object *object = value_as_object(array);
            double wanted = value_as_double(index);
            if (likely(wanted >= 0) && likely(wanted < (double)object_length(object))) {
                uint64_t at = (uint64_t)(int64_t)wanted; /* signed: one instruction */
                if (likely((double)at == wanted)) {
                    store_release(&object->word[1 + at], RC); /* [G] */
                    NEXT();
                }
            }
        }
        SLOWLY(array_set(thread, array, index, RC));
        NEXT();
    }

    OP(CLASS)
    {
        SYNC();
        struct object *class = class_new_mp(thread, &frame->function->classes[pc->b]);
        if (unlikely(!class))
            goto failed;
        RA = value_of_object(class);
        NEXT();
    }

    OP(INHERIT)
    SLOWLY(class_inherit_mp(thread, &RA, &RB));
    NEXT();

    OP(METHOD)
    SLOWLY(class_add_method(thread, RA, RB, value_as_object(KC)));
    NEXT();

    OP(END_CLASS)
    SLOWLY(class_freeze(thread, RA));
    NEXT();

    OP(PRINT)
    SLOWLY(print_value_mp(thread, &RA));
    NEXT();

failed:
    counted_loop_ends(thread);
    if (!guest_error_unwind_mp(thread))
        return false;
    LOAD_FRAME();
    DISPATCH();
}

bool interp_run_mp(struct guest_thread *thread, const value_t *slot)
{
    ASSERT(thread->frame == thread->frames, "a thread runs one program at a time");
    INSIST(function_of(value_as_object(*slot))->is_checked, "code that was not checked");
    *thread->stack = *slot;
    return push_frame(thread, *slot, thread->stack, 0) == CALLED_FRAME && run_mp(thread);
}

bool interp_call_mp(struct guest_thread *thread, uint32_t argument_count)
{
    ASSERT(thread->frame == thread->frames, "a thread runs one program at a time");
    switch (call_value_mp(thread, thread->stack, argument_count)) {
    case CALLED_FRAME:
        return run_mp(thread);
    case CALLED_DONE:
        return true;
    case CALLED_FAILED:
        break;
    }
    return false;
}

void interp_reset(struct guest_thread *thread) { thread->frame = thread->frames; }
