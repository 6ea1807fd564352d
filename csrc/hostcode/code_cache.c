/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostcode/code_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/write_all.h"

#define NAME_SIZE (2 * SHA256_SIZE + 1)
#define NEW ".new-"
/* Seconds: a temporary file so old was abandoned. */
#define ABANDONED_AFTER 3600

/* At the start of a file. */
struct header {
    char magic[16];
    uint64_t size; /* of the content */
    uint8_t digest[SHA256_SIZE];
};
static const char magic[16] = "offchip code 1";

/* --- the folder --- */

/* True if others cannot replace what is in a folder of this user's, or the system's. */
static bool is_safe_base(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
           (status.st_uid == 0 || status.st_uid == geteuid()) &&
           ((status.st_mode & S_IWOTH) == 0 || (status.st_mode & S_ISVTX) != 0);
}

static bool find_base(char *path, size_t size)
{
    const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    if (base != NULL && *base == '/')
        return (size_t)snprintf(path, size, "%s", base) < size;
    return home != NULL && *home == '/' && (size_t)snprintf(path, size, "%s/.cache", home) < size;
}

/* A folder in another one, which is closed; for this user alone. */
static int enter(int parent, const char *name, mode_t forbidden)
{
    if (parent < 0)
        return -1;

    mkdirat(parent, name, 0700);
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(parent);
    struct stat status;
    if (folder >= 0 && fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
        ((status.st_mode & forbidden) == 0 || fchmod(folder, 0700) == 0))
        return folder;
    if (folder >= 0)
        close(folder);
    return -1;
}

int host_cache_open(void)
{
    char base[4096];
    if (!find_base(base, sizeof base))
        return -1;

    mkdir(base, 0700);
    if (!is_safe_base(base))
        return -1;
    int parent = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return enter(enter(parent, "offchip", S_IWGRP | S_IWOTH), "translations", S_IRWXG | S_IRWXO);
}

/* --- files --- */

static void name_of(const uint8_t key[SHA256_SIZE], char name[NAME_SIZE])
{
    for (uint32_t i = 0; i < SHA256_SIZE; i++)
        snprintf(name + 2 * (size_t)i, 3, "%02x", key[i]);
}

static void digest_of(const uint8_t key[SHA256_SIZE], const void *data, size_t size,
                      uint8_t digest[SHA256_SIZE])
{
    struct sha256 hash;
    sha256_begin(&hash);
    sha256_add(&hash, key, SHA256_SIZE);
    sha256_add(&hash, data, size);
    sha256_end(&hash, digest);
}

static bool read_all(int file, void *data, size_t size)
{
    uint8_t *to = data;
    while (size > 0) {
        ssize_t done = read(file, to, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        to += done;
        size -= (size_t)done;
    }

    return true;
}

/* Reads an open file once; what is checked is the copy. */
static void *read_content(int file, const uint8_t key[SHA256_SIZE], size_t *size)
{
    struct stat status;
    struct header header;
    uint8_t digest[SHA256_SIZE];
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 || !read_all(file, &header, sizeof header) ||
        memcmp(header.magic, magic, sizeof magic) != 0 || header.size == 0 ||
        header.size > CODE_LIMIT || (uint64_t)status.st_size != sizeof header + header.size)
        return NULL;

    void *data = malloc(header.size);
    if (data != NULL && read_all(file, data, header.size)) {
        digest_of(key, data, header.size, digest);
        if (memcmp(digest, header.digest, sizeof digest) == 0) {
            *size = header.size;
            return data;
        }
    }

    free(data);
    return NULL;
}

void *host_cache_read(int folder, const uint8_t key[SHA256_SIZE], size_t *size)
{
    char name[NAME_SIZE];
    *size = 0;
    name_of(key, name);
    /* Neither a link nor a pipe that nobody writes to. */
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return NULL;

    void *data = read_content(file, key, size);
    if (data != NULL)
        futimens(file, NULL);
    close(file);
    return data;
}

