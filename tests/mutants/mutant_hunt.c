/* mutant_hunt.c -- claims that planted faults in the stop protocol must break.
 *
 * Read next: README.md (mutants and who kills them), mutant_claims.c.
 * Built once per mutant n (MUTANT(n) in safepoint/) and once without, always with
 * SCHED_POINTs, through which each claim steers its threads into the one interleaving
 * that matters: nothing here depends on luck or on a delay being long enough.
 *
 *   mutant_hunt --expect-clean       all claims hold; exit 1 when one does not
 *   mutant_hunt --expect-killed      at least one claim breaks, among them the one
 *                                    that was written for this mutant; else exit 1
 *   mutant_hunt --list | CLAIM       the claims; one claim in this process
 *
 * Each claim runs in a child process with a time limit.  It is broken when the child
 * says so, aborts (a check inside the protocol), or hangs.
 *
 * SPDX-License-Identifier: MIT */
#include "base/os.h"
#include "tests/mutants/mutant_steer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef STILLPOINT_MUTANT
#define THIS_MUTANT STILLPOINT_MUTANT
#else
#define THIS_MUTANT 0
#endif

/* A claim takes 2 to 50 ms; these tell a hang from a slow machine. */
#define CLEAN_LIMIT_NS  UINT64_C(20000000000)
#define KILLED_LIMIT_NS UINT64_C(3000000000)

/* What the child has written, on one line; "" when nothing. */
static void read_words(int fd, char *text_out, size_t bytes)
{
    size_t n = 0;
    ssize_t got;
    while (n < bytes - 1 && os_wait_readable(fd, 0) &&
           (got = read(fd, text_out + n, bytes - 1 - n)) > 0)
        n += (size_t)got;
    text_out[n] = '\0';
    text_out[strcspn(text_out, "\n")] = '\0';
}

/* True when the claim holds; else how_out says what happened. */
static bool holds_in_child(const struct claim *claim, uint64_t limit_ns, char *how_out,
                           size_t bytes)
{
    int ends[2], status = 0;
    char words[400];
    fflush(NULL);
    int child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0)
        mutant_broken("cannot start a process");
    if (child == 0) {
        os_die_with_parent();
        dup2(ends[1], STDERR_FILENO);
        mutant_run_claim(claim);
        _exit(0);
    }
    close(ends[1]);
    bool has_ended = os_wait_child(child, limit_ns, &status);
    if (!has_ended)
        os_kill_child(child);
    read_words(ends[0], words, sizeof words);
    close(ends[0]);
    if (!has_ended)
        snprintf(how_out, bytes, "hangs: not done after %.0f s", (double)limit_ns / 1e9);
    else if (status >= 256)
        snprintf(how_out, bytes, "aborts (signal %d): %s", status - 256, words);
    else
        snprintf(how_out, bytes, "breaks: %s", words);
    return has_ended && status == 0;
}

static int hunt(bool expect_killed)
{
    uint32_t broken_count = 0;
    bool own_is_broken = false;
    uint64_t start_ns = os_now_ns();
    for (size_t i = 0; i < mutant_claim_count; i++) {
        char how[512];
        bool holds = holds_in_child(
            &mutant_claims[i], expect_killed ? KILLED_LIMIT_NS : CLEAN_LIMIT_NS, how, sizeof how);
        broken_count += !holds;
        own_is_broken |= !holds && i + 1 == THIS_MUTANT;
        printf("mutant %d, claim %zu %s: %s\n", THIS_MUTANT, i + 1, mutant_claims[i].name,
               holds ? "holds" : how);
    }
    printf("mutant %d: %u of %zu claims broken in %.1f s\n", THIS_MUTANT, broken_count,
           mutant_claim_count, (double)(os_now_ns() - start_ns) / 1e9);
    if (!expect_killed)
        return broken_count != 0;
    if (!own_is_broken)
        printf("mutant %d SURVIVES the claim that was written for it\n", THIS_MUTANT);
    return !own_is_broken;
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";
    if (strcmp(what, "--expect-clean") == 0 && THIS_MUTANT == 0)
        return hunt(false);
    if (strcmp(what, "--expect-killed") == 0 && THIS_MUTANT != 0)
        return hunt(true);
    for (size_t i = 0; i < mutant_claim_count; i++) {
        if (strcmp(what, "--list") == 0)
            printf("%zu %s\n", i + 1, mutant_claims[i].name);
        else if (strcmp(what, mutant_claims[i].name) == 0) {
            mutant_run_claim(&mutant_claims[i]);
            return 0;
        }
    }
    if (strcmp(what, "--list") == 0)
        return 0;
    fprintf(stderr, "mutant_hunt (mutant %d): --expect-clean, --expect-killed, --list or a claim\n",
            THIS_MUTANT);
    return 64;
}
