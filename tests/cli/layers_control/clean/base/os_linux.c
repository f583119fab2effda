/* Nothing here is wrong. SPDX-License-Identifier: MIT */
#include "base/os.h"
#include <linux/membarrier.h>
#include <sys/mman.h>
