/* vspace.c -- see vspace.h.  SPDX-License-Identifier: MIT */
#include "alloc/vspace.h"

#include "base/insist.h"
#include "base/os.h"

static size_t longest_for_test;

void vspace_refuse_longer_for_test(size_t bytes) { longest_for_test = bytes; }

enum err vspace_reserve(struct vspace *space, size_t bytes)
{
    void *base;
    INSIST(!space->base && bytes > 0, "a space of %zu bytes, reserved before: %p", bytes,
           (void *)space->base);
    enum err err = os_reserve(bytes, &base);
    if (err == ERR_OK)
        *space = (struct vspace){ .base = base, .bytes = bytes };
    return err;
}

void vspace_release(struct vspace *space)
{
    INSIST(space->base, "a space that is not reserved is given back");
    os_release(space->base, space->bytes);
    *space = (struct vspace){ .base = NULL };
}

static void check_run(const struct vspace *space, size_t offset, size_t bytes) /* C1 */
{
    size_t page = os_page_bytes();
    INSIST(space->base && bytes > 0 && offset % page == 0 && bytes % page == 0 &&
               offset <= space->bytes && bytes <= space->bytes - offset,
           "a run of %zu bytes at %zu in a space of %zu", bytes, offset, space->bytes);
}

enum err vspace_commit(struct vspace *space, size_t offset, size_t bytes)
{
    check_run(space, offset, bytes);
    space->commit_calls++;
    if (longest_for_test && bytes > longest_for_test)
        return ERR_NO_MEMORY;
    return os_commit(space->base + offset, bytes);
}

enum err vspace_uncommit(struct vspace *space, size_t offset, size_t bytes)
{
    check_run(space, offset, bytes);
    space->uncommit_calls++;
    return os_uncommit(space->base + offset, bytes);
}
