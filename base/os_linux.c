/* os_linux.c -- the contract of os.h on Linux.
 *
 * The only file of the project that includes <sys/...> or <linux/...>.  Thin on
 * purpose: one call each, results as os.h says, any errno that the contract does
 * not name is a bug and aborts.
 *
 * SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/os.h"

#include "base/insist.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };
}

void os_sleep_until_ns(uint64_t deadline_ns)
{
    struct timespec t = to_timespec(deadline_ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

void os_sleep_ns(uint64_t ns)
{
    struct timespec t = to_timespec(ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
        ;
}

void os_set_timer_slack_ns(uint64_t ns) { prctl(PR_SET_TIMERSLACK, (unsigned long)ns, 0, 0, 0); }

/* The kernel's struct sched_attr, first version; libc has none. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

bool os_set_time_slice_ns(uint64_t ns)
{
    struct scheduling s;
    memset(&s, 0, sizeof s);
    if (syscall(SYS_sched_getattr, 0, &s, sizeof s, 0) != 0 || s.policy != SCHED_OTHER)
        return false;
    s.size = sizeof s;
    s.runtime = ns;
    return syscall(SYS_sched_setattr, 0, &s, 0) == 0;
}

int os_cpu(void) { return sched_getcpu(); }

/* glibc 2.35 and later register the thread's restartable-sequences area. */
const volatile uint32_t *os_cpu_word(void)
{
#ifdef RSEQ_SIG
    if (__rseq_size > 0) {
        const char *area = (const char *)__builtin_thread_pointer() + __rseq_offset;
        return &((const struct rseq *)(const void *)area)->cpu_id;
    }
#endif
    return NULL;
}

void os_leave_cpu(int cpu)
{
    cpu_set_t allowed, others;
    if (cpu < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    others = allowed;
    CPU_CLR(cpu, &others);
    if (CPU_COUNT(&others) == 0)
        return;
    sched_setaffinity(0, sizeof others, &others); /* migrates at once */
    sched_setaffinity(0, sizeof allowed, &allowed);
}

bool os_stay_on_cpu(int cpu)
{
    cpu_set_t allowed, one;
    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0 ||
        !CPU_ISSET(cpu, &allowed))
        return false;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

/* FUTEX_WAIT_BITSET takes an absolute deadline; FUTEX_WAKE_BITSET a mask. */
enum os_futex_result os_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns,
                                   uint32_t mask)
{
    struct timespec deadline, *limit = NULL;
    if (timeout_ns != OS_FUTEX_FOREVER) {
        deadline = to_timespec(os_now_ns() + timeout_ns);
        limit = &deadline;
    }
    long r = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, limit, NULL,
                     mask);
    if (r == 0)
        return OS_FUTEX_WOKEN;
    int error = errno;
    if (error == EAGAIN)
        return OS_FUTEX_CHANGED;
    if (error == ETIMEDOUT)
        return OS_FUTEX_TIMED_OUT;
    INSIST(error == EINTR, "FUTEX_WAIT_BITSET: %s", strerror(error));
    return OS_FUTEX_INTERRUPTED;
}

int os_futex_wake(_Atomic uint32_t *word, int count, uint32_t mask)
{
    long r =
        syscall(SYS_futex, word, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, count, NULL, NULL, mask);
    INSIST(r >= 0, "FUTEX_WAKE_BITSET: %s", strerror(errno));
    return (int)r;
}

int os_tid(void) { return (int)syscall(SYS_gettid); }
int os_pid(void) { return (int)getpid(); }

bool os_signal_thread(int tid, int signal_number)
{
    return syscall(SYS_tgkill, getpid(), tid, signal_number) == 0;
}

void os_set_thread_name(const char *name)
{
    char cut[16];
    snprintf(cut, sizeof cut, "%.15s", name);
    prctl(PR_SET_NAME, cut, 0, 0, 0);
}

void os_die_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

bool os_wait_child(int pid, uint64_t timeout_ns, int *status_out)
{
    uint64_t deadline = os_now_ns() + timeout_ns;
    for (;;) {
        int status;
        pid_t r = waitpid(pid, &status, WNOHANG);
        if (r < 0 && errno == ECHILD) { /* collected by an inherited SIGCHLD = ignore */
            *status_out = -1;
            return true;
        }
        INSIST(r >= 0 || errno == EINTR, "waitpid(%d): %s", pid, strerror(errno));
        if (r == pid) {
            *status_out = WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
            return true;
        }
        if (os_now_ns() >= deadline)
            return false;
        os_sleep_ns(1000000); /* a child's end is not measured; 1 ms is arbitrary */
    }
}

void os_kill_child(int pid)
{
    int status;
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
}

bool os_wait_readable(int fd, uint64_t timeout_ns)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    return poll(&p, 1, (int)(timeout_ns / 1000000)) > 0;
}

int os_cpus_total(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

/* Reads a small file of the kernel's; "" when it is not there. */
static void read_text(const char *path, char *text_out, size_t bytes)
{
    text_out[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, text_out, bytes - 1);
    text_out[n > 0 ? n : 0] = '\0';
    close(fd);
}

/* The process's own cgroup directory below the v2 mount. */
static void read_cgroup_file(const char *name, char *text_out, size_t bytes)
{
    char group[512], path[600];
    read_text("/proc/self/cgroup", group, sizeof group);
    text_out[0] = '\0';
    if (strncmp(group, "0::", 3) != 0)
        return; /* cgroup v1: its limits are not read */
    group[strcspn(group, "\n")] = '\0';
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", strcmp(group + 3, "/") ? group + 3 : "",
             name);
    read_text(path, text_out, bytes);
}

