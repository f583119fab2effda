/* Every folder above this one. SPDX-License-Identifier: MIT */
#include "tools/own.h"
#include "tests/x.h" /* planted */
