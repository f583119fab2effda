/* clean.c -- nothing to find here; f_mp() in a comment is none.  SPDX-License-Identifier: MIT */
#define POLL(p) participant_poll(p)

struct hooks {
    void (*run_mp)(int size); /* a member, no call */
};

static void poll_mp(int size);

static struct hooks hooks = { .run_mp = poll_mp };

static void *const table[] = {
    CALL(poll_mp(1)),
};

static void poll_mp(int size)
{
    participant_poll(size);
    hooks.run_mp(size);
}

static inline int one_line_mp(int size) { return allocate_mp(size); }

int quiet(int size, /* poll_mp(size) */
          void (*run_mp)(int size))
{
    log("poll_mp(%d)", size); // poll_mp(size)
    hooks.run_mp = run_mp;
    return size * participant_polls(size);
}
/* A comment of more lines, poll_mp(1) and then
int f(void)
{
    poll_mp(1);
} */
