/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory file of a process: how it is made, where it is mapped, and how big it is. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "veo/lib/host.h"

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
 * Far from where programs, libraries, stacks and the memory of AddressSanitizer are, in this
 * process and in the worker, so that the same range is free in both.
 */
#define REGION_FIRST UINT64_C(0x200000000000)
#define REGION_END UINT64_C(0x500000000000)
#define REGION_STEP UINT64_C(0x1000000000)

#define HEAP_MAX ((size_t)48 << 30) /* of a VE10B or VE20B card */
#define HEAP_MIN ((size_t)1 << 20)
#define HEAP_SMALL ((size_t)1 << 30)

static size_t default_heap(void)
{
    struct sysinfo info;
    if (sysinfo(&info) != 0)
        return HEAP_SMALL;
    size_t ram = (size_t)info.totalram * info.mem_unit;
    return (ram < HEAP_MAX ? ram : HEAP_MAX) & ~(WIRE_GAP - 1);
}

static void *map_at_candidate(size_t size, int fd)
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

int veolib_memory_file_new(const char *name, size_t size)
{
    struct rlimit limit;
    int error = 0;
    /* Else ftruncate() ends the program with a signal. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size)
        error = EFBIG;
    int fd = error ? -1 : (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0) {
        /* Out of the way of those that the worker gets. */
        int moved = fcntl(fd, F_DUPFD_CLOEXEC, 16);
        /* EINVAL: all descriptors that are allowed lie below. */
        error = moved >= 0 ? 0 : errno == EINVAL ? EMFILE : errno;
        close(fd);
        fd = moved;
    } else if (!error) {
        error = errno;
    }
    /* A kernel that finds the file must not be able to cut it off under the host. */
    if (!error && (ftruncate(fd, (off_t)size) != 0 ||
                   fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0))
        error = errno;
    if (!error)
        return fd;

    if (fd >= 0)
        close(fd);
    veolib_fail(error, "cannot make a memory file of %zu bytes for a VE process: %s%s", size,
                strerror(error),
                error == EMFILE  ? " (ulimit -n)"
                : error == EFBIG ? " (ulimit -f; VEO_SOFT_MEMORY sets the size of VE memory)"
                : error == EPERM || error == ENOSYS
                    ? " (memfd_create() is not allowed here, as by a seccomp filter)"
                    : "");
    return -1;
}

static bool try_map(struct veo_proc_handle *proc, size_t wire_size, size_t heap_size)
{
    size_t size = WIRE_HEADER_SIZE + wire_size + WIRE_GAP + heap_size;
    int fd = veolib_memory_file_new("offchip-veo", size);
    if (fd < 0)
        return false;
    char *map = map_at_candidate(size, fd);
    if (map == MAP_FAILED) {
        int error = errno;
        close(fd);
        veolib_fail(error,
                    "cannot map %zu bytes of VE memory: %s (VEO_SOFT_MEMORY sets the size; limits: "
                    "ulimit -v)",
                    size, strerror(error));
        return false;
    }
    madvise(map, size, MADV_DONTFORK);
    uint64_t base = (uint64_t)(uintptr_t)map;
    mprotect(map + WIRE_HEADER_SIZE + wire_size, WIRE_GAP, PROT_NONE);
    proc->memory_fd = fd;
    proc->header = (struct wire_header *)(void *)map;
    proc->mapped = size;
    proc->wire = base + WIRE_HEADER_SIZE;
    proc->wire_size = wire_size;
    proc->heap = proc->wire + wire_size + WIRE_GAP;
    proc->heap_size = heap_size;
    proc->wire_ranges = range_alloc_new(proc->wire, wire_size);
    proc->heap_ranges = range_alloc_new(proc->heap, heap_size);
    if (!proc->wire_ranges || !proc->heap_ranges) {
        veolib_memory_unmap(proc);
        veolib_fail(ENOMEM, "no memory for a VE process");
        return false;
    }
    *proc->header = (struct wire_header){.version = WIRE_VERSION,
                                         .seat = proc->seat,
                                         .heap = proc->heap,
                                         .heap_size = heap_size,
                                         .quiet = veolib_is_quiet()};
    return true;
}

bool veolib_memory_map(struct veo_proc_handle *proc)
{
    size_t asked = veolib_env_size("VEO_SOFT_MEMORY", 0);
    size_t heap = asked ? asked : default_heap();
    heap = (heap < HEAP_MIN ? HEAP_MIN : heap) + WIRE_GAP - 1;
    heap &= ~(WIRE_GAP - 1);
    struct rlimit limit;
    bool small = !asked && heap > HEAP_SMALL && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                 limit.rlim_cur < WIRE_SIZE + heap + HEAP_MIN;
    if (!small && try_map(proc, WIRE_SIZE, heap))
        return true;
    /* Under a limit on address space less will do, unless a size was asked for. */
    return !asked && heap > HEAP_SMALL && try_map(proc, WIRE_SIZE_SMALL, HEAP_SMALL);
}

void veolib_memory_unmap(struct veo_proc_handle *proc)
{
    if (proc->header)
        munmap(proc->header, proc->mapped);
    if (proc->memory_fd >= 0)
        close(proc->memory_fd);
    range_alloc_delete(proc->wire_ranges);
    range_alloc_delete(proc->heap_ranges);
    proc->header = NULL;
    proc->memory_fd = -1;
    proc->wire_ranges = NULL;
    proc->heap_ranges = NULL;
}
