/* A folder beside the layers that uses none of them. SPDX-License-Identifier: MIT */
#include <stdio.h>
