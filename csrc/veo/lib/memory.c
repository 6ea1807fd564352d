/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "common/range_alloc.h"
#include "veo/lib/environment.h"
#include "veo/lib/error.h"
#include "veo/lib/memory_blocks.h"
#include "veo/lib/memory_file.h"

#define HEAP_MAX ((size_t)48 << 30) /* of a VE10B or VE20B card */
#define HEAP_MIN ((size_t)1 << 20)
#define HEAP_SMALL ((size_t)1 << 30)

/* Up to this much freed memory keeps its pages, because a first touch costs far more than a copy.
 */
#define DIRTY_MAX ((uint64_t)1 << 30)
/* From this size on an allocation must fit into the memory that the machine has free. */
#define LARGE ((size_t)64 << 20)

void veolib_memory_init(struct veolib_memory *memory)
{
    pthread_mutex_init(&memory->lock, NULL);
    memory->fd = -1;
}

static size_t default_heap(void)
{
    struct sysinfo info;
    if (sysinfo(&info) != 0)
        return HEAP_SMALL;
    size_t ram = (size_t)info.totalram * info.mem_unit;
    return (ram < HEAP_MAX ? ram : HEAP_MAX) & ~(WIRE_GAP - 1);
}

static bool try_map(struct veolib_memory *memory, size_t wire_size, size_t heap_size)
{
    size_t size = WIRE_HEADER_SIZE + wire_size + WIRE_GAP + heap_size;
    memory->fd = veolib_memory_file_new("offchip-veo", size);
    char *map = memory->fd >= 0 ? veolib_memory_file_map(memory->fd, size) : NULL;
    if (map == NULL) {
        veolib_memory_unmap(memory);
        return false;
    }

    uint64_t wire = (uint64_t)(uintptr_t)map + WIRE_HEADER_SIZE;
    mprotect(map + WIRE_HEADER_SIZE + wire_size, WIRE_GAP, PROT_NONE);
    memory->header = (struct wire_header *)(void *)map;
    memory->mapped = size;
    memory->heap = wire + wire_size + WIRE_GAP;
    memory->heap_size = heap_size;

    memory->wire_ranges = range_alloc_new(wire, wire_size);
    memory->heap_ranges = range_alloc_new(memory->heap, heap_size);
    if (memory->wire_ranges == NULL || memory->heap_ranges == NULL) {
        veolib_memory_unmap(memory);
        veolib_fail(ENOMEM, "out of memory (VE process)");
        return false;
    }

    *memory->header =
        (struct wire_header){.version = WIRE_VERSION, .heap = memory->heap, .heap_size = heap_size};
    return veolib_blocks_new(memory);
}

static bool file_limit_is_below(size_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size;
}

bool veolib_memory_map(struct veolib_memory *memory)
{
    size_t asked = veolib_env_value(VEOLIB_ID_VEO_SOFT_MEMORY);
    size_t heap = asked > 0 ? asked : default_heap();
    heap = (heap < HEAP_MIN ? HEAP_MIN : heap) + WIRE_GAP - 1;
    heap &= ~(WIRE_GAP - 1);

    /* A default size gives way to limits on files and address space; a size that was set does not.
     */
    bool may_shrink = asked == 0 && heap > HEAP_SMALL;
    if (!(may_shrink && file_limit_is_below(WIRE_SIZE + heap + HEAP_MIN)) &&
        try_map(memory, WIRE_SIZE, heap))
        return true;
    return may_shrink && try_map(memory, WIRE_SIZE_SMALL, HEAP_SMALL);
}

void veolib_memory_unmap(struct veolib_memory *memory)
{
    int error = errno;
    if (memory->header != NULL)
        munmap(memory->header, memory->mapped);
    if (memory->fd >= 0)
        close(memory->fd);
    range_alloc_delete(memory->wire_ranges);
    range_alloc_delete(memory->heap_ranges);

    memory->header = NULL;
    memory->fd = -1;
    memory->wire_ranges = NULL;
    memory->heap_ranges = NULL;
    memory->blocks = NULL;
    errno = error;
}

