/* log.c -- the outputs of the log: which take a line, and writing it whole.
 *
 *   field                          writer                 readers
 *   log_thresholds[]               log_configure, _close  any thread, relaxed (log.h)
 *   outputs[], count, text, line   under lock             under lock
 *   started_ns, started_wall_ns    log_start              threads started after it
 *   any_failed                     under lock             any thread, relaxed
 *   forbidden                      its thread             its thread
 *
 * Lines go out by write(2), not through stdio, so that nothing is lost in a crash
 * and a line is one write.  For stdout and stderr the stream is locked and flushed
 * first: a table that the program prints there keeps its place.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log_priv.h"

#include "base/insist.h"
#include "base/lock.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TEXT_BYTES = 16 << 10,
    PREFIX_BYTES = 1024,
    OUTPUTS_MOST = 10, /* arbitrary: more than anybody types */
    OUTPUT_STDOUT = 0,
    OUTPUT_STDERR = 1,
    OUTPUT_FIRST_FILE = 2
};

struct output {
    char *name; /* "stdout", "stderr", or an owned path */
    int fd;
    unsigned decorators;
    bool folds_lines, failed;
    int dialect; /* as in log_request */
    int threshold[LOG_TAGS_COUNT];
    int padding[LOG_DECORATOR_COUNT];
    /* Rotation; filecount 0 = none. */
    uint32_t filecount, next_number;
    uint64_t filesize, bytes; /* bytes: in the file */
    bool cannot_rotate;       /* said */
};

static struct lock lock = LOCK_INITIALIZER(LOG);
static char text[TEXT_BYTES], line[PREFIX_BYTES + 2 * TEXT_BYTES];

#define ALL_SETS(level)                                                                            \
    {                                                                                              \
        [0 ... LOG_TAGS_COUNT - 1] = (level)                                                       \
    }
static struct output outputs[OUTPUTS_MOST] = {
    [OUTPUT_STDOUT] = { .name = (char *)"stdout",
                        .fd = STDOUT_FILENO,
                        .decorators = LOG_DECORATORS_DEFAULT,
                        .dialect = -1,
                        .threshold = ALL_SETS(LOG_LEVEL_WARNING) },
    [OUTPUT_STDERR] = { .name = (char *)"stderr",
                        .fd = STDERR_FILENO,
                        .decorators = LOG_DECORATORS_DEFAULT,
                        .dialect = -1,
                        .threshold = ALL_SETS(LOG_LEVEL_OFF) },
};
static int output_count = OUTPUT_FIRST_FILE;

_Atomic int log_thresholds[LOG_TAGS_COUNT] = ALL_SETS(LOG_LEVEL_WARNING);
_Atomic int log_dialect_thresholds[LOG_DIALECTS][LOG_TAGS_COUNT] = {
    [0 ... XLOG_DIALECT_25 - 1] = ALL_SETS(LOG_LEVEL_OFF),
    [XLOG_DIALECT_25] = ALL_SETS(LOG_LEVEL_WARNING), /* stdout, until the flags say otherwise */
};

static enum xlog_dialect common_dialect = XLOG_DIALECT_25; /* before other threads start */
static uint64_t started_ns, started_wall_ns;
static _Atomic bool any_failed;
static _Thread_local bool forbidden;

void log_forbid(bool is_forbidden) { forbidden = is_forbidden; }

void log_start(uint64_t start_ns)
{
    uint64_t now_ns = os_now_ns(), ago_ns = now_ns > start_ns ? now_ns - start_ns : 0;
    started_ns = start_ns;
    started_wall_ns = log_wall_ns() - ago_ns;
}

/* --- writing --------------------------------------------------------------------------- */

/* Said once per output; lines after it are still tried, the disk may get room. */
static void note_failure(struct output *o, int error)
{
    store_relaxed(&any_failed, true); /* a flag of its own, nothing is read through it */
    if (o->failed)
        return;
    o->failed = true;
    dprintf(STDERR_FILENO, "stillpoint: log output %s: %s; lines are lost\n", o->name,
            strerror(error));
}

