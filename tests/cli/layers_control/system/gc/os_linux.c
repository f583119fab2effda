/* The right name in the wrong folder. SPDX-License-Identifier: MIT */
#include <sys/mman.h>     /* planted */
#include <linux/futex.h>  /* planted */
#include "sys/mman.h"     /* planted */
#include <sys//mman.h>    /* planted */
#include <./sys/mman.h>   /* planted */
#include <sys/sdt.h>
