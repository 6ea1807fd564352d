/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/accl/base/heap.c csrc/accl/base/huge_pages.c csrc/accl/base/fork.c
 *     csrc/common/range_alloc.c
 *     -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 *     -Wl,--wrap=fallocate,--wrap=mmap,--wrap=madvise,--wrap=ftruncate,--wrap=fopen
 *
 * The memory of a rank: blocks, what is valid, and what happens when the system has no more.
 */
#include "accl/base/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accl/base/arena.h"
#include "accl/base/fork.h"
#include "accl/base/huge_pages.h"
#include "tests/support/check.h"
#include "tests/support/failing_malloc.h"

#define PAGE 4096
#define MIB (UINT64_C(1) << 20)

/* Calls that are refused: the next ones, each from 0 on. */
static int fallocate_left = -1, mmap_left = -1, ftruncate_left = -1;
static uint64_t largest_file = UINT64_MAX, punched;
static const char *meminfo;

static bool refuses(int *left)
{
    return *left >= 0 && (*left)-- == 0;
}

int __real_fallocate(int fd, int mode, off_t offset, off_t length);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t length);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t length)
{
    if (refuses(&fallocate_left)) {
        errno = ENOSPC;
        return -1;
    }
    if (mode & FALLOC_FL_PUNCH_HOLE)
        punched += (uint64_t)length;
    return __real_fallocate(fd, mode, offset, length);
}

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (refuses(&mmap_left)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(at, bytes, protection, flags, fd, offset);
}

static int madvise_calls, madvise_error;
int __real_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice)
{
    madvise_calls++;
    if (!madvise_error)
        return __real_madvise(at, bytes, advice);
    errno = madvise_error;
    return -1;
}

int __real_ftruncate(int fd, off_t bytes);
int __wrap_ftruncate(int fd, off_t bytes);
int __wrap_ftruncate(int fd, off_t bytes)
{
    if ((uint64_t)bytes > largest_file || refuses(&ftruncate_left)) {
        errno = EFBIG;
        return -1;
    }
    return __real_ftruncate(fd, bytes);
}

/* /proc/meminfo: as it is, missing ("") or with a text of ours. */
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    if (meminfo == NULL || strcmp(path, "/proc/meminfo") != 0)
        return __real_fopen(path, mode);
    if (*meminfo == 0)
        return NULL;
    return fmemopen((void *)(uintptr_t)meminfo, strlen(meminfo), "r");
}

static int count_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void test_blocks(void)
{
    struct heap *heap = acclib_heap_open(0);
    CHECK(heap != NULL && acclib_heap_used(heap) == 0);
    CHECK(acclib_heap_is_sealed(heap->fd) && !acclib_heap_is_sealed(0));
    CHECK(ftruncate(heap->fd, 0) != 0);

    /* Of pages, behind the header, apart from each other, and writable. */
    uint64_t nothing = acclib_heap_get(heap, 0), two = acclib_heap_get(heap, PAGE + 1);
    CHECK(nothing >= ARENA_HEADER_BYTES && two >= ARENA_HEADER_BYTES);
    CHECK(nothing % PAGE == 0 && two % PAGE == 0);
    CHECK(two + 2 * PAGE <= nothing || nothing + PAGE <= two);
    CHECK(acclib_heap_used(heap) == 3 * PAGE);
    memset(heap->base + two, 7, 2 * PAGE);
    CHECK(heap_offset(heap, heap->base + two) == two);

    /* Valid ranges are inside one block. */
    uint64_t at = ADDRESS_BASE + two;
    CHECK(acclib_heap_valid(heap, at, 2 * PAGE) && acclib_heap_valid(heap, at + 5, 0));
    CHECK(acclib_heap_valid(heap, at + 2 * PAGE - 1, 1));
    CHECK(!acclib_heap_valid(heap, at, 2 * PAGE + 1));
    CHECK(!acclib_heap_valid(heap, at - 1, 2));
    CHECK(!acclib_heap_valid(heap, at + 2 * PAGE, 1) || two + 2 * PAGE == nothing);
    CHECK(!acclib_heap_valid(heap, ADDRESS_BASE - 1, 1));
    CHECK(!acclib_heap_valid(heap, ADDRESS_BASE + heap->bytes, 0));
    CHECK(!acclib_heap_valid(heap, at, UINT64_MAX));
    CHECK(!acclib_heap_valid(heap, ADDRESS_BASE, 1)); /* the header */

    acclib_heap_put(heap, two);
    CHECK(!acclib_heap_valid(heap, at, 1) && acclib_heap_used(heap) == PAGE);
    acclib_heap_put(heap, two + 1); /* there is no such block */
    CHECK(acclib_heap_used(heap) == PAGE);
    CHECK(acclib_heap_get(heap, heap->bytes + 1) == 0);
    CHECK(acclib_heap_get(heap, heap->bytes) == 0);
    acclib_heap_release(heap);
}

