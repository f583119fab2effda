/* Tests include everything. SPDX-License-Identifier: MIT */
#include "base/os.h"
#include "vm/interp.h"
#include "tools/ttsp.h"
#include "tests/unit/helper.h"
#include <sys/sdt.h>
