/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failing_malloc.h: allocations that fail after a number of them, in a unit test that is linked
 * with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc. For one file of a program.
 */
#ifndef OFFCHIP_TESTS_FAILING_MALLOC_H
#define OFFCHIP_TESTS_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

static long allocations_left = -1; /* -1: no limit */
static size_t largest_calloc;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool allocation_fails(void)
{
    if (allocations_left < 0)
        return false;
    if (allocations_left == 0)
        return true;
    allocations_left--;
    return false;
}

void *__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    largest_calloc = n * size > largest_calloc ? n * size : largest_calloc;
    return allocation_fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return allocation_fails() ? NULL : __real_realloc(p, size);
}

#endif
