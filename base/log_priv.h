/* log_priv.h -- what the three files of the log share.
 *
 * Layer: base/.  log_option.c reads -Xlog into a log_request and touches nothing
 * else; log.c owns the outputs and applies requests; log_decorate.c prints the
 * decorations of a line.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_LOG_PRIV_H
#define BASE_LOG_PRIV_H

#include "base/log.h"

#include <stddef.h>

/* In the order in which they are printed: name, abbreviation. */
#define LOG_DECORATOR_LIST(X)                                                                      \
    X(TIME, "time", "t")                                                                           \
    X(UTCTIME, "utctime", "utc")                                                                   \
    X(UPTIME, "uptime", "u")                                                                       \
    X(TIMEMILLIS, "timemillis", "tm")                                                              \
    X(UPTIMEMILLIS, "uptimemillis", "um")                                                          \
    X(TIMENANOS, "timenanos", "tn")                                                                \
    X(UPTIMENANOS, "uptimenanos", "un")                                                            \
    X(HOSTNAME, "hostname", "hn")                                                                  \
    X(PID, "pid", "p")                                                                             \
    X(TID, "tid", "ti")                                                                            \
    X(LEVEL, "level", "l")                                                                         \
    X(TAGS, "tags", "tg")

enum log_decorator {
#define X(name, word, abbreviation) LOG_DECORATOR_##name,
    LOG_DECORATOR_LIST(X)
#undef X
        LOG_DECORATOR_COUNT
};

#define LOG_DECORATOR_BIT(name) (1u << LOG_DECORATOR_##name)
#define LOG_DECORATORS_DEFAULT                                                                     \
    (LOG_DECORATOR_BIT(UPTIME) | LOG_DECORATOR_BIT(LEVEL) | LOG_DECORATOR_BIT(TAGS))

extern const char *const log_level_words[LOG_LEVEL_OFF + 1];

/* --- log_option.c ------------------------------------------------------------ */

enum { LOG_SELECTIONS_MOST = 32, LOG_OUTPUT_NAME_BYTES = 1024 };

struct log_selection {
    uint64_t tags; /* one bit per LOG_TAG row; 0 and wildcard: all */
    bool wildcard; /* at least these tags, else exactly these */
    enum log_level level;
    char typed[64]; /* for messages; may be cut */
};

struct log_request {
    enum { LOG_REQUEST_APPLY, LOG_REQUEST_DISABLE, LOG_REQUEST_HELP } kind;
    int selection_count;
    struct log_selection selections[LOG_SELECTIONS_MOST];
    char output[LOG_OUTPUT_NAME_BYTES]; /* "stdout", "stderr", or a file's name with %p and %t */
    bool is_file;
    unsigned decorators;
    bool folds_lines;
    int dialect;        /* enum xlog_dialect, -1 = that of the flag */
    uint32_t filecount; /* rotation: how many old files are kept, 0 = none: no rotation */
    uint64_t filesize;  /* ... and from which size on a file is old, 0 = never */
    bool has_filecount, has_filesize; /* typed */
};

/* As HotSpot's, where only one of the two is given; without either there is no rotation. */
#define LOG_DEFAULT_FILECOUNT 5
#define LOG_DEFAULT_FILESIZE  (UINT64_C(20) << 20)
#define LOG_MOST_FILECOUNT    1000

/* Reads one argument; ERR_BAD_FLAG with a message, else *request_out is filled. */
MUST_USE enum err log_option_read(const char *argument, struct log_request *request_out,
                                  struct log_error *error_out);
/* Whether a selection matches a tag set. */
bool log_selection_matches(const struct log_selection *selection, enum log_tags tags);
/* The text of a tag set, as it is printed. */
const char *log_tags_text(enum log_tags tags);
void log_error_set(struct log_error *error_out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- log_rotate.c ----------------------------------------------------------------- */

/* The name of old file number of filecount, "stop.log.3": as many digits as the last has. */
void log_rotated_name(const char *path, uint32_t number, uint32_t filecount, char *name_out,
                      size_t bytes);
/* Which number an existing file gets at the start: the first that is free, else the one whose
 * file is the oldest. */
uint32_t log_rotation_first(const char *path, uint32_t filecount);

/* --- log_decorate.c ------------------------------------------------------------ */

/* What the decorations of one line are made from; the same on all outputs. */
struct log_moment {
    uint64_t event_ns, uptime_ns; /* os_now_ns() time; since log_start() */
    uint64_t wall_ns;             /* since 1970 */
    enum log_tags tags;
    enum log_level level;
};

/* Writes "[...][...] " for the decorators asked for, "" for none.  padding holds the
 * longest text so far of each decorator on this output and grows.  Returns bytes. */
size_t log_decorate(const struct log_moment *moment, unsigned decorators,
                    int padding[LOG_DECORATOR_COUNT], char *text_out, size_t bytes);
uint64_t log_wall_ns(void);
/* "2026-12-01_02-30-25", local time: what %t in a file's name becomes. */
void log_file_stamp(uint64_t wall_ns, char *text_out, size_t bytes);

#endif
