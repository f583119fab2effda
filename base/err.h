/* err.h -- how a call reports that the world said no.
 *
 * Layer: base/.  Three channels, never mixed:
 *   - the environment failed (mmap, a file, a flag)  -> enum err, returned
 *   - a resource of the runtime ran out              -> NULL or false, normal
 *   - our own code is wrong                          -> INSIST / ASSERT, abort
 *
 * A function returning enum err either builds its *_out result completely, or
 * leaves *_out untouched and owns nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#define ERR_LIST(X)                                                                                \
    X(OK, "success")                                                                               \
    X(NO_MEMORY, "the operating system gave no memory")                                            \
    X(NO_THREAD, "the operating system gave no thread")                                            \
    X(SYSTEM, "the operating system refused a call")                                               \
    X(BAD_FLAG, "a flag has an unknown name or a value outside its range")                         \
    X(BAD_FILE, "a file cannot be opened or written")                                              \
    X(STATE, "the call does not fit the state of the runtime")

enum err {
#define X(name, text) ERR_##name,
    ERR_LIST(X)
#undef X
};

/* [any] One clause without a full stop; static storage. */
const char *err_text(enum err e);

/* Exit codes of every program of the project (DESIGN: interfaces). */
enum exit_code {
    EXIT_CODE_OK = 0,
    EXIT_CODE_USAGE = 64,       /* what was typed is wrong: flag, range, name */
    EXIT_CODE_COMPILE_ERROR = 65, /* of a guest program */
    EXIT_CODE_RUNTIME_ERROR = 70, /* of a guest program, uncaught */
    EXIT_CODE_OUT_OF_MEMORY = 71, /* a guest program's heap is full, uncaught */
    EXIT_CODE_ENVIRONMENT = 74, /* the system refused a file or a resource */
    EXIT_CODE_SELF_CHECK = 75,  /* our own numbers do not add up */
};

#define MUST_USE __attribute__((warn_unused_result))

#endif
