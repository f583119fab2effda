/* Nothing here is wrong. SPDX-License-Identifier: MIT */
#include <sys/sdt.h>
#include <stdint.h>
#include <system/x.h>
