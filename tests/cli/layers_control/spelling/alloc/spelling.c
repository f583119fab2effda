/* One include, written in every way the compiler takes. SPDX-License-Identifier: MIT */
#include "vm/value.h"              /* planted */
#include"vm/value.h"               /* planted */
  #  include   "vm/value.h"         /* planted */
/* a */ #include "vm/value.h"      /* planted */
#/* b */include/* c */"vm/value.h" /* planted */
#include_next "vm/value.h"         /* planted */
#import "vm/value.h"               /* planted */
%:include "vm/value.h"             /* planted */
#include /* planted */ \
    "vm/value.h"
/* a comment over
   two lines */ #include "vm/value.h" /* planted */
static const char *text = "/*";
#include "vm/value.h" /* planted */
static const char mark = '"';
#include "vm/value.h" /* planted */
static const char quote = '\'';
#include "vm/value.h" /* planted */
#include <stdio.h>    /* a comment
that ends here */
#include "vm/value.h" /* planted */
// this /* opens no comment
#include "vm/value.h" /* planted */
#ifdef NEVER
#include "vm/value.h" /* planted */
#endif