/* A block that others may still write to is kept when it is freed, and no other one is. */
static void test_a_held_block_is_not_given_out_again(void)
{
    struct heap *heap = acclib_heap_open(0);
    CHECK(heap != NULL);
    uint64_t held = acclib_heap_get(heap, 3 * PAGE), other = acclib_heap_get(heap, PAGE);
    acclib_heap_hold(heap, held + 2 * PAGE + 8);
    acclib_heap_hold(heap, heap->bytes - PAGE); /* there is no block */
    CHECK(acclib_heap_valid(heap, ADDRESS_BASE + held, 3 * PAGE));

    acclib_heap_put(heap, held);
    acclib_heap_put(heap, other);
    CHECK(acclib_heap_used(heap) == 3 * PAGE);
    CHECK(acclib_heap_get(heap, PAGE) == other);
    for (int i = 0; i < 50; i++)
        CHECK(acclib_heap_get(heap, PAGE) - held >= 3 * PAGE);
    acclib_heap_release(heap);
}

/* Much memory that was freed goes back to the system, a little stays. */
static void test_freed_memory_is_given_back(void)
{
    struct heap *heap = acclib_heap_open(300 * MIB);
    CHECK(heap != NULL);
    struct stat status;
    uint64_t little = acclib_heap_get(heap, MIB), much = acclib_heap_get(heap, 80 * MIB);
    CHECK(little && much);
    acclib_heap_put(heap, little);
    CHECK(punched == 0);
    acclib_heap_put(heap, much);
    CHECK(punched >= 80 * MIB);
    CHECK(fstat(heap->fd, &status) == 0 && (uint64_t)status.st_blocks * 512 < 17 * MIB);
    acclib_heap_release(heap);
}

/* A block that the system could not back is refused before it is touched. */
static void test_no_memory_for_a_block(void)
{
    struct heap *heap = acclib_heap_open(300 * MIB);
    CHECK(heap != NULL);

    fallocate_left = 0;
    CHECK(acclib_heap_get(heap, PAGE) == 0 && acclib_heap_used(heap) == 0);
    CHECK(acclib_heap_get(heap, PAGE) != 0);

    meminfo = "MemTotal: 1 kB\nMemAvailable: 65536 kB\n"; /* 64 MiB */
    CHECK(acclib_heap_get(heap, 64 * MIB + PAGE) == 0);
    CHECK(acclib_heap_get(heap, 64 * MIB) != 0);
    /* A system that does not say how much there is. */
    meminfo = "MemTotal: 1 kB\n";
    CHECK(acclib_heap_get(heap, 65 * MIB) != 0);
    meminfo = "";
    CHECK(acclib_heap_get(heap, 65 * MIB) != 0);
    meminfo = NULL;
    acclib_heap_release(heap);
}

/* KiB of memory files that this process has mapped by huge pages. */
static unsigned long huge_kib(void)
{
    char line[256];
    unsigned long kib, sum = 0;
    FILE *smaps = fopen("/proc/self/smaps", "re");
    CHECK(smaps != NULL);
    while (fgets(line, sizeof line, smaps) != NULL)
        if (sscanf(line, "ShmemPmdMapped: %lu", &kib) == 1)
            sum += kib;
    fclose(smaps);
    return sum;
}

/* Large blocks and what is beside them, with what is in them already. */
static void test_large_blocks_are_in_huge_pages(void)
{
    struct heap *heap = acclib_heap_open(300 * MIB);
    CHECK(heap != NULL && (uintptr_t)heap->base % HUGE_PAGE == 0);
    uint64_t small = acclib_heap_get(heap, 5 * PAGE);
    memset(heap->base + small, 7, 5 * PAGE);
    madvise_calls = 0;
    CHECK(acclib_heap_get(heap, HUGE_PAGE - PAGE) && madvise_calls == 0);

    uint64_t large = acclib_heap_get(heap, 3 * HUGE_PAGE);
    CHECK(large && large % HUGE_PAGE != 0 && madvise_calls == 1);
    bool makes_some = !heap->no_huge && heap->huge[large / HUGE_PAGE];
    for (uint64_t i = 0; i < 3 * HUGE_PAGE; i++)
        CHECK(heap->base[large + i] == 0);
    for (uint64_t i = 0; i < 5 * PAGE; i++)
        CHECK(heap->base[small + i] == 7);
    /* Linux before 6.1, and systems without room, have none. */
    if (makes_some)
        CHECK(huge_kib() >= 4 * HUGE_PAGE / 1024);

    /* A block that was in them is so again, unless its memory was given back. */
    acclib_heap_put(heap, large);
    CHECK(acclib_heap_get(heap, 3 * HUGE_PAGE) == large);
    CHECK(!makes_some || madvise_calls == 1);
    uint64_t much = acclib_heap_get(heap, 80 * MIB);
    CHECK(much && heap->huge[much / HUGE_PAGE + 1] == makes_some);
    acclib_heap_put(heap, much);
    CHECK(!heap->huge[much / HUGE_PAGE + 1]);
    acclib_heap_release(heap);
}

