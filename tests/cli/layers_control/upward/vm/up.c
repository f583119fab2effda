/* Every folder above this one. SPDX-License-Identifier: MIT */
#include "vm/own.h"
#include "tools/x.h" /* planted */
#include "tests/x.h" /* planted */
