/* The one file that may. SPDX-License-Identifier: MIT */
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
