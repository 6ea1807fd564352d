/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/worker/program.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "veo/run/checks.h"
#include "veo/run/libraries.h"
#include "veo/run/report.h"
#include "veo/worker/context.h"
#include "veo/worker/crash.h"

/* As of a shell, for what is there and cannot be run. */
enum { CANNOT_RUN = 126 };

static size_t length(char *const *list)
{
    size_t n = 0;
    while (list[n] != NULL)
        n++;
    return n;
}

/* Pushes what a program finds at its stack pointer: argc, argv, the environment, the auxiliary
 * vector. */
static void push_arguments(struct verun_thread *thread, char *argv[],
                           const struct velink_library *program)
{
    size_t nargs = length(argv);
    size_t nenv = length(environ);
    const uint64_t vector[][2] = {
        {AT_PAGESZ, (uint64_t)sysconf(_SC_PAGESIZE)},
        {AT_CLKTCK, (uint64_t)sysconf(_SC_CLK_TCK)},
        {AT_PHDR, program->headers},
        {AT_PHENT, sizeof(Elf64_Phdr)},
        {AT_PHNUM, program->nheaders},
        {AT_ENTRY, program->entry},
        {AT_RANDOM, getauxval(AT_RANDOM)},
        {AT_UID, getuid()},
        {AT_EUID, geteuid()},
        {AT_GID, getgid()},
        {AT_EGID, getegid()},
        {AT_SECURE, 0},
        {AT_NULL, 0},
    };
    size_t size = (1 + nargs + 1 + nenv + 1) * sizeof(uint64_t) + sizeof vector;
    uint64_t *to = (uint64_t *)(uintptr_t)((thread->core->s[VE_S_STACK] - size) & ~UINT64_C(15));
    thread->core->s[VE_S_STACK] = (uint64_t)(uintptr_t)to;
    *to++ = nargs;
    memcpy(to, argv, (nargs + 1) * sizeof *to);
    to += nargs + 1;
    memcpy(to, environ, (nenv + 1) * sizeof *to);
    to += nenv + 1;
    memcpy(to, vector, sizeof vector);
}

static int run(const struct velink_library *program, char *argv[])
{
    struct verun_thread *thread = verun_thread();
    const struct velink_named *function = velink_export(program, "main");
    uint64_t result = 0;
    if (thread == NULL) {
        fprintf(stderr, "veorun: out of memory\n");
        return CANNOT_RUN;
    }

    bool done;
    verun_report_begin("main");
    if (program->entry != 0) {
        verun_start_variables(thread);
        push_arguments(thread, argv, program);
        verun_checks_enter_program(thread->core);
        done = ve_core_run(thread->core, program->entry);
    } else if (function != NULL) {
        const uint64_t args[] = {length(argv), (uint64_t)(uintptr_t)argv,
                                 (uint64_t)(uintptr_t)environ};
        done = verun_call(thread, function->address, args, 3, &result);
    } else {
        fprintf(stderr, "veorun: %s has neither main() nor an entry\n", argv[0]);
        return CANNOT_RUN;
    }
    if (!done)
        veow_ve_exception(thread->core);
    verun_report_end();
    exit((int)result);
}

int veow_run_program(char *argv[])
{
    static struct wire_header alone;
    struct velink_error error = {""};
    veow_header = &alone;
    veow_crash_setup();
    veow_signal_stack_new();
    if (!verun_recognises(argv[0])) {
        fprintf(stderr, "veorun: %s is no file of VE code\n", argv[0]);
        return CANNOT_RUN;
    }

    const struct velink_library *program = verun_load(argv[0], &error);
    if (program == NULL) {
        fprintf(stderr, "veorun: cannot load %s: %s\n", argv[0], error.text);
        return CANNOT_RUN;
    }
    return run(program, argv);
}
