/* A folder that is no layer. SPDX-License-Identifier: MIT */
#include "base/os.h" /* planted */
#include <stdio.h>