/* A system that knows none is not asked again, one that is busy is. */
static void test_no_huge_pages(void)
{
    static const struct {
        int error, calls;
    } rows[] = {{EINVAL, 1}, {ENOMEM, 1}, {EAGAIN, 2}, {EBUSY, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heap *heap = acclib_heap_open(64 * MIB);
        CHECK(heap != NULL);
        madvise_error = rows[i].error;
        madvise_calls = 0;
        uint64_t one = acclib_heap_get(heap, HUGE_PAGE), other = acclib_heap_get(heap, HUGE_PAGE);
        CHECK(one && other && madvise_calls == rows[i].calls);
        memset(heap->base + one, 1, HUGE_PAGE);
        acclib_heap_release(heap);
    }
    madvise_error = 0;

    /* The end of the file, and a page that there is no memory for. */
    struct heap *heap = acclib_heap_open(4 * MIB);
    CHECK(heap != NULL && acclib_heap_get(heap, 4 * MIB) != 0);
    acclib_heap_release(heap);
    heap = acclib_heap_open(64 * MIB);
    CHECK(heap != NULL);
    fallocate_left = 0;
    madvise_calls = 0;
    CHECK(acclib_heap_get(heap, 4 * MIB) != 0 && madvise_calls == 0);
    acclib_heap_release(heap);
}

static void test_sizes(void)
{
    CHECK(acclib_heap_open((UINT64_C(1) << 44) + 1) == NULL);
    struct heap *heap = acclib_heap_open(1);
    CHECK(heap != NULL && heap->bytes == MIB + ARENA_HEADER_BYTES);
    acclib_heap_release(heap);

    /* A smaller heap replaces the default if that is too large, but not a size that was given. */
    largest_file = UINT64_C(2) << 30;
    heap = acclib_heap_open(0);
    CHECK(heap != NULL && heap->bytes == (UINT64_C(1) << 30) + ARENA_HEADER_BYTES);
    acclib_heap_release(heap);
    errno = 0;
    CHECK(acclib_heap_open(UINT64_C(3) << 30) == NULL && errno == EFBIG);
    largest_file = UINT64_MAX;
}

/* Whatever is refused, nothing is left. */
static void test_no_memory_for_a_heap(void)
{
    int before = count_descriptors();
    int *const refused[] = {&fallocate_left, &mmap_left, &ftruncate_left};
    for (size_t i = 0; i < 3; i++) {
        int calls = i == 1 ? 3 : 1;
        for (int call = 0; call < calls; call++) {
            *refused[i] = call;
            CHECK(acclib_heap_open(MIB) == NULL);
            CHECK(*refused[i] == -1);
        }
    }

    long n = 0;
    struct heap *heap = NULL;
    for (; heap == NULL; n++) {
        CHECK(n < 10);
        allocations_left = n;
        heap = acclib_heap_open(MIB);
    }
    allocations_left = -1;
    CHECK(n > 1);
    acclib_heap_release(heap);
    CHECK(count_descriptors() == before);
}

/* Each holder has a reference; a forked child leaves the descriptor alone, which may be another's.
 */
static void test_references(void)
{
    acclib_fork_watch(NULL);
    struct heap *heap = acclib_heap_open(MIB);
    CHECK(heap != NULL);
    atomic_fetch_add(&heap->refs, 1);
    acclib_heap_release(heap);
    CHECK(acclib_heap_get(heap, 1) != 0);

    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int fd = heap->fd;
        acclib_heap_release(heap);
        _exit(fcntl(fd, F_GETFD) >= 0 ? 0 : 1);
    }
    int status = -1, fd = heap->fd;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    acclib_heap_release(heap);
    CHECK(fcntl(fd, F_GETFD) < 0);
}

int main(void)
{
    test_blocks();
    test_a_held_block_is_not_given_out_again();
    test_freed_memory_is_given_back();
    test_no_memory_for_a_block();
    test_large_blocks_are_in_huge_pages();
    test_no_huge_pages();
    test_sizes();
    test_no_memory_for_a_heap();
    test_references();
    return 0;
}
