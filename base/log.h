/* log.h -- log lines in the form of HotSpot's unified logging (-Xlog).
 *
 * Read next: log_line_at() in log.c, then log_option.c (the grammar of -Xlog).
 * Layer:     base/.
 *
 * Promises
 *   P1  A line is whole: one write per line and output, under one lock.
 *   P2  A refused -Xlog changes nothing and leaves no file behind.
 *   P3  A line that is off costs one relaxed load and a branch.
 *   P4  Nothing is buffered here: when log_line() returns, the system has the line.
 * Asks of callers
 *   C1  No line inside a stop; checked for the operation.  [INSIST, log_forbid]
 *   C2  log_start() first, log_configure() before other threads start.
 *   C3  No line while flockfile() holds stdout or stderr: the log takes its own lock
 *       first and the stream's second.
 *
 * Who may call:  [start] the only thread, before others start   [any] any thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/atomics.h"
#include "base/err.h"
#include "base/flags.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum log_tags {
#define LOG_TAG_SET(name, text) LOG_TAGS_##name,
#include "base/log_tags.def"
    LOG_TAGS_COUNT
};

enum log_level {
    LOG_LEVEL_TRACE,
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_INFO,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_ERROR,
    LOG_LEVEL_OFF, /* a threshold no line reaches; not the level of a line */
};

/* Per tag set the lowest level that some output takes.  Written by log_configure(),
 * read by everybody. */
extern _Atomic int log_thresholds[LOG_TAGS_COUNT];

/* [any] Relaxed: a stale threshold only prints or loses a line next to the change
 * of configuration; the outputs themselves are read under the lock. */
static inline bool log_is_on(enum log_tags tags, enum log_level level)
{
    return __builtin_expect((int)level >= load_relaxed(&log_thresholds[tags]), 0);
}

/* [any, outside stops] Writes one line to every output that takes it; checks
 * log_is_on() itself.  Text without a final newline; cut at 16 KiB,
 * then it ends in "...". */
void log_line(enum log_tags tags, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for something that happened at event_ns, in the time of os_now_ns();
 * before log_start() counts as 0. */
void log_line_at(uint64_t event_ns, enum log_tags tags, enum log_level level, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

/* Some lines have another form in another release of the JDK.  Each output has a dialect,
 * its own or that of -XX:XlogDialect; who writes such a line writes it once per dialect that
 * some output takes. */
#define LOG_DIALECTS (XLOG_DIALECT_25 + 1)

extern _Atomic int log_dialect_thresholds[LOG_DIALECTS][LOG_TAGS_COUNT];

/* [any] Relaxed, as log_is_on(). */
static inline bool log_dialect_is_on(enum xlog_dialect dialect, enum log_tags tags,
                                     enum log_level level)
{
    return __builtin_expect((int)level >= load_relaxed(&log_dialect_thresholds[dialect][tags]), 0);
}

/* [any, outside stops] log_line_at(), to the outputs of that dialect only. */
void log_line_of(enum xlog_dialect dialect, uint64_t event_ns, enum log_tags tags,
                 enum log_level level, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* [start] After the flags: outputs without a dialect of their own have that of the flag. */
void log_take_dialect(void);

/* [self] Between true and false a log line of this thread is a bug and aborts. */
void log_forbid(bool forbidden);

/* [start] Uptime 0, in the time of os_now_ns(); the configuration is then HotSpot's
 * without options: everything from warning up to stdout. */
void log_start(uint64_t start_ns);

/* One line for the user, without a final newline and without control characters. */
struct log_error {
    char message[512];
};

/* [any] True for -Xlog and -Xlog:..., well-formed or not. */
bool log_is_option(const char *argument);
/* [any] True for -Xlog:help, which log_configure() takes and which changes nothing:
 * print the help and exit 0. */
bool log_is_help(const char *argument);
void log_print_help(FILE *out);

/* [start] Reads one -Xlog argument and changes nothing: path_out becomes the file that
 * log_configure() would open, "" = none.  ERR_BAD_FLAG: exit 64 with the message. */
MUST_USE enum err log_option_file(const char *argument, char *path_out, size_t bytes,
                                  struct log_error *error_out);

/* [start] Takes one -Xlog argument; later ones override earlier ones.  A file is
 * opened, and emptied, at once.  ERR_BAD_FLAG: exit 64; ERR_BAD_FILE: exit 74; both
 * with error_out->message. */
MUST_USE enum err log_configure(const char *argument, struct log_error *error_out);

/* [start, in a new child] Files that rotate are opened by name once more: another child may have
 * put away the one that this process inherits. */
void log_reopen(void);

/* [any] When it returns, every line begun before is written. */
void log_flush(void);
/* [any] True once a write failed; that was said on stderr, once per output. */
bool log_has_failed(void);
/* [start, or after all other threads ended] Closes the files; the configuration is
 * as after log_start(). */
void log_close(void);

#endif