static void write_all(struct output *o, size_t bytes)
{
    FILE *stream = o->fd == STDOUT_FILENO ? stdout : o->fd == STDERR_FILENO ? stderr : NULL;
    if (stream) {
        flockfile(stream);
        fflush(stream);
    }
    for (size_t done = 0; done < bytes;) {
        ssize_t n = write(o->fd, line + done, bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            note_failure(o, errno);
            break;
        }
        done += (size_t)n;
    }
    o->bytes += bytes;
    if (stream)
        funlockfile(stream);
}

/* --- rotation ------------------------------------------------------------------------ */

static void say_cannot_rotate(struct output *o, int error)
{
    if (!o->cannot_rotate)
        dprintf(STDERR_FILENO, "stillpoint: log output %s: cannot rotate: %s; it grows on\n",
                o->name, strerror(error));
    o->cannot_rotate = true;
}

static int open_log(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
}

/* The full file becomes old, and a new one takes its name; without, all goes on in the full one. */
static void rotate(struct output *o)
{
    char old[LOG_OUTPUT_NAME_BYTES + 80];
    log_rotated_name(o->name, o->next_number, o->filecount, old, sizeof old);
    if (rename(o->name, old) != 0) {
        say_cannot_rotate(o, errno);
        return;
    }
    int fd = open_log(o->name);
    if (fd < 0) {
        int error = errno;
        rename(old, o->name); /* as it was */
        say_cannot_rotate(o, error);
        return;
    }
    if (close(o->fd) != 0)
        note_failure(o, errno);
    o->fd = fd;
    o->bytes = 0;
    o->next_number = (o->next_number + 1) % o->filecount;
}

