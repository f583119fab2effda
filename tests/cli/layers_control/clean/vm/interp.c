/* Nothing here is wrong. SPDX-License-Identifier: MIT
#include "tools/main.h"
 */
#include "base/os.h"
#include "safepoint/poll.h"
#include "alloc/bulk.h"
#include "gc/heap.h"
#include "vm/deep/value.h"
#include <urcu/urcu-memb.h>
// #include "tools/main.h"
// a comment that goes on \
#include "tools/main.h"
/* #include "tools/main.h" */
static const char *text = "\
#include \"tools/main.h\"";
#define include_this "tools/main.h"
#error don't /* that's
#include "tools/main.h"
 */
int included;
