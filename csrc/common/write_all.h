/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_all.h: writing of more than one call of write() may take.
 */
#ifndef COMMON_WRITE_ALL_H
#define COMMON_WRITE_ALL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

static inline bool write_all(int file, const void *data, size_t size)
{
    const uint8_t *from = data;
    while (size > 0) {
        ssize_t done = write(file, from, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        from += done;
        size -= (size_t)done;
    }

    return true;
}

#endif
