/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of much memory.
 *
 * An ordinary store first fetches the line that it writes to. Where source and destination together
 * are most of the last cache, the lines are gone before anybody reads them: stores past the caches
 * save that traffic, half as much again as the copy itself takes. Where they fit, such stores are
 * slower.
 */
#ifndef OFFCHIP_COPY_H
#define OFFCHIP_COPY_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a copy of so many bytes had better go past the caches. */
bool copy_is_large(size_t bytes);

/* Like memcpy(), always past the caches. */
void copy_past_caches(void *to, const void *from, size_t bytes);

/* Like memmove(), in whichever way is quicker. */
void copy_memory(void *to, const void *from, size_t bytes);

#endif
