/* Tests too ask base/os.h. SPDX-License-Identifier: MIT */
#include <sys/wait.h> /* planted */
