/* broken.h -- an inline function in a header.  SPDX-License-Identifier: MIT */
static inline bool ready(struct guest_thread *thread)
{
    return thread_run_mp(thread); /* planted */
}
