/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include "carried_text.h"
#include "code_cache.h"
#include "common/clock.h"
#include "compiler.h"
#include "generate.h"
#include "plan.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
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

/* --- the cache --- */

/* Digests of the sources of this folder and of what they use. */
TEXT_OF(dpu_translator_sums, "translator.sums");

static void make_key(const struct dpu_program *program, const struct dpu_compiler *compiler,
                     uint8_t key[SHA256_SIZE])
{
    const uint32_t numbers[] = {program->switches, program->wram_size};
    struct sha256 hash;
    sha256_begin(&hash);
    sha256_add(&hash, dpu_translator_sums, strlen(dpu_translator_sums));
    sha256_add(&hash, numbers, sizeof numbers);
    sha256_add(&hash, program->iram, sizeof program->iram);
    sha256_add(&hash, compiler->stamp, strlen(compiler->stamp));
    sha256_end(&hash, key);
}

bool dpu_job_find(const struct dpu_program *program, struct dpu_loaded *loaded)
{
    struct dpu_compiler compiler;
    uint8_t key[SHA256_SIZE];
    size_t size;
    if (!dpu_compiler_find(&compiler))
        return false;

    int folder = dpu_code_cache_open();
    if (folder < 0)
        return false;

    make_key(program, &compiler, key);
    void *data = dpu_code_cache_read(folder, key, &size);
    close(folder);
    bool found = data != NULL && dpu_module_load(loaded, data, size);
    free(data);
    return found;
}

static void keep(int folder, const uint8_t key[SHA256_SIZE], const void *data, size_t size)
{
    if (folder >= 0 && dpu_code_cache_write(folder, key, data, size))
        dpu_code_cache_trim(folder, DPU_CODE_CACHE_LIMIT);
}

/* --- compiling --- */

static void choose(struct dpu_plan *plan, struct dpu_program *program, bool everything)
{
    struct dpu_record *record = dpu_record_of(program);
    const struct dpu_host_code *code = atomic_load(&record->code);
    uint8_t missed[DPU_MACHINE_IRAM];
    dpu_plan_decode(plan, program->iram, program->switches);
    if (everything)
        dpu_plan_want_reachable(plan, 0);

    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++) {
        bool ran =
            __atomic_load_n(&program->operations[pc].code, __ATOMIC_ACQUIRE) != DPU_CODE_DECODE;
        bool covered = code != NULL && code->loaded.module->wanted[pc] != 0;
        plan->wanted[pc] |= ran || covered;
        missed[pc] = atomic_load_explicit(&record->missed_at[pc], memory_order_relaxed);
    }

    dpu_plan_find_blocks(plan, missed);
}

static bool write_source(struct dpu_program *program, bool everything, const char *path,
                         uint64_t *bytes)
{
    struct dpu_plan *plan = malloc(sizeof *plan);
    int file = plan != NULL ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    bool written = out != NULL;
    if (written) {
        choose(plan, program, everything);
        dpu_generate(out, plan, program->switches, program->wram_size);
        *bytes = (uint64_t)ftell(out);
        written = fclose(out) == 0;
    } else if (file >= 0) {
        close(file);
    }

    free(plan);
    return written;
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
        (uint64_t)status.st_size <= DPU_CODE_LIMIT)
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
static void *compile_in(const char *folder, struct dpu_program *program, bool everything,
                        const struct dpu_compiler *compiler, size_t *size,
                        struct dpu_job_figures *figures)
{
    char source[sizeof place.path + 16], result[sizeof place.path + 16];
    snprintf(source, sizeof source, "%s/source.c", folder);
    snprintf(result, sizeof result, "%s/result.so", folder);
    if (!write_source(program, everything, source, &figures->source_bytes))
        return NULL;

    int64_t start = clock_now();
    bool compiled = dpu_compiler_run(compiler, source, result, COMPILE_LIMIT);
    figures->compile_ns = (uint64_t)(clock_now() - start);
    return compiled ? read_result(result, size) : NULL;
}

static bool make_place(int folder)
{
    pthread_mutex_lock(&place.lock);
    bool made = dpu_workplace_make(folder, place.path, sizeof place.path) ||
                (folder >= 0 && dpu_workplace_make(-1, place.path, sizeof place.path));
    if (!made)
        place.path[0] = 0;
    pthread_mutex_unlock(&place.lock);
    return made;
}

void dpu_job_clean_up(void)
{
    pthread_mutex_lock(&place.lock);
    if (place.path[0] != 0)
        dpu_workplace_remove(place.path);
    place.path[0] = 0;
    pthread_mutex_unlock(&place.lock);
}

void dpu_job_forget(void)
{
    pthread_mutex_init(&place.lock, NULL);
    place.path[0] = 0;
}

bool dpu_job_compile(struct dpu_program *program, bool everything, struct dpu_loaded *loaded,
                     struct dpu_job_figures *figures)
{
    struct dpu_compiler compiler;
    uint8_t key[SHA256_SIZE];
    size_t size = 0;
    *figures = (struct dpu_job_figures){0};
    if (!dpu_compiler_find(&compiler))
        return false;

    int folder = dpu_code_cache_open();
    void *data = NULL;
    if (make_place(folder)) {
        char path[sizeof place.path];
        memcpy(path, place.path, sizeof path);
        data = compile_in(path, program, everything, &compiler, &size, figures);
        dpu_job_clean_up();
    }

    bool done = data != NULL && dpu_module_load(loaded, data, size);
    if (done) {
        make_key(program, &compiler, key);
        keep(folder, key, data, size);
    }

    free(data);
    if (folder >= 0)
        close(folder);
    return done;
}