void log_reopen(void)
{
    lock_acquire(&lock);
    for (int i = OUTPUT_FIRST_FILE; i < output_count; i++) {
        struct output *o = &outputs[i];
        int fd = o->filecount ? open(o->name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
        if (fd < 0)
            continue; /* it does not rotate, or is lost: what is inherited has to do */
        off_t size = lseek(fd, 0, SEEK_END);
        close(o->fd);
        o->fd = fd;
        o->bytes = size > 0 ? (uint64_t)size : 0;
        o->next_number = log_rotation_first(o->name, o->filecount);
    }
    lock_release(&lock);
}

static bool is_full(const struct output *o)
{
    return o->filecount && o->filesize && o->bytes >= o->filesize && !o->cannot_rotate;
}

/* Appends the message; folded, a line break becomes \n and a backslash \\, as HotSpot's. */
static size_t append_message(const struct output *o, size_t used)
{
    for (const char *c = text; *c; c++) {
        bool is_folded = o->folds_lines && (*c == '\n' || *c == '\\');
        if (is_folded)
            line[used++] = '\\';
        line[used++] = is_folded && *c == '\n' ? 'n' : *c;
    }
    return used;
}

static int dialect_of(const struct output *o)
{
    return o->dialect >= 0 ? o->dialect : (int)common_dialect;
}

/* dialect: of the outputs that take it, -1 = all. */
static void write_line(const struct log_moment *moment, int dialect)
{
    for (int i = 0; i < output_count; i++) {
        struct output *o = &outputs[i];
        if ((int)moment->level < o->threshold[moment->tags] ||
            (dialect >= 0 && dialect_of(o) != dialect))
            continue;
        size_t used = log_decorate(moment, o->decorators, o->padding, line, PREFIX_BYTES);
        used = append_message(o, used);
        line[used++] = '\n';
        write_all(o, used);
        if (is_full(o))
            rotate(o);
    }
}

static void log_line_va(int dialect, uint64_t event_ns, enum log_tags tags, enum log_level level,
                        const char *format, va_list ap)
{
    uint64_t now_ns = os_now_ns();
    struct log_moment moment = {
        .event_ns = event_ns,
        .uptime_ns = started_ns && event_ns > started_ns ? event_ns - started_ns : 0,
        .wall_ns = log_wall_ns() - (now_ns > event_ns ? now_ns - event_ns : 0),
        .tags = tags,
        .level = level,
    };
    int error = errno;
    lock_acquire(&lock);
    if (vsnprintf(text, sizeof text, format, ap) >= (int)sizeof text)
        memcpy(text + sizeof text - sizeof "...", "...", sizeof "...");
    write_line(&moment, dialect);
    lock_release(&lock);
    errno = error;
}

void log_line(enum log_tags tags, enum log_level level, const char *format, ...)
{
    va_list ap;
    INSIST(!forbidden, "a log line inside a stop: %s", format);
    if (!log_is_on(tags, level))
        return;
    va_start(ap, format);
    log_line_va(-1, os_now_ns(), tags, level, format, ap);
    va_end(ap);
}

void log_line_at(uint64_t event_ns, enum log_tags tags, enum log_level level, const char *format,
                 ...)
{
    va_list ap;
    INSIST(!forbidden, "a log line inside a stop: %s", format);
    if (!log_is_on(tags, level))
        return;
    va_start(ap, format);
    log_line_va(-1, event_ns, tags, level, format, ap);
    va_end(ap);
}

void log_line_of(enum xlog_dialect dialect, uint64_t event_ns, enum log_tags tags,
                 enum log_level level, const char *format, ...)
{
    va_list ap;
    INSIST(!forbidden, "a log line inside a stop: %s", format);
    if (!log_dialect_is_on(dialect, tags, level))
        return;
    va_start(ap, format);
    log_line_va((int)dialect, event_ns, tags, level, format, ap);
    va_end(ap);
}

void log_flush(void)
{
    lock_acquire(&lock); /* a line that was begun holds it until it is written */
    lock_release(&lock);
}

bool log_has_failed(void) { return load_relaxed(&any_failed); /* see note_failure() */ }

/* --- configuration ----------------------------------------------------------------------- */

/* Of the outputs of a dialect, -1 = of all. */
static int lowest_threshold(int set, int dialect)
{
    int lowest = LOG_LEVEL_OFF;
    for (int i = 0; i < output_count; i++)
        if (outputs[i].threshold[set] < lowest &&
            (dialect < 0 || dialect_of(&outputs[i]) == dialect))
            lowest = outputs[i].threshold[set];
    return lowest;
}

/* log_is_on() says why relaxed is enough. */
static void publish_thresholds(void)
{
    for (int s = 0; s < LOG_TAGS_COUNT; s++) {
        store_relaxed(&log_thresholds[s], lowest_threshold(s, -1));
        for (int d = 0; d < LOG_DIALECTS; d++)
            store_relaxed(&log_dialect_thresholds[d][s], lowest_threshold(s, d));
    }
}

void log_take_dialect(void)
{
    lock_acquire(&lock);
    common_dialect = flags->xlog_dialect;
    publish_thresholds();
    lock_release(&lock);
}

/* The first %p becomes the process, the first %t the start time, as HotSpot does. */
static void expand_name(const char *name, char *path_out, size_t bytes)
{
    const char *process = strstr(name, "%p"), *start = strstr(name, "%t");
    char stamp[32];
    size_t used = 0;
    log_file_stamp(started_wall_ns ? started_wall_ns : log_wall_ns(), stamp, sizeof stamp);
    path_out[0] = '\0';
    for (const char *c = name; *c && used < bytes; c++) {
        if (c == process)
            used += (size_t)snprintf(path_out + used, bytes - used, "%d", os_pid());
        else if (c == start)
            used += (size_t)snprintf(path_out + used, bytes - used, "%s", stamp);
        else
            used += (size_t)snprintf(path_out + used, bytes - used, "%c", *c);
        c += c == process || c == start;
    }
}

/* What an earlier run left under the name becomes an old file; nothing of it is lost.  Returns
 * the number of the next one; old_out: its name now, "" when there was none. */
static uint32_t put_away(const char *path, uint32_t filecount, char *old_out, size_t bytes)
{
    old_out[0] = '\0';
    if (filecount == 0)
        return 0;
    uint32_t number = log_rotation_first(path, filecount);
    log_rotated_name(path, number, filecount, old_out, bytes);
    if (rename(path, old_out) == 0)
        return (number + 1) % filecount;
    old_out[0] = '\0';
    return number;
}

/* Appends to the table of outputs; nothing is left behind on failure. */
static enum err open_file(const char *path, const struct log_request *request,
                          struct output **output_out, struct log_error *error_out)
{
    if (output_count == OUTPUTS_MOST) {
        log_error_set(error_out, "-Xlog: more than %d files", OUTPUTS_MOST - OUTPUT_FIRST_FILE);
        return ERR_BAD_FLAG;
    }
    uint32_t filecount = os_is_special_file(path) ? 0 : request->filecount;
    char old[LOG_OUTPUT_NAME_BYTES + 80], *name = strdup(path);
    uint32_t next_number = put_away(path, name ? filecount : 0, old, sizeof old);
    int fd = name ? open_log(path) : -1;
    if (fd < 0) {
        log_error_set(error_out, "-Xlog: cannot open %s: %s", path, strerror(errno));
        if (old[0])
            rename(old, path); /* as it was */
        free(name);
        return ERR_BAD_FILE;
    }
    struct output *o = &outputs[output_count++];
    *o = (struct output){ .name = name,
                          .fd = fd,
                          .dialect = -1,
                          .threshold = ALL_SETS(LOG_LEVEL_OFF),
                          .filecount = filecount,
                          .next_number = next_number,
                          .filesize = request->filesize };
    *output_out = o;
    return ERR_OK;
}

static enum err find_output(const struct log_request *request, struct output **output_out,
                            struct log_error *error_out)
{
    char path[LOG_OUTPUT_NAME_BYTES + 64];
    if (!request->is_file) {
        *output_out =
            &outputs[strcmp(request->output, "stderr") == 0 ? OUTPUT_STDERR : OUTPUT_STDOUT];
        return ERR_OK;
    }
    expand_name(request->output, path, sizeof path);
    for (int i = OUTPUT_FIRST_FILE; i < output_count; i++)
        if (strcmp(outputs[i].name, path) == 0) {
            *output_out = &outputs[i];
            return ERR_OK;
        }
    return open_file(path, request, output_out, error_out);
}

enum err log_option_file(const char *argument, char *path_out, size_t bytes,
                         struct log_error *error_out)
{
    struct log_request request;
    enum err err = log_option_read(argument, &request, error_out);
    if (err != ERR_OK)
        return err;
    path_out[0] = '\0';
    if (request.kind == LOG_REQUEST_APPLY && request.is_file)
        expand_name(request.output, path_out, bytes);
    return ERR_OK;
}

/* The last selection that matches a set decides; sets that none matches stay. */
static void apply_selections(const struct log_request *request, struct output *o)
{
    for (int i = 0; i < request->selection_count; i++) {
        int matched = 0;
        for (int s = 0; s < LOG_TAGS_COUNT; s++)
            if (log_selection_matches(&request->selections[i], (enum log_tags)s)) {
                o->threshold[s] = request->selections[i].level;
                matched++;
            }
        if (!matched)
            dprintf(STDERR_FILENO,
                    "stillpoint: -Xlog: '%s' matches no line of this version; -Xlog:help lists "
                    "the tag sets\n",
                    request->selections[i].typed);
    }
}

static void set_all_off(void)
{
    for (int i = 0; i < output_count; i++)
        for (int s = 0; s < LOG_TAGS_COUNT; s++)
            outputs[i].threshold[s] = LOG_LEVEL_OFF;
}

enum err log_configure(const char *argument, struct log_error *error_out)
{
    struct log_request request;
    struct output *o = NULL;
    enum err err = log_option_read(argument, &request, error_out);
    if (err != ERR_OK || request.kind == LOG_REQUEST_HELP)
        return err;
    lock_acquire(&lock);
    if (request.kind == LOG_REQUEST_DISABLE)
        set_all_off();
    else
        err = find_output(&request, &o, error_out);
    if (o) {
        o->decorators = request.decorators;
        o->folds_lines = request.folds_lines;
        o->dialect = request.dialect;
        apply_selections(&request, o);
    }
    publish_thresholds();
    lock_release(&lock);
    return err;
}

void log_close(void)
{
    lock_acquire(&lock);
    for (int i = OUTPUT_FIRST_FILE; i < output_count; i++) {
        if (close(outputs[i].fd) != 0)
            note_failure(&outputs[i], errno);
        free(outputs[i].name);
    }
    output_count = OUTPUT_FIRST_FILE;
    set_all_off();
    for (int i = 0; i < OUTPUT_FIRST_FILE; i++) {
        outputs[i].decorators = LOG_DECORATORS_DEFAULT;
        outputs[i].folds_lines = outputs[i].failed = false;
        outputs[i].dialect = -1;
        memset(outputs[i].padding, 0, sizeof outputs[i].padding);
    }
    for (int s = 0; s < LOG_TAGS_COUNT; s++)
        outputs[OUTPUT_STDOUT].threshold[s] = LOG_LEVEL_WARNING;
    publish_thresholds();
    lock_release(&lock);
}
