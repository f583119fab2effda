/* Tests name headers from the root as well. SPDX-License-Identifier: MIT */
#include "vm/interp.h"
#include "helper.h" /* planted */
