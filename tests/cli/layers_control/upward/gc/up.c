/* Every folder above this one. SPDX-License-Identifier: MIT */
#include "gc/own.h"
#include "vm/x.h" /* planted */
#include "tools/x.h" /* planted */
#include "tests/x.h" /* planted */
