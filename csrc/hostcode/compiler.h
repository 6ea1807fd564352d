/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compiler.h: a C compiler of this machine, and running it.
 *
 * The compiler is what an environment variable names, a command with blanks between its words; else
 * gcc, clang or cc on PATH; else zig: of the ziglang wheel that is installed beside this library,
 * on PATH, or of a python3 on PATH. An empty variable, and a process that has more rights than its
 * user, have none.
 */
#ifndef OFFCHIP_HOST_COMPILER_H
#define OFFCHIP_HOST_COMPILER_H

#include <stdbool.h>
#include <stdint.h>

#define HOST_COMPILER_WORDS 16

struct host_compiler {
    char text[4096];                        /* the words of the command */
    const char *words[HOST_COMPILER_WORDS]; /* up to the first NULL; the first one is a path */
    char stamp[4600]; /* changes with the compiler, the flags and the processor */
    int nice; /* added to the niceness of its process, so that what the user waits for goes first */
};

/* False if there is none. */
bool host_compiler_find(struct host_compiler *compiler, const char *variable);

/* The zig of the ziglang wheel beside LIBRARY, which need not exist: an absolute path. */
bool host_compiler_find_beside(struct host_compiler *compiler, const char *library);

/*
 * Compiles SOURCE, a file, into the shared object RESULT, with that niceness and unseen
 * (unseen_process.h). False if the compiler fails, or takes longer than LIMIT_NS.
 */
bool host_compiler_run(const struct host_compiler *compiler, const char *source, const char *result,
                       int64_t limit_ns);

#endif
