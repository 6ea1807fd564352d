/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compiler.h: a C compiler of this machine, and running it.
 *
 * The compiler is what DPU_SOFT_CC names, a command with blanks between its words; else gcc, clang
 * or cc on PATH; else zig: of the ziglang wheel that is installed beside this library, on PATH, or
 * of a python3 on PATH. An empty DPU_SOFT_CC, and a process that has more rights than its user,
 * have none.
 */
#ifndef OFFCHIP_DPU_COMPILER_H
#define OFFCHIP_DPU_COMPILER_H

#include <stdbool.h>
#include <stdint.h>

#define DPU_COMPILER_WORDS 16

struct dpu_compiler {
    char text[4096];                       /* the words of the command */
    const char *words[DPU_COMPILER_WORDS]; /* up to the first NULL; the first one is a path */
    char stamp[4600]; /* changes with the compiler, the flags and the processor */
    int nice;         /* of its process; below what the user waits for */
};

/* False if there is none. */
bool dpu_compiler_find(struct dpu_compiler *compiler);

/* The zig of the ziglang wheel beside LIBRARY, which need not exist: an absolute path. */
bool dpu_compiler_find_beside(struct dpu_compiler *compiler, const char *library);

/*
 * Compiles SOURCE, a file, into the shared object RESULT, at low priority and unseen
 * (unseen_process.h). False if the compiler fails, or takes longer than LIMIT_NS.
 */
bool dpu_compiler_run(const struct dpu_compiler *compiler, const char *source, const char *result,
                      int64_t limit_ns);

#endif
