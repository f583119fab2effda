/* Headers that are not named from the root. SPDX-License-Identifier: MIT */
#include "interp.h"           /* planted */
#include "./vm/interp.h"      /* planted */
#include "../tools/main.h"    /* planted */
#include "base/../tools/x.h"  /* planted */
#include "base//os.h"         /* planted */
#include "/usr/include/a.h"   /* planted */
#include "elsewhere/x.h"      /* planted */
#include <base/os.h>          /* planted */
#include <tools/main.h>       /* planted */
#define HEADER "tools/main.h"
#include HEADER /* planted */
