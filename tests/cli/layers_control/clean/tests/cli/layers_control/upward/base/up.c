/* The trees of the control are no part of a checkout. SPDX-License-Identifier: MIT */
#include "up.h"