uint64_t veolib_wire_get(struct veolib_memory *memory, size_t size)
{
    pthread_mutex_lock(&memory->lock);
    uint64_t block = range_alloc_get(memory->wire_ranges, size);
    pthread_mutex_unlock(&memory->lock);
    return block;
}

void veolib_wire_put(struct veolib_memory *memory, uint64_t block)
{
    pthread_mutex_lock(&memory->lock);
    if (memory->blocks != NULL)
        veolib_blocks_remove(memory, block, range_alloc_length(memory->wire_ranges, block));
    range_alloc_put(memory->wire_ranges, block, NULL);
    pthread_mutex_unlock(&memory->lock);
}

void veolib_wire_open(struct veolib_memory *memory, uint64_t address, size_t size)
{
    if (memory->blocks == NULL)
        return;
    pthread_mutex_lock(&memory->lock);
    veolib_blocks_add(memory, address, size);
    pthread_mutex_unlock(&memory->lock);
}

bool veolib_heap_contains(const struct veolib_memory *memory, uint64_t addr, size_t size)
{
    return addr >= memory->heap && addr - memory->heap <= memory->heap_size &&
           size <= memory->heap_size - (addr - memory->heap);
}

/* Bytes that the machine can give to programs without swapping; UINT64_MAX if it does not say. */
static uint64_t memory_available(void)
{
    char text[2048];
    int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return UINT64_MAX;

    text[n] = 0;
    const char *line = strstr(text, "MemAvailable:");
    unsigned long long kib;
    if (line == NULL || sscanf(line, "MemAvailable: %llu", &kib) != 1)
        return UINT64_MAX;
    return (uint64_t)kib << 10;
}

uint64_t veolib_heap_get(struct veolib_memory *memory, size_t size)
{
    /* Pages come when they are touched: an allocation that fails now is better than a process that
     * is killed then. */
    pthread_mutex_lock(&memory->lock);
    uint64_t reusable = range_alloc_dirty(memory->heap_ranges);
    pthread_mutex_unlock(&memory->lock);
    if (size >= LARGE && size > reusable && size - reusable > memory_available())
        return 0;

    pthread_mutex_lock(&memory->lock);
    uint64_t addr = range_alloc_get(memory->heap_ranges, size);
    if (addr != 0)
        veolib_blocks_add(memory, addr, size);
    pthread_mutex_unlock(&memory->lock);
    return addr;
}

/* Releases pages of free blocks. With the lock. */
static void trim(struct veolib_memory *memory)
{
    uint64_t addr;
    uint64_t size;
    while (range_alloc_dirty(memory->heap_ranges) > DIRTY_MAX &&
           range_alloc_largest_dirty(memory->heap_ranges, &addr, &size)) {
        off_t offset = (off_t)(addr - (uint64_t)(uintptr_t)memory->header);
        fallocate(memory->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, (off_t)size);
        range_alloc_mark_clean(memory->heap_ranges, addr);
    }
}

bool veolib_heap_put(struct veolib_memory *memory, uint64_t addr)
{
    pthread_mutex_lock(&memory->lock);
    bool found = range_alloc_put(memory->heap_ranges, addr, NULL);
    if (found) {
        veolib_blocks_remove(memory, addr, 1);
        trim(memory);
    }
    pthread_mutex_unlock(&memory->lock);
    return found;
}

bool veolib_heap_owns(struct veolib_memory *memory, uint64_t addr)
{
    pthread_mutex_lock(&memory->lock);
    bool found = range_alloc_length(memory->heap_ranges, addr) != 0;
    pthread_mutex_unlock(&memory->lock);
    return found;
}

size_t veolib_heap_used(struct veolib_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    size_t used = (size_t)range_alloc_used(memory->heap_ranges);
    pthread_mutex_unlock(&memory->lock);
    return used;
}
