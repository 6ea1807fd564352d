/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/veo/link/[a-z]*.c
 *
 * Fuzz target: the linker of VE code. An input is a file; whatever it holds, there is a library
 * that keeps its contract, or a reason.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "veo/link/library.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "contract broken: %s\n", what);
        abort();
    }
}

static char variable[64];

static bool find(void *owner, const char *name, struct velink_named *found)
{
    require(owner == variable, "the owner is handed on");
    found->address = (uint64_t)(uintptr_t)variable;
    found->size = sizeof variable;
    found->thread_local_one = name[0] == 't';
    return name[0] != 'u';
}

static uint64_t missing(void *owner, const char *name)
{
    (void)owner;
    return name[1] == 'c' ? 8 : 0;
}

static bool reserve(void *owner, size_t size, size_t align, uint64_t *offset)
{
    (void)owner;
    require(align != 0 && (align & (align - 1)) == 0, "an alignment is a power of two");
    *offset = 256;
    return size < 1 << 20;
}

static bool need(void *owner, const char *name, const char *path, struct velink_error *error)
{
    (void)owner;
    (void)path;
    return name[0] != 'u' || velink_fail(error, "not there");
}

static bool resolve(void *owner, uint64_t function, uint64_t *result)
{
    (void)owner;
    *result = function;
    return function % 3 != 0;
}

static void check(const struct velink_library *library)
{
    for (size_t i = 0; i < library->nexports; i++) {
        const struct velink_named *named = &library->exports[i];
        const struct velink_named *found = velink_export(library, named->name);
        require(found != NULL && strcmp(found->name, named->name) == 0, "exports are found");
    }
    for (size_t i = 1; i < library->nfunctions; i++)
        require(library->functions[i - 1].address <= library->functions[i].address, "in order");
    for (size_t i = 0; i < library->nsources; i++) {
        const struct velink_source *source = &library->sources[i];
        require(source->low < source->high, "a source has code");
        require(velink_source_at(library, source->low) != NULL, "and is found");
        require(source->image >= library->image &&
                    source->image + source->size <= library->image + library->image_size,
                "within the file");
    }
    require(velink_export(library, "u no such symbol") == NULL, "what is not there is not found");
    require(library->tls.image_size <= library->tls.size, "thread-local content fits");
    velink_function_at(library, (uint64_t)(uintptr_t)library->memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct velink_environment environment = {.owner = variable,
                                                          .find = find,
                                                          .missing = missing,
                                                          .reserve = reserve,
                                                          .need = need,
                                                          .resolve = resolve};
    struct velink_error error = {""};
    if (size == 0)
        return 0;
    uint8_t *image = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (image == MAP_FAILED)
        return 0;

    memcpy(image, data, size);
    struct velink_library *library = velink_link("folder/file", image, size, &environment, &error);
    require((library == NULL) == (error.text[0] != '\0'), "a library or a reason");
    if (library != NULL) {
        check(library);
        velink_library_free(library);
    }
    return 0;
}
