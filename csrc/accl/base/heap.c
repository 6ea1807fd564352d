/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory file of a rank and the blocks in it.
 *
 * The file is large and sparse. A block is reserved in it (fallocate) before its users get its
 * address, so that touching it cannot fail later; what is freed is given back to the system when
 * there is much of it. Large blocks are in huge pages, also at their ends: two blocks there share
 * one. They start anywhere in it, as copies between blocks at equal places are slower.
 */
#include "accl/base/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "accl/base/arena.h"
#include "accl/base/fork.h"
#include "accl/base/huge_pages.h"
#include "common/range_alloc.h"

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#define MFD_ALLOW_SEALING 2U
#endif
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_GET_SEALS 1034
#define F_SEAL_SEAL 1
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW 4
#endif

#define PAGE UINT64_C(4096)
#define HEAP_DEFAULT (UINT64_C(64) << 30)
#define HEAP_SMALL (UINT64_C(64) << 20)
#define PEERS_USUAL 16
#define HEAP_LEAST (UINT64_C(1) << 20)
#define KEPT_DIRTY (UINT64_C(64) << 20)
#define HUGE_FROM HUGE_PAGE /* what a block has at least for them */

bool acclib_heap_is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK);
}

/* Limits of this process, in bytes; UINT64_MAX where there is none. */
static uint64_t limit_of_files(void)
{
    struct rlimit limit;
    bool is_set = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_set ? limit.rlim_cur : UINT64_MAX;
}

static uint64_t limit_of_addresses(void)
{
    struct rlimit limit;
    bool is_set = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_set ? limit.rlim_cur : UINT64_MAX;
}

