/* guest_frames.h -- where guest code is: frames in thread dumps, places in reports.
 *
 * Layer: vm/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_GUEST_FRAMES_H
#define VM_GUEST_FRAMES_H

#include "base/err.h"
#include "vm/guest_thread.h"

/* [any] Once per process: dumps of the stop machinery show guest frames from now on. */
void guest_frames_start(void);
/* [self, NATIVE] From here on, and until here, dumps look at the thread. */
void guest_frames_show(struct guest_thread *thread);
void guest_frames_hide(struct guest_thread *thread);

/* [main] The places of one program's code get names: "function:line", "script:3".  ERR_NO_MEMORY:
 * they have none.  The functions must live until guest_frames_forget_places(). */
MUST_USE enum err guest_frames_name_places(struct function *functions);
/* [main, outside RCU read sections] Returns when nobody reads them any more. */
void guest_frames_forget_places(void);

#endif
