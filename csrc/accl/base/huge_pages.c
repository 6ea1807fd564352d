/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/base/huge_pages.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

void *acclib_huge_map(int fd, uint64_t bytes)
{
    /* More room than that, and the file at its first suitable place. */
    uint64_t room = bytes + HUGE_PAGE;
    uint8_t *start =
        mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return MAP_FAILED;

    uint64_t before = -(uint64_t)(uintptr_t)start % HUGE_PAGE;
    void *map = mmap(start + before, bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0);
    if (map == MAP_FAILED) {
        munmap(start, room);
        return MAP_FAILED;
    }

    if (before)
        munmap(start, before);
    if (before < HUGE_PAGE)
        munmap(start + before + bytes, HUGE_PAGE - before);
    return map;
}

bool acclib_huge_make(int fd, uint8_t *base, uint64_t first, uint64_t end)
{
    /* The kernel makes none where the file is empty. */
    for (uint64_t i = first; i < end; i++)
        if (fallocate(fd, 0, (off_t)(i * HUGE_PAGE), 1) != 0)
            return false;

    return madvise(base + first * HUGE_PAGE, (end - first) * HUGE_PAGE, MADV_COLLAPSE) == 0;
}
