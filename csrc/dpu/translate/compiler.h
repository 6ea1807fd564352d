/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compiler.h: a C compiler of this machine, and running it.
 *
 * The compiler is what DPU_SOFT_CC names, a command with blanks between its words; else gcc, clang
 * or cc on PATH; else the ziglang wheel of a python3 on PATH. An empty DPU_SOFT_CC, and a process
 * that has more rights than its user, have none.
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

/*
 * Compiles SOURCE, a file, into the shared object RESULT, at low priority. False if the compiler
 * fails, or takes longer than LIMIT_NS: then it is killed, with the processes that it started. One
 * at a time; dpu_compiler_stop() makes one that runs in another thread fail, and all later ones.
 */
bool dpu_compiler_run(const struct dpu_compiler *compiler, const char *source, const char *result,
                      int64_t limit_ns);
void dpu_compiler_stop(void);
/* In a forked child: what the parent compiled is not this process's. */
void dpu_compiler_forget(void);

#endif
