/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cache of translated code: what is damaged, foreign or not a file is absent; writers do not
 * disturb each other; and it stays below its limit.
 *
 * build: @dpu_machine @dpu_translate tsan
 */
#include "hostcode/code_cache.h"
#include "tests/support/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER 56

static char folder_path[4096];

static void make_key(uint8_t key[SHA256_SIZE], uint8_t fill)
{
    memset(key, fill, SHA256_SIZE);
}

static void path_of(char *path, size_t size, uint8_t fill)
{
    int used = snprintf(path, size, "%s/", folder_path);
    for (int i = 0; i < SHA256_SIZE; i++)
        used += snprintf(path + used, size - (size_t)used, "%02x", fill);
}

static int open_cache(void)
{
    int folder = host_cache_open();
    CHECK(folder >= 0);
    return folder;
}

static bool has(int folder, uint8_t fill, const void *content, size_t size)
{
    uint8_t key[SHA256_SIZE];
    size_t found;
    make_key(key, fill);
    void *data = host_cache_read(folder, key, &found);
    bool same = data != NULL && found == size && memcmp(data, content, size) == 0;
    CHECK(data == NULL || same);
    free(data);
    return same;
}

static void put(int folder, uint8_t fill, const void *content, size_t size)
{
    uint8_t key[SHA256_SIZE];
    make_key(key, fill);
    CHECK(host_cache_write(folder, key, content, size));
}

static void test_digest(void)
{
    static const uint8_t expected[SHA256_SIZE] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea,
                                                  0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
                                                  0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
                                                  0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
    struct sha256 hash;
    uint8_t digest[SHA256_SIZE];
    sha256_begin(&hash);
    sha256_add(&hash, "a", 1);
    sha256_add(&hash, "bc", 2);
    sha256_end(&hash, digest);
    CHECK(memcmp(digest, expected, sizeof digest) == 0);
}

static void test_round_trip(int folder)
{
    char text[1000];
    memset(text, 'x', sizeof text);
    CHECK(!has(folder, 1, text, sizeof text));
    put(folder, 1, text, sizeof text);
    CHECK(has(folder, 1, text, sizeof text));
    CHECK(!has(folder, 2, text, sizeof text));
    put(folder, 1, "other", 5);
    CHECK(has(folder, 1, "other", 5));
}

/* Each byte changed, and each length that is too short or too long. */
static void test_damage(int folder)
{
    char path[4300];
    const char text[] = "some code";
    const size_t size = HEADER + sizeof text;
    for (size_t i = 0; i < size; i++) {
        put(folder, 3, text, sizeof text);
        path_of(path, sizeof path, 3);
        int file = open(path, O_RDWR);
        uint8_t byte;
        CHECK(file >= 0 && pread(file, &byte, 1, (off_t)i) == 1);
        byte ^= 0x10;
        CHECK(pwrite(file, &byte, 1, (off_t)i) == 1 && close(file) == 0);
        CHECK(!has(folder, 3, text, sizeof text));

        put(folder, 3, text, sizeof text);
        CHECK(truncate(path, (off_t)i) == 0);
        CHECK(!has(folder, 3, text, sizeof text));
    }

    put(folder, 3, text, sizeof text);
    CHECK(truncate(path, (off_t)size + 1) == 0);
    CHECK(!has(folder, 3, text, sizeof text));
}

/* The content of one key is not that of another, a link is not followed, and a pipe does not hang.
 */
static void test_foreign_files(int folder)
{
    char path[4300], other[4300];
    path_of(path, sizeof path, 4);
    path_of(other, sizeof other, 5);
    put(folder, 4, "text", 4);
    CHECK(link(path, other) == 0);
    CHECK(!has(folder, 5, "text", 4));

    CHECK(unlink(other) == 0 && rename(path, other) == 0 && symlink(other, path) == 0);
    CHECK(!has(folder, 4, "text", 4));
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    CHECK(!has(folder, 4, "text", 4));
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    CHECK(!has(folder, 4, "text", 4));
    CHECK(rmdir(path) == 0);

    /* Others could have written it. */
    put(folder, 4, "text", 4);
    CHECK(chmod(path, 0666) == 0);
    CHECK(!has(folder, 4, "text", 4));
}

