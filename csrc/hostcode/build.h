/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build.h: from C to code in memory, by way of the cache. Blocks for as long as it takes; one
 * thread of a process at a time.
 */
#ifndef OFFCHIP_BUILD_H
#define OFFCHIP_BUILD_H

#include "hostcode/code_cache.h"
#include "hostcode/compiler.h"
#include "hostcode/shared_object.h"

#include <stdio.h>

/* An object to be built: its key, how its C is written, and the symbol that is looked for. */
struct host_build {
    const struct host_compiler *compiler;
    uint8_t key[SHA256_SIZE];
    void (*write)(FILE *out, void *argument);
    void *argument;
    const char *symbol;
};

struct host_build_figures {
    uint64_t compile_ns, source_bytes;
};

/* Loads what the cache has. False if it does not have it. */
bool host_build_find(const struct host_build *build, struct host_object *object);
/* Compiles, loads and keeps it. False if it cannot be compiled. */
bool host_build_make(const struct host_build *build, struct host_object *object,
                     struct host_build_figures *figures);
/* At exit: what the compiler has written so far goes. */
void host_build_clean_up(void);
/* In a forked child: that is the parent's. */
void host_build_forget(void);

#endif
