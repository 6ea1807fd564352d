/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loaded_file.h: the file that a code address of this process was loaded from, mapped to be read.
 *
 * Any thread may call these functions, and the handler of a crash. Nothing is allocated but the
 * mapping, which veow_file_unmap() ends.
 */
#ifndef VEOW_LOADED_FILE_H
#define VEOW_LOADED_FILE_H

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct veow_file {
    const uint8_t *image;
    size_t size;
};

/* Entry of the loader for the file that has ADDRESS; *INFO is filled as by dladdr(). NULL if none
 * has it. */
const struct link_map *veow_file_of(uint64_t address, Dl_info *info);

/* Maps the file. False, and *FILE is empty, if it cannot be read. */
bool veow_file_map(const struct link_map *map, struct veow_file *file);
void veow_file_unmap(const struct veow_file *file);

#endif