int os_cpus_available(void)
{
    int cpus = os_cpus_total();
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        cpus = CPU_COUNT(&set);
    char text[64];
    long long quota, period;
    read_cgroup_file("cpu.max", text, sizeof text);
    if (sscanf(text, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0) {
        long long whole = (quota + period - 1) / period;
        if (whole < cpus)
            cpus = (int)whole;
    }
    return cpus;
}

uint64_t os_memory_bytes(void)
{
    uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * os_page_bytes();
    char text[64];
    unsigned long long limit;
    read_cgroup_file("memory.max", text, sizeof text);
    if (sscanf(text, "%llu", &limit) == 1 && limit < bytes)
        bytes = limit;
    return bytes;
}

size_t os_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

void *os_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void os_unmap(void *address, size_t bytes)
{
    int r = munmap(address, bytes);
    INSIST(r == 0, "munmap(%p, %zu): %s", address, bytes, strerror(errno));
}

#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

/* EAGAIN: locked memory is limited.  EPERM, EACCES: a filter of system calls. */
static enum err map_error(int error, void *address, size_t bytes)
{
    INSIST(error == ENOMEM || error == EAGAIN || error == EPERM || error == EACCES,
           "mmap(%p, %zu): %s", address, bytes, strerror(error));
    return error == ENOMEM || error == EAGAIN ? ERR_NO_MEMORY : ERR_SYSTEM;
}

enum err os_reserve(size_t bytes, void **address_out)
{
    void *p = mmap(NULL, bytes, PROT_NONE, RESERVED, -1, 0);
    if (p == MAP_FAILED)
        return map_error(errno, NULL, bytes);
    *address_out = p;
    return ERR_OK;
}

enum err os_commit(void *address, size_t bytes)
{
    void *p = mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                   -1, 0);
    if (p != MAP_FAILED)
        return ERR_OK;
    enum err err = map_error(errno, address, bytes);
    /* Linux may have taken the old mapping away before it said no.  Another thread's mmap
     * could then land in the hole: fill it, and leave alone what is there already. */
    p = mmap(address, bytes, PROT_NONE, RESERVED | MAP_FIXED_NOREPLACE, -1, 0);
    INSIST(p == address || p == MAP_FAILED, "mmap went to %p instead of %p", p, address);
    return err;
}

enum err os_uncommit(void *address, size_t bytes)
{
    void *p = mmap(address, bytes, PROT_NONE, RESERVED | MAP_FIXED, -1, 0);
    return p == MAP_FAILED ? map_error(errno, address, bytes) : ERR_OK;
}

void os_release(void *address, size_t bytes) { os_unmap(address, bytes); }

struct os_faults os_thread_faults(void)
{
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    return (struct os_faults){ .minor = (uint64_t)u.ru_minflt, .major = (uint64_t)u.ru_majflt };
}

bool os_protect(void *address, size_t bytes, bool is_open)
{
    return mprotect(address, bytes, is_open ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

static uint64_t ns_of(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

struct os_usage os_process_usage(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (struct os_usage){ ns_of(u.ru_utime), ns_of(u.ru_stime),
                              (uint64_t)u.ru_minflt + (uint64_t)u.ru_majflt };
}

bool os_is_special_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

bool os_file_modified_ns(const char *path, uint64_t *ns_out)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    *ns_out = (uint64_t)st.st_mtim.tv_sec * NS_PER_S + (uint64_t)st.st_mtim.tv_nsec;
    return true;
}

bool os_is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Of the folder that path is in; *name_out: what follows it. */
static bool stat_folder(const char *path, struct stat *st_out, const char **name_out)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t bytes = slash ? (size_t)(slash - path) + 1 : 0;
    *name_out = path + bytes;
    if (bytes >= sizeof folder)
        return false;
    snprintf(folder, sizeof folder, "%.*s", (int)bytes, path);
    return stat(bytes ? folder : ".", st_out) == 0;
}

bool os_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    const char *name_a, *name_b;
    bool is_there = stat(a, &of_a) == 0;
    if (is_there != (stat(b, &of_b) == 0))
        return false;
    if (is_there)
        return is_same(&of_a, &of_b);
    return stat_folder(a, &of_a, &name_a) && stat_folder(b, &of_b, &name_b) &&
           strcmp(name_a, name_b) == 0 && is_same(&of_a, &of_b);
}

static void read_cpu_model(char *model_out, size_t bytes)
{
    snprintf(model_out, bytes, "unknown");
    FILE *f = fopen("/proc/cpuinfo", "re");
    if (!f)
        return;
    char line[256];
    while (fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');
        if (value && strncmp(line, "model name", 10) == 0) {
            value[1 + strcspn(value + 1, "\n")] = '\0';
            snprintf(model_out, bytes, "%s", value + 2);
            break;
        }
    }
    fclose(f);
}

void os_describe_host(struct os_host *host_out)
{
    struct utsname u;
    memset(host_out, 0, sizeof *host_out);
    read_cpu_model(host_out->cpu_model, sizeof host_out->cpu_model);
    if (uname(&u) == 0) {
        snprintf(host_out->kernel, sizeof host_out->kernel, "%.20s %.70s", u.sysname, u.release);
        snprintf(host_out->hostname, sizeof host_out->hostname, "%.64s", u.nodename);
        snprintf(host_out->machine, sizeof host_out->machine, "%.31s", u.machine);
    }
}

bool os_is_terminal(int fd) { return isatty(fd) == 1; }

int os_terminal_columns(int fd)
{
    struct winsize w;
    return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

bool os_program_path(char *path_out, size_t bytes)
{
    ssize_t n = readlink("/proc/self/exe", path_out, bytes - 1);
    if (n <= 0)
        return false;
    path_out[n] = '\0';
    return true;
}
