/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/observe/raw_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/write_all.h"

/* Records that the rest refers to are written whatever the limit: it does not grow with the
 * launches. */
static bool is_limited(enum dpulib_raw_kind kind)
{
    return kind == DPULIB_RAW_LAUNCH || kind == DPULIB_RAW_EVENTS || kind == DPULIB_RAW_OPERATION;
}

bool dpulib_raw_open(struct dpulib_raw_file *file, const char *path, uint64_t limit)
{
    const uint32_t numbers[2] = {DPULIB_RAW_VERSION, (uint32_t)getpid()};
    uint8_t header[16] = "dpuprof\n";
    *file = (struct dpulib_raw_file){.file = -1, .limit = limit};
    file->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (file->file < 0)
        return false;

    memcpy(header + 8, numbers, sizeof numbers);
    file->size = sizeof header;
    if (write_all(file->file, header, sizeof header))
        return true;
    dpulib_raw_close(file);
    return false;
}

bool dpulib_raw_write(struct dpulib_raw_file *file, enum dpulib_raw_kind kind,
                      const struct dpulib_raw_part *parts, size_t count)
{
    size_t size = 0;
    if (file->file < 0)
        return true;
    for (size_t i = 0; i < count; i++)
        size += parts[i].size;

    const size_t padded = (size + 7) & ~(size_t)7;
    if (padded > UINT32_MAX || (is_limited(kind) && file->size + 8 + padded > file->limit)) {
        file->dropped++;
        return true;
    }

    uint8_t *record = calloc(1, 8 + padded);
    if (record == NULL) {
        file->dropped++;
        return true;
    }

    const uint32_t header[2] = {(uint32_t)kind, (uint32_t)padded};
    size_t at = sizeof header;
    memcpy(record, header, sizeof header);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size != 0)
            memcpy(record + at, parts[i].data, parts[i].size);
        at += parts[i].size;
    }

    bool written = write_all(file->file, record, 8 + padded);
    free(record);
    file->size += 8 + padded;
    if (!written)
        dpulib_raw_close(file);
    return written;
}

void dpulib_raw_close(struct dpulib_raw_file *file)
{
    int error = errno;
    if (file->file >= 0)
        close(file->file);
    file->file = -1;
    errno = error;
}
