/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Freeing what a kernel has from malloc(), as the host asks for it by address.
 *
 * free() ends the process when it is given anything else, so the address is checked before. With
 * glibc's malloc() the words before each block tell: its size with three flags, and for a block
 * that has pages of its own how far these begin before it. Any other malloc(), as a program may
 * have preloaded, is trusted to check for itself.
 */
#include "veo/worker/release.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "veo/run/checks.h"

/* AddressSanitizer knows what it has given out. */
extern int __sanitizer_get_ownership(const volatile void *address) __attribute__((weak));

enum { PREVIOUS_IN_USE = 1, IS_MAPPED = 2, OTHER_ARENA = 4, FLAGS = 7 };
enum { ALIGNMENT = 16, SMALLEST = 32 };

/* The two words before a block, or those of a block that is free. */
struct words {
    uint64_t first;
    uint64_t second;
};

/* False if there is no memory. */
static bool read_words(struct veow_context *ctx, uint64_t address, struct words *words)
{
    if (sigsetjmp(ctx->guard, 0) != 0) {
        ctx->guarded = false;
        return false;
    }

    ctx->guarded = true;
    atomic_signal_fence(memory_order_seq_cst);
    const volatile uint64_t *from = (const volatile uint64_t *)(uintptr_t)address;
    words->first = from[0];
    words->second = from[1];
    atomic_signal_fence(memory_order_seq_cst);
    ctx->guarded = false;
    return true;
}

/* A block with pages of its own: before it is how far they begin before it. */
static bool is_mapped_block(uint64_t block, const struct words *head)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t size = head->second & ~(uint64_t)FLAGS;
    uint64_t start = block - ALIGNMENT - head->first;
    return size >= page && head->first < block && start % page == 0 &&
           (size + head->first) % page == 0;
}

/* The second word of a block that its thread's cache of free blocks has is this, or its like. */
static uint64_t cache_mark(void)
{
    uint64_t *block = malloc(24);
    uint64_t mark = 0;
    if (block == NULL)
        return 0;

    block[1] = 0;

    /* The compiler must not know that this is what was freed. */
    uintptr_t address = (uintptr_t)block;
    __asm__ volatile("" : "+r"(address));
    free(block);
    mark = ((const volatile uint64_t *)address)[1];
    return mark;
}

static bool is_allocated(struct veow_context *ctx, uint64_t block)
{
    struct words head;
    struct words next;
    struct words content;
    if (block < (1 << 16) || block % ALIGNMENT || !read_words(ctx, block - ALIGNMENT, &head))
        return false;
    if (head.second & IS_MAPPED)
        return is_mapped_block(block, &head);

    uint64_t size = head.second & ~(uint64_t)FLAGS;
    if (size < SMALLEST || size % ALIGNMENT || size > UINT64_C(1) << 46)
        return false;

    /* The block after it says whether it is in use. */
    if (!read_words(ctx, block - ALIGNMENT + size, &next) || !(next.second & PREVIOUS_IN_USE))
        return false;

    uint64_t next_size = next.second & ~(uint64_t)FLAGS;
    if (next_size < ALIGNMENT || next_size % ALIGNMENT || next_size > UINT64_C(1) << 46)
        return false;

    uint64_t mark = cache_mark();
    return !(mark && read_words(ctx, block, &content) && content.second == mark);
}

/* True if malloc() is that of the C library. */
static bool has_usual_malloc(void)
{
    Dl_info used;
    Dl_info usual;
    const void *function = dlsym(RTLD_DEFAULT, "malloc");
    const void *library = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    return function != NULL && library != NULL && dladdr(function, &used) &&
           dladdr(library, &usual) && used.dli_fbase == usual.dli_fbase;
}

bool veow_free(struct veow_context *ctx, uint64_t address)
{
    void *block = (void *)(uintptr_t)address;
    bool freed;
    if (block == NULL)
        return true;
    if (verun_checks_free(address, &freed))
        return freed;

    if (__sanitizer_get_ownership != NULL) {
        if (!__sanitizer_get_ownership(block))
            return false;
    } else if (has_usual_malloc() && !is_allocated(ctx, address)) {
        return false;
    }

    free(block);
    return true;
}
