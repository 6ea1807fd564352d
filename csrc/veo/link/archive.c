/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/link/archive.h"

#include <ar.h>
#include <stdio.h>
#include <string.h>

bool velink_is_archive(const uint8_t *image, size_t size)
{
    return size >= SARMAG && memcmp(image, ARMAG, SARMAG) == 0;
}

void velink_archive_open(struct velink_archive *archive, struct velink_bytes image)
{
    *archive = (struct velink_archive){.image = image, .at = SARMAG, .names = {image.data, 0}};
}

/* A decimal number in a field that spaces fill up. */
static uint64_t number_of(const char *field, size_t width)
{
    uint64_t number = 0;
    for (size_t i = 0; i < width && field[i] >= '0' && field[i] <= '9'; i++)
        number = number * 10 + (uint64_t)(field[i] - '0');
    return number;
}

/* Copies up to a '/', or the spaces at the end. */
static void take_name(struct velink_member *member, const char *name, size_t size)
{
    size_t length = 0;
    while (length < size && length < sizeof member->name - 1 && name[length] != '/' &&
           name[length] != '\n' && name[length] != '\0')
        length++;
    while (length > 0 && name[length - 1] == ' ')
        length--;
    memcpy(member->name, name, length);
    member->name[length] = '\0';
}

/* True if the member is a file, and its name; tables of the archive are none. */
static bool is_file(struct velink_archive *archive, const struct ar_hdr *header,
                    struct velink_member *member)
{
    const char *name = header->ar_name;
    if (memcmp(name, "// ", 3) == 0) {
        archive->names = member->content;
        return false;
    }
    if (memcmp(name, "/ ", 2) == 0 || memcmp(name, "/SYM64/", 7) == 0 ||
        memcmp(name, "__.SYMDEF", 9) == 0)
        return false;

    uint64_t at = number_of(name + 1, sizeof header->ar_name - 1);
    if (name[0] == '/' && at < archive->names.size)
        take_name(member, (const char *)archive->names.data + at, archive->names.size - (size_t)at);
    else
        take_name(member, name, sizeof header->ar_name);
    return true;
}

bool velink_archive_next(struct velink_archive *archive, struct velink_member *member,
                         struct velink_error *error)
{
    struct ar_hdr header;
    while (archive->at < archive->image.size &&
           archive->image.size - archive->at >= sizeof header) {
        memcpy(&header, archive->image.data + archive->at, sizeof header);
        uint64_t size = number_of(header.ar_size, sizeof header.ar_size);
        if (memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0 ||
            !velink_slice(archive->image, archive->at + sizeof header, size, &member->content))
            return velink_fail(error, "the archive is damaged at byte %zu", archive->at);

        archive->at += sizeof header + (size_t)size + (size_t)size % 2;
        if (is_file(archive, &header, member))
            return true;
    }

    return false;
}
