/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * code_cache.h: translated code on disk.
 *
 * It is in offchip/translations below XDG_CACHE_HOME or ~/.cache, in one file per key. Only the
 * user can write to that folder, or it is not used. A file is written under another name and
 * renamed, so that any number of processes may write the same one; it has the digest of its key and
 * content, and what is damaged counts as absent. What was not used for longest goes when the files
 * together are larger than a limit.
 *
 * All functions may be called from several threads and processes.
 */
#ifndef OFFCHIP_CODE_CACHE_H
#define OFFCHIP_CODE_CACHE_H

#include "common/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_LIMIT ((size_t)64 << 20)          /* of one file */
#define CODE_CACHE_LIMIT ((uint64_t)256 << 20) /* of all */

/* The folder, a descriptor to be closed; -1 if it cannot be made, or others can write to it. */
int host_cache_open(void);

/* The content for a key, to be freed; NULL if there is none. */
void *host_cache_read(int folder, const uint8_t key[SHA256_SIZE], size_t *size);
/* False if it could not be written; what was there before then still is. */
bool host_cache_write(int folder, const uint8_t key[SHA256_SIZE], const void *data, size_t size);
/* Removes the files that were not used for longest until all together have at most LIMIT bytes. */
void host_cache_trim(int folder, uint64_t limit);

/*
 * A folder of this process in the cache's folder, or for temporary files if that is -1, for the
 * compiler. PATH gets its name; it is removed with the compiler's input and output.
 */
bool host_workplace_make(int folder, char *path, size_t size);
void host_workplace_remove(const char *path);

#endif
