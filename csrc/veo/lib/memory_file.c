/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "veo/lib/error.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#endif
#ifndef MFD_ALLOW_SEALING
#define MFD_ALLOW_SEALING 2U
#endif

/*
 * Far from programs, libraries, stacks and the memory of AddressSanitizer, in this process and in
 * the worker, so that the same range is free in both.
 */
#define REGION_FIRST UINT64_C(0x200000000000)
#define REGION_END UINT64_C(0x500000000000)
#define REGION_STEP UINT64_C(0x1000000000)

/* The first descriptor that a worker does not use. */
#define FIRST_FD 16

static void *map_at_candidate(int fd, size_t size)
{
    static _Atomic uint64_t rotor;
    /* ThreadSanitizer leaves no such region free. */
#ifndef __SANITIZE_THREAD__
    uint64_t step = (size + REGION_STEP - 1) / REGION_STEP * REGION_STEP;
    uint64_t places = (REGION_END - REGION_FIRST) / step;
    for (uint64_t i = 0; i < places; i++) {
        uint64_t at = REGION_FIRST + atomic_fetch_add(&rotor, 1) % places * step;
        void *map = mmap((void *)(uintptr_t)at, size, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, 0);
        if (map == (void *)(uintptr_t)at)
            return map;
        if (map != MAP_FAILED)
            munmap(map, size); /* a kernel that does not know the flag */
        else if (errno != EEXIST)
            break;
    }
#endif
    (void)rotor;
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
}

char *veolib_memory_file_map(int fd, size_t size)
{
    char *map = map_at_candidate(fd, size);
    if (map == MAP_FAILED) {
        int error = errno;
        veolib_fail(error,
                    "cannot map %zu bytes of VE memory: %s (VEO_SOFT_MEMORY sets the size; limits: "
                    "ulimit -v)",
                    size, strerror(error));
        return NULL;
    }

    madvise(map, size, MADV_DONTFORK);
    return map;
}

/* The descriptor of an empty file, -1 with errno. */
static int create_file(const char *name)
{
    int fd = (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;

    int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
    /* EINVAL: the limit on descriptors is below FIRST_FD. */
    int error = moved < 0 && errno == EINVAL ? EMFILE : errno;
    close(fd);
    errno = error;
    return moved;
}

/* A kernel that finds the file must not be able to truncate it. 0 or an errno. */
static int set_size(int fd, size_t size)
{
    if (ftruncate(fd, (off_t)size) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return errno;
    return 0;
}

static const char *hint_for(int error)
{
    switch (error) {
    case EMFILE: return " (ulimit -n)";
    case EFBIG: return " (ulimit -f; VEO_SOFT_MEMORY sets the size of VE memory)";
    case EPERM:
    case ENOSYS: return " (memfd_create() is not allowed here, for example by a seccomp filter)";
    default: return "";
    }
}

int veolib_memory_file_new(const char *name, size_t size)
{
    struct rlimit limit;
    int fd = -1;
    int error = 0;

    /* Beyond this limit ftruncate() ends the program with a signal. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size)
        error = EFBIG;
    if (error == 0 && (fd = create_file(name)) < 0)
        error = errno;
    if (error == 0)
        error = set_size(fd, size);
    if (error == 0)
        return fd;

    if (fd >= 0)
        close(fd);
    veolib_fail(error, "cannot create a memory file of %zu bytes for a VE process: %s%s", size,
                strerror(error), hint_for(error));
    return -1;
}