bool host_cache_write(int folder, const uint8_t key[SHA256_SIZE], const void *data, size_t size)
{
    char name[NAME_SIZE], fresh[64];
    struct header header = {.size = size};
    struct timespec now;
    name_of(key, name);
    memcpy(header.magic, magic, sizeof magic);
    digest_of(key, data, size, header.digest);

    /* Another process or thread that has this name makes it fail, and then has written the same. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(fresh, sizeof fresh, NEW "%ld-%lx%lx", (long)getpid(), (long)now.tv_sec, now.tv_nsec);
    int file = openat(folder, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;

    bool written =
        write_all(file, &header, sizeof header) && write_all(file, data, size) && fsync(file) == 0;
    written = close(file) == 0 && written && renameat(folder, fresh, folder, name) == 0;
    if (!written)
        unlinkat(folder, fresh, 0);
    return written;
}

/* --- the compiler's place --- */

static void empty_place(int place)
{
    static const char *const names[] = {"source.c", "result.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlinkat(place, names[i], 0);
}

bool host_workplace_make(int folder, char *path, size_t size)
{
    char base[4096];
    const char *temporary = secure_getenv("TMPDIR");
    if (temporary == NULL || *temporary != '/')
        temporary = "/tmp";
    if (folder >= 0)
        temporary = find_base(base, sizeof base) ? base : temporary;
    int length = snprintf(path, size, "%s%s/" NEW "XXXXXX", temporary,
                          folder >= 0 ? "/offchip/translations" : "");
    return (size_t)length < size && mkdtemp(path) != NULL;
}

void host_workplace_remove(const char *path)
{
    int place = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place >= 0) {
        empty_place(place);
        close(place);
    }

    rmdir(path);
}

/* --- the limit --- */

struct entry {
    char name[NAME_SIZE];
    struct timespec used;
    uint64_t size;
};

static int compare_age(const void *a, const void *b)
{
    const struct timespec *left = &((const struct entry *)a)->used;
    const struct timespec *right = &((const struct entry *)b)->used;
    if (left->tv_sec != right->tv_sec)
        return left->tv_sec < right->tv_sec ? -1 : 1;
    return (left->tv_nsec > right->tv_nsec) - (left->tv_nsec < right->tv_nsec);
}

/* A temporary file, or a compiler's place. */
static void remove_abandoned(int folder, const char *name)
{
    if (unlinkat(folder, name, 0) == 0)
        return;

    int place = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0)
        return;
    empty_place(place);
    close(place);
    unlinkat(folder, name, AT_REMOVEDIR);
}

/* Files of the cache into *ENTRIES, which is to be freed; removes what was abandoned. */
static size_t list_entries(int folder, DIR *directory, struct entry **entries)
{
    size_t count = 0, room = 0;
    for (struct dirent *found; (found = readdir(directory)) != NULL;) {
        struct stat status;
        if (fstatat(folder, found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (strncmp(found->d_name, NEW, strlen(NEW)) == 0 &&
            status.st_mtim.tv_sec < time(NULL) - ABANDONED_AFTER) {
            remove_abandoned(folder, found->d_name);
            continue;
        }
        if (strlen(found->d_name) != NAME_SIZE - 1 || !S_ISREG(status.st_mode))
            continue;

        if (count == room) {
            room = room == 0 ? 64 : 2 * room;
            struct entry *more = realloc(*entries, room * sizeof **entries);
            if (more == NULL)
                break;
            *entries = more;
        }
        struct entry *entry = &(*entries)[count++];
        memcpy(entry->name, found->d_name, NAME_SIZE);
        entry->used = status.st_mtim;
        entry->size = (uint64_t)status.st_size;
    }

    return count;
}

void host_cache_trim(int folder, uint64_t limit)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    if (directory == NULL) {
        if (copy >= 0)
            close(copy);
        return;
    }

    struct entry *entries = NULL;
    size_t count = list_entries(folder, directory, &entries);
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += entries[i].size;

    if (count > 0)
        qsort(entries, count, sizeof *entries, compare_age);
    for (size_t i = 0; i < count && total > limit; i++)
        if (unlinkat(folder, entries[i].name, 0) == 0)
            total -= entries[i].size;

    free(entries);
    closedir(directory);
}
