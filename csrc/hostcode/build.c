/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostcode/build.h"

#include "common/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A program of 4,096 instructions takes some seconds; a slow machine some times that. */
#define COMPILE_LIMIT (120 * CLOCK_SECOND)

/* The compiler's folder, while it is at work. */
static struct {
    pthread_mutex_t lock;
    char path[4096];
} place = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool host_build_find(const struct host_build *build, struct host_object *object)
{
    size_t size;
    int folder = host_cache_open();
    if (folder < 0)
        return false;

    void *data = host_cache_read(folder, build->key, &size);
    close(folder);
    bool found = data != NULL && host_object_load(object, data, size, build->symbol);
    free(data);
    return found;
}

static void keep(int folder, const uint8_t key[SHA256_SIZE], const void *data, size_t size)
{
    if (folder >= 0 && host_cache_write(folder, key, data, size))
        host_cache_trim(folder, CODE_CACHE_LIMIT);
}

static bool write_source(const struct host_build *build, const char *path, uint64_t *bytes)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    if (out == NULL) {
        if (file >= 0)
            close(file);
        return false;
    }

    build->write(out, build->argument);
    *bytes = (uint64_t)ftell(out);
    bool written = ferror(out) == 0;
    return fclose(out) == 0 && written;
}

static void *read_result(const char *path, size_t *size)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return NULL;

    void *data = NULL;
    *size = 0;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        (uint64_t)status.st_size <= CODE_LIMIT)
        data = malloc((size_t)status.st_size);
    while (data != NULL && *size < (size_t)status.st_size) {
        ssize_t done = read(file, (char *)data + *size, (size_t)status.st_size - *size);
        if (done <= 0) {
            free(data);
            data = NULL;
            break;
        }
        *size += (size_t)done;
    }

    close(file);
    return data;
}

/* In the folder PLACE. To be freed; NULL if it could not be compiled. */
static void *compile_in(const char *folder, const struct host_build *build, size_t *size,
                        struct host_build_figures *figures)
{
    char source[sizeof place.path + 16], result[sizeof place.path + 16];
    snprintf(source, sizeof source, "%s/source.c", folder);
    snprintf(result, sizeof result, "%s/result.so", folder);
    if (!write_source(build, source, &figures->source_bytes))
        return NULL;

    int64_t start = clock_now();
    bool compiled = host_compiler_run(build->compiler, source, result, COMPILE_LIMIT);
    figures->compile_ns = (uint64_t)(clock_now() - start);
    return compiled ? read_result(result, size) : NULL;
}

static bool make_place(int folder)
{
    pthread_mutex_lock(&place.lock);
    bool made = host_workplace_make(folder, place.path, sizeof place.path) ||
                (folder >= 0 && host_workplace_make(-1, place.path, sizeof place.path));
    if (!made)
        place.path[0] = 0;
    pthread_mutex_unlock(&place.lock);
    return made;
}

void host_build_clean_up(void)
{
    pthread_mutex_lock(&place.lock);
    if (place.path[0] != 0)
        host_workplace_remove(place.path);
    place.path[0] = 0;
    pthread_mutex_unlock(&place.lock);
}

void host_build_forget(void)
{
    pthread_mutex_init(&place.lock, NULL);
    place.path[0] = 0;
}

bool host_build_make(const struct host_build *build, struct host_object *object,
                     struct host_build_figures *figures)
{
    size_t size = 0;
    int folder = host_cache_open();
    void *data = NULL;
    *figures = (struct host_build_figures){0};
    if (make_place(folder)) {
        char path[sizeof place.path];
        memcpy(path, place.path, sizeof path);
        data = compile_in(path, build, &size, figures);
        host_build_clean_up();
    }

    bool done = data != NULL && host_object_load(object, data, size, build->symbol);
    if (done)
        keep(folder, build->key, data, size);

    free(data);
    if (folder >= 0)
        close(folder);
    return done;
}
