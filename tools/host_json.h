/* host_json.h -- on what machine, with which version, a result was measured.
 *
 * Layer: tools/.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_JSON_H
#define TOOLS_HOST_JSON_H

#include "tools/json_writer.h"

#include <stddef.h>

void host_json_write(struct json_writer *json, const char *key);
/* One line of the same for people; at most 99 columns. */
void host_describe(char *text_out, size_t bytes);

#endif
