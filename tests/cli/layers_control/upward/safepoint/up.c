/* Every folder above this one. SPDX-License-Identifier: MIT */
#include "safepoint/own.h"
#include "alloc/x.h" /* planted */
#include "gc/x.h" /* planted */
#include "vm/x.h" /* planted */
#include "tools/x.h" /* planted */
#include "tests/x.h" /* planted */
