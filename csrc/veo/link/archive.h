/* SPDX-License-Identifier: BSD-3-Clause */
/* archive.h: the members of an archive (ar), one after the other. The file is not trusted. */
#ifndef VELINK_ARCHIVE_H
#define VELINK_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "veo/link/elf_file.h"

struct velink_archive {
    struct velink_bytes image;
    size_t at;                 /* of the next member */
    struct velink_bytes names; /* the table of long names */
};

struct velink_member {
    char name[64];
    struct velink_bytes content;
};

bool velink_is_archive(const uint8_t *image, size_t size);

/* Starts before the first member. */
void velink_archive_open(struct velink_archive *archive, struct velink_bytes image);

/* Reads the next member that is a file. False after the last, or with a reason. */
bool velink_archive_next(struct velink_archive *archive, struct velink_member *member,
                         struct velink_error *error);

#endif