/* COUNT zeros. */
static _Atomic uint32_t *map_words(uint64_t count)
{
    return mmap(NULL, count * sizeof(_Atomic uint32_t), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static struct heap *heap_try(uint64_t bytes)
{
    /* Beyond this limit ftruncate() ends the program with a signal. */
    if (bytes > limit_of_files()) {
        errno = EFBIG;
        return NULL;
    }
    struct heap *heap = calloc(1, sizeof *heap);
    if (heap == NULL)
        return NULL;

    heap->refs = 1;
    heap->bytes = bytes;
    heap->page_count = bytes / PAGE;
    heap->fork_count = acclib_fork_count();
    pthread_mutex_init(&heap->lock, NULL);
    heap->base = MAP_FAILED;
    heap->pages = heap->hosts = MAP_FAILED;
    heap->fd = (int)syscall(SYS_memfd_create, "offchip-accl", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (heap->fd < 0 || ftruncate(heap->fd, (off_t)bytes) != 0)
        goto failed;

    /* A peer cannot cut it off under this process. */
    fcntl(heap->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    heap->base = acclib_huge_map(heap->fd, bytes);
    heap->pages = map_words(heap->page_count);
    heap->hosts = map_words(heap->page_count);
    heap->ranges = range_alloc_new(ARENA_HEADER_BYTES, bytes - ARENA_HEADER_BYTES);
    heap->huge = calloc(bytes / HUGE_PAGE + 1, 1);
    heap->held = calloc(heap->page_count / 8 + 1, 1);
    if (heap->base == MAP_FAILED || heap->pages == MAP_FAILED || heap->hosts == MAP_FAILED ||
        heap->ranges == NULL || heap->huge == NULL || heap->held == NULL ||
        fallocate(heap->fd, 0, 0, ARENA_HEADER_BYTES) != 0)
        goto failed;

    return heap;
failed:
    acclib_heap_release(heap);
    return NULL;
}

/* With limits on files or address space a smaller one will do; all peers have one each, too. */
static struct heap *open_default(void)
{
    struct heap *heap = NULL;
    for (uint64_t bytes = HEAP_DEFAULT; heap == NULL && bytes >= HEAP_SMALL; bytes /= 4)
        if (bytes == HEAP_SMALL || PEERS_USUAL * bytes <= limit_of_addresses())
            heap = heap_try(bytes + ARENA_HEADER_BYTES);
    return heap;
}

struct heap *acclib_heap_open(uint64_t bytes)
{
    if (!bytes)
        return open_default();
    if (bytes > (UINT64_C(1) << 44)) {
        errno = EINVAL;
        return NULL;
    }
    if (bytes < HEAP_LEAST)
        bytes = HEAP_LEAST;
    return heap_try((bytes + ARENA_HEADER_BYTES + PAGE - 1) & ~(PAGE - 1));
}

const char *acclib_heap_limits(void)
{
    bool files = limit_of_files() != UINT64_MAX;
    bool addresses = limit_of_addresses() != UINT64_MAX;
    if (files && addresses)
        return " (ulimit -f and ulimit -v are set)";
    if (files)
        return " (ulimit -f is set, which holds for the memory file of a rank)";
    return addresses ? " (ulimit -v is set)" : "";
}

struct heap *acclib_heap_share(struct heap *heap)
{
    atomic_fetch_add(&heap->refs, 1);
    return heap;
}

void acclib_heap_release(struct heap *heap)
{
    if (atomic_fetch_sub(&heap->refs, 1) != 1)
        return;
    if (heap->base != MAP_FAILED)
        munmap(heap->base, heap->bytes);
    if (heap->pages != MAP_FAILED)
        munmap(heap->pages, heap->page_count * sizeof *heap->pages);
    if (heap->hosts != MAP_FAILED)
        munmap(heap->hosts, heap->page_count * sizeof *heap->hosts);
    if (heap->fd >= 0 && heap->fork_count == acclib_fork_count())
        close(heap->fd);
    range_alloc_delete(heap->ranges);
    free(heap->huge);
    free(heap->held);
    pthread_mutex_destroy(&heap->lock);
    free(heap);
}

/* Bytes that the system can still give, as far as it says. */
static uint64_t memory_available(void)
{
    FILE *file = fopen("/proc/meminfo", "re");
    if (file == NULL)
        return UINT64_MAX;

    char line[128];
    unsigned long long kib = 0;
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = sscanf(line, "MemAvailable: %llu", &kib) == 1;
    fclose(file);

    return found ? (uint64_t)kib * 1024 : UINT64_MAX;
}

/* Puts a large block in huge pages, if the system has some. */
static void make_huge(struct heap *heap, uint64_t offset, uint64_t bytes)
{
    uint64_t whole = heap->bytes / HUGE_PAGE;
    uint64_t first = offset / HUGE_PAGE, end = (offset + bytes + HUGE_PAGE - 1) / HUGE_PAGE;
    end = end < whole ? end : whole;
    while (first < end && heap->huge[first])
        first++;
    if (bytes < HUGE_FROM || heap->no_huge || first == end)
        return;

    if (acclib_huge_make(heap->fd, heap->base, first, end))
        memset(heap->huge + first, 1, end - first);
    else
        heap->no_huge = errno != EAGAIN && errno != EBUSY;
}

/* Gives [AT, AT + BYTES) of the file back to the system. */
static void give_back(struct heap *heap, uint64_t at, uint64_t bytes)
{
    fallocate(heap->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
    for (uint64_t i = at / HUGE_PAGE; i * HUGE_PAGE < at + bytes; i++)
        heap->huge[i] = 0;
}

uint64_t acclib_heap_get(struct heap *heap, uint64_t bytes)
{
    if (bytes == 0)
        bytes = 1;
    if (bytes > heap->bytes)
        return 0;

    bytes = (bytes + PAGE - 1) & ~(PAGE - 1);
    if (bytes >= KEPT_DIRTY && bytes > memory_available())
        return 0;

    pthread_mutex_lock(&heap->lock);
    uint64_t offset = range_alloc_get(heap->ranges, bytes);
    if (offset)
        make_huge(heap, offset, bytes);
    if (offset && fallocate(heap->fd, 0, (off_t)offset, (off_t)bytes) != 0) {
        range_alloc_put(heap->ranges, offset, NULL);
        offset = 0;
    }

    if (offset) {
        uint32_t first = (uint32_t)(offset / PAGE);
        for (uint64_t i = 0; i < bytes / PAGE; i++)
            atomic_store_explicit(&heap->pages[first + i], first + 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&heap->lock);

    return offset;
}

static bool is_held(const struct heap *heap, uint64_t page)
{
    return (heap->held[page / 8] >> page % 8 & 1) != 0;
}

void acclib_heap_hold(struct heap *heap, uint64_t offset)
{
    pthread_mutex_lock(&heap->lock);
    uint32_t block = atomic_load_explicit(&heap->pages[offset / PAGE], memory_order_relaxed);
    if (block)
        heap->held[(block - 1) / 8] |= (uint8_t)(1U << (block - 1) % 8);
    pthread_mutex_unlock(&heap->lock);
}

void acclib_heap_put(struct heap *heap, uint64_t offset)
{
    pthread_mutex_lock(&heap->lock);
    uint64_t bytes;
    if (!is_held(heap, offset / PAGE) && range_alloc_put(heap->ranges, offset, &bytes)) {
        for (uint64_t i = 0; i < bytes / PAGE; i++)
            atomic_store_explicit(&heap->pages[offset / PAGE + i], 0, memory_order_relaxed);
        uint64_t at, length;
        while (range_alloc_dirty(heap->ranges) > KEPT_DIRTY &&
               range_alloc_largest_dirty(heap->ranges, &at, &length)) {
            give_back(heap, at, length);
            range_alloc_mark_clean(heap->ranges, at);
        }
    }
    pthread_mutex_unlock(&heap->lock);
}

void acclib_heap_set_host(struct heap *heap, uint64_t offset, uint64_t host)
{
    uint32_t first = host ? (uint32_t)(host / PAGE + 1) : 0;
    atomic_store_explicit(&heap->hosts[offset / PAGE], first, memory_order_relaxed);
}

uint8_t *acclib_heap_host(const struct heap *heap, const uint8_t *memory)
{
    if (memory == NULL)
        return NULL;

    uint64_t offset = heap_offset(heap, memory);
    uint32_t block = atomic_load_explicit(&heap->pages[offset / PAGE], memory_order_relaxed);
    uint32_t host = block ? atomic_load_explicit(&heap->hosts[block - 1], memory_order_relaxed) : 0;
    return host ? heap->base + (host - 1) * PAGE + (offset - (block - 1) * PAGE) : NULL;
}

uint64_t acclib_heap_used(struct heap *heap)
{
    pthread_mutex_lock(&heap->lock);
    uint64_t used = range_alloc_used(heap->ranges);
    pthread_mutex_unlock(&heap->lock);
    return used;
}

bool acclib_heap_valid(const struct heap *heap, uint64_t address, uint64_t bytes)
{
    if (address < ADDRESS_BASE || address - ADDRESS_BASE >= heap->bytes)
        return false;

    uint64_t offset = address - ADDRESS_BASE;
    if (bytes > heap->bytes - offset)
        return false;

    uint64_t last = bytes ? offset + bytes - 1 : offset;
    uint32_t block = atomic_load_explicit(&heap->pages[offset / PAGE], memory_order_relaxed);

    return block != 0 &&
           block == atomic_load_explicit(&heap->pages[last / PAGE], memory_order_relaxed);
}
