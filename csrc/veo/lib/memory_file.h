/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_file.h: anonymous files of a fixed size, which the host and a worker map.
 *
 * Both functions set the error when they fail. They may be called by any thread.
 */
#ifndef VEOLIB_MEMORY_FILE_H
#define VEOLIB_MEMORY_FILE_H

#include <stddef.h>

/*
 * Creates a sealed file of SIZE bytes. Returns its descriptor, which the caller closes, or -1. The
 * descriptor is 16 or above, away from those that a worker inherits.
 */
int veolib_memory_file_new(const char *name, size_t size);

/*
 * Maps the file at an address that is likely to be free in another process too, and that is not
 * tried twice in a row. Not inherited by forked children. NULL on failure; to be unmapped by the
 * caller.
 */
char *veolib_memory_file_map(int fd, size_t size);

#endif