static void *write_often(void *content)
{
    int folder = open_cache();
    for (int i = 0; i < 50; i++) {
        char text[4096];
        uint8_t key[SHA256_SIZE];
        size_t size;
        memset(text, *(const char *)content, sizeof text);
        make_key(key, 6);
        host_cache_write(folder, key, text, sizeof text);
        char *data = host_cache_read(folder, key, &size);
        CHECK(data != NULL && size == sizeof text);
        for (size_t j = 1; j < size; j++)
            CHECK(data[j] == data[0]);
        free(data);
    }

    CHECK(close(folder) == 0);
    return NULL;
}

static void test_concurrent_writers(void)
{
    char contents[] = "abcd";
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, write_often, &contents[i]) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

/* Files that were used last stay. */
static void test_limit(int folder)
{
    static char text[100000];
    char path[4300];
    for (uint8_t i = 0; i < 10; i++) {
        put(folder, (uint8_t)(0x20 + i), text, sizeof text);
        path_of(path, sizeof path, (uint8_t)(0x20 + i));
        const struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
        CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
    }

    CHECK(has(folder, 0x20, text, sizeof text));
    host_cache_trim(folder, 350000);
    for (uint8_t i = 1; i < 8; i++)
        CHECK(!has(folder, (uint8_t)(0x20 + i), text, sizeof text));
    CHECK(has(folder, 0x20, text, sizeof text) && has(folder, 0x29, text, sizeof text));
}

static void test_abandoned_files(int folder)
{
    char place[4300], path[4400];
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    CHECK(host_workplace_make(folder, place, sizeof place));
    snprintf(path, sizeof path, "%s/source.c", place);
    CHECK(close(open(path, O_CREAT | O_WRONLY, 0600)) == 0);
    host_cache_trim(folder, 1 << 30);
    CHECK(access(path, F_OK) == 0);
    CHECK(utimensat(AT_FDCWD, place, times, 0) == 0);
    host_cache_trim(folder, 1 << 30);
    CHECK(access(place, F_OK) != 0);

    CHECK(host_workplace_make(-1, place, sizeof place));
    host_workplace_remove(place);
    CHECK(access(place, F_OK) != 0);
}

/* A folder that others can write to is made safe if it is ours, and else not used. */
static void test_folders(void)
{
    CHECK(chmod(folder_path, 0777) == 0);
    CHECK(close(open_cache()) == 0);
    struct stat status;
    CHECK(stat(folder_path, &status) == 0 && (status.st_mode & 0777) == 0700);

    CHECK(rename(folder_path, "elsewhere") == 0 && symlink("../../elsewhere", folder_path) == 0);
    CHECK(host_cache_open() < 0);
    CHECK(unlink(folder_path) == 0 && rename("elsewhere", folder_path) == 0);

    CHECK(chmod("cache", 0777) == 0);
    CHECK(host_cache_open() < 0);
    CHECK(chmod("cache", 0700) == 0);
    if (geteuid() == 0) {
        CHECK(chown(folder_path, 12345, 12345) == 0);
        CHECK(host_cache_open() < 0);
        CHECK(chown(folder_path, 0, 0) == 0);
    }

    CHECK(setenv("XDG_CACHE_HOME", "/proc/nothing", 1) == 0);
    CHECK(host_cache_open() < 0);
    CHECK(unsetenv("XDG_CACHE_HOME") == 0 && unsetenv("HOME") == 0);
    CHECK(host_cache_open() < 0);
}

int main(void)
{
    char here[4000];
    CHECK(getcwd(here, sizeof here) != NULL);
    snprintf(folder_path, sizeof folder_path, "%s/cache/offchip/translations", here);
    strcat(here, "/cache");
    CHECK(setenv("XDG_CACHE_HOME", here, 1) == 0);

    int folder = open_cache();
    test_digest();
    test_round_trip(folder);
    test_damage(folder);
    test_foreign_files(folder);
    test_concurrent_writers();
    test_limit(folder);
    test_abandoned_files(folder);
    CHECK(close(folder) == 0);
    test_folders();
    return 0;
}
