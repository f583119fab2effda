/* Not even in the same folder. SPDX-License-Identifier: MIT */
#include <sys/time.h> /* planted */
