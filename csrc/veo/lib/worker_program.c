/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/worker_program.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/host_machine.h"
#include "veo/lib/environment.h"
#include "veo/lib/error.h"

#define EM_VE 251

/* True if it is a worker of NEC's SDK, by its folder or by its name, such as aveorun-ftrace_ve1. */
static bool is_vendors_worker(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return strncmp(path, "/opt/nec/", 9) == 0 || strncmp(name, "aveorun", 7) == 0;
}

const char *veolib_worker_chosen(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const char *program = veolib_env_text("VEORUN_BIN");
    if (program == NULL)
        return NULL;
    if (!is_vendors_worker(program) || access(program, F_OK) == 0 || errno != ENOENT)
        return program;

    if (!atomic_flag_test_and_set(&told))
        veolib_log(
            "VEORUN_BIN='%s' is NEC's worker and does not exist; using the soft libveo's own",
            program);
    return NULL;
}

/* The library's own worker is beside the library or in ../bin. */
static bool find_own_worker(char path[PATH_MAX])
{
    static const char *const places[] = {"../bin/veorun", "veorun"};
    Dl_info info;
    char here[PATH_MAX];
    if (!dladdr((const void *)find_own_worker, &info) || realpath(info.dli_fname, here) == NULL) {
        veolib_fail(ENOENT, "cannot find the worker: the path of the soft libveo is unknown; set "
                            "VEORUN_BIN");
        return false;
    }

    char *slash = strrchr(here, '/');
    *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if ((size_t)snprintf(path, PATH_MAX, "%s/%s", here, places[i]) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
    }
    veolib_fail(
        ENOENT,
        "there is no worker program 'veorun' in %s or %s/../bin; set VEORUN_BIN to its path", here,
        here);
    return false;
}

enum kind { PROGRAM_FAILED, PROGRAM_HOST, PROGRAM_VE };

/* Tells the kind of a file by its first bytes. PROGRAM_FAILED (error set) for another machine's. */
static enum kind recognise(const char *path, const Elf64_Ehdr *header)
{
    if (memcmp(header->e_ident, "!<arch>\n", 8) == 0)
        return PROGRAM_VE;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return PROGRAM_HOST;

    bool wide = header->e_ident[EI_CLASS] == ELFCLASS64;
    if (wide && header->e_machine == EM_VE)
        return PROGRAM_VE;
    if (wide && header->e_machine == HOST_MACHINE)
        return PROGRAM_HOST;
    veolib_fail(ENOEXEC,
                "the worker '%s' is a program neither for " HOST_MACHINE_NAME
                " nor for the Vector Engine (ELF machine %u)",
                path, header->e_machine);
    return PROGRAM_FAILED;
}

static enum kind check_program(const char *path)
{
    Elf64_Ehdr header;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        veolib_fail(errno, "cannot start the worker '%s': %s", path, strerror(errno));
        return PROGRAM_FAILED;
    }
    ssize_t n = read(fd, &header, sizeof header);
    close(fd);

    enum kind kind = n == (ssize_t)sizeof header ? recognise(path, &header) : PROGRAM_HOST;
    if (kind == PROGRAM_HOST && access(path, X_OK) != 0) {
        veolib_fail(errno, "the worker '%s' cannot be executed: %s", path, strerror(errno));
        return PROGRAM_FAILED;
    }
    return kind;
}

const char *veolib_worker_program(const char *program, char own[PATH_MAX], const char **code)
{
    *code = NULL;
    if (program != NULL) {
        enum kind kind = check_program(program);
        if (kind != PROGRAM_VE)
            return kind == PROGRAM_HOST ? program : NULL;
        *code = program;
    }
    return find_own_worker(own) && check_program(own) == PROGRAM_HOST ? own : NULL;
}
