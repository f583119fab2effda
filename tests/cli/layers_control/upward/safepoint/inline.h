/* Headers count like sources. SPDX-License-Identifier: MIT */
#include "gc/heap.h" /* planted */
