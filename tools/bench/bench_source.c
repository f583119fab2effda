/* bench_source.c -- see bench_priv.h.  SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "base/insist.h"
#include "tools/bench/bench_folder.h"
#include "tools/bench/bench_priv.h"
#include "tools/embedded.h"

#include <errno.h>
#include <string.h>

bool bench_write_source(struct bench *bench, const char *embedded_name)
{
    const struct embedded_file *file = embedded_find(embedded_name);
    INSIST(file, "%s is not part of the program", embedded_name);
    if (bench_folder_write(strrchr(embedded_name, '/') + 1, file->bytes, file->length))
        return true;
    if (!bench->failure[0])
        snprintf(bench->failure, sizeof bench->failure, "%.120s: %.120s", bench_folder_path(),
                 strerror(errno));
    bench->failure_exit = EXIT_CODE_ENVIRONMENT;
    return false;
}
