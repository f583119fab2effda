/* process.h -- the program as a process: descriptors and signals at start, its end.
 *
 * Layer: tools/.  Who may call: the command's main thread.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_PROCESS_H
#define TOOLS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/* First of all, before a file is opened: no file may become standard output, a child
 * can be waited for whatever was inherited, and a signal that ends the process takes
 * the unfinished result files with it (output.h). */
void process_start(void);
/* Last of all: what stdout or the log could not write is said, and the exit code
 * becomes EXIT_CODE_ENVIRONMENT if it was 0.  Closes the log. */
int process_end(int exit_code);

/* SIGQUIT sent to this process alone goes on to the child that runs; from a terminal
 * the child has it already.  Without a child it is ignored. */
void process_forward_sigquit(void);
void process_set_child(int pid); /* 0 = none runs */
/* SIGQUIT does nothing to this process and its children. */
void process_ignore_sigquit(void);

/* [child] Right after the fork: dies with its parent, of which the pid is given; ends
 * at once when that is gone already. */
void process_be_child(int parent_pid);

/* [child] All of it, through the pipe that the parent reads; a parent that is gone is
 * not told. */
void process_tell_parent(int fd, const void *data, size_t bytes);

/* The exit code for a child that did not tell its result; arguments as of
 * os_wait_child().  What comes from outside (a kill, a closed pipe, no memory left) says
 * nothing about our numbers: EXIT_CODE_ENVIRONMENT.  A child that hung or ended by its own
 * doing: EXIT_CODE_SELF_CHECK. */
int process_failure_exit(bool has_ended, int status);

#endif
