/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * library.h: VE code that was linked or loaded into this process, and what was found in its file.
 *
 * VE addresses are addresses of this process. A library is written by velink_link() alone, and may
 * then be read by any thread until velink_library_free(), which unmaps its code.
 */
#ifndef VELINK_LIBRARY_H
#define VELINK_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "veo/link/error.h"

struct velink_named {
    const char *name; /* in the image of the library */
    uint64_t address; /* of a thread-local variable: its distance from the thread pointer */
    uint64_t size;
    bool function;
    bool thread_local_one;
};

/* An ELF file whose debug info is about this library: an object of an archive, or the whole. */
struct velink_source {
    const uint8_t *image;
    size_t size;
    uint64_t bias; /* addresses in the file are lower by this */
    uint64_t low, high;
};

/* The first content of the thread-local variables of a library, for every new thread. */
struct velink_tls {
    const void *image;
    size_t image_size;
    size_t size;     /* beyond the image it is 0 */
    uint64_t offset; /* from the thread pointer */
};

struct velink_addresses {
    uint64_t *at;
    size_t count;
};

struct velink_library {
    char *path;
    uint8_t *image; /* the file */
    size_t image_size;
    uint8_t *memory; /* what was loaded of it */
    size_t memory_size;
    struct velink_named *exports; /* by name */
    size_t nexports;
    struct velink_named *functions; /* by address, local ones too */
    size_t nfunctions;
    struct velink_source *sources;
    size_t nsources;
    struct velink_tls tls;
    struct velink_addresses begin; /* functions to call once it is loaded, in their order */
    struct velink_addresses end;   /* and before it is unloaded */
    uint64_t entry;                /* of a program, or 0 */
    uint64_t headers;              /* where a program's segment headers are, or 0 */
    size_t nheaders;
    struct velink_library *next; /* for who keeps it */
};

/* Services that a link asks of its caller. */
struct velink_environment {
    void *owner;
    /* Looks a symbol up that the file leaves undefined. */
    bool (*find)(void *owner, const char *name, struct velink_named *found);
    /* An address for what is nowhere and may be missing until it is used; or 0. */
    uint64_t (*missing)(void *owner, const char *name);
    /* Reserves SIZE bytes of thread-local memory. False if there is no room. */
    bool (*reserve)(void *owner, size_t size, size_t align, uint64_t *offset);
    /* Loads a library that the file at PATH needs. */
    bool (*need)(void *owner, const char *name, const char *path, struct velink_error *error);
    /* Calls a function without arguments for its result (R_VE_IRELATIVE). */
    bool (*resolve)(void *owner, uint64_t function, uint64_t *result);
};

/*
 * Links or loads a file: an object, an archive (members that are archives serve the others), a
 * shared object or an executable. IMAGE, a private mapping that may be written, is taken over, also
 * after a failure. NULL with the reason in *ERROR. Functions of `begin` are left to the caller.
 */
struct velink_library *velink_link(const char *path, uint8_t *image, size_t size,
                                   const struct velink_environment *environment,
                                   struct velink_error *error);
void velink_library_free(struct velink_library *library);

/* The same for a file: its mapping, which munmap() ends. NULL with the reason. */
uint8_t *velink_map_file(const char *path, size_t *size, struct velink_error *error);

/* Export of the library by that name, or NULL. */
const struct velink_named *velink_export(const struct velink_library *library, const char *name);

/* The function that has the address, or NULL. */
const struct velink_named *velink_function_at(const struct velink_library *library,
                                              uint64_t address);

/* True if the address is in the memory of the library. */
bool velink_contains(const struct velink_library *library, uint64_t address);

/* The file with the debug info of an address, or NULL. */
const struct velink_source *velink_source_at(const struct velink_library *library,
                                             uint64_t address);

#endif
