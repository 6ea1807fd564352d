/* SPDX-License-Identifier: BSD-3-Clause */
/* stdlib_sort.c: sorting and searching of arrays. */
#include <stdint.h>
#include <stdlib.h>

static void swap_bytes(uint8_t *a, uint8_t *b, size_t size)
{
    while (size-- != 0) {
        uint8_t swap = *a;
        *a++ = *b;
        *b++ = swap;
    }
}

/* Heapsort: no recursion, which stacks of some hundred bytes would not bear. */
static void sift(uint8_t *base, size_t root, size_t count, size_t size,
                 int (*compare)(const void *, const void *))
{
    size_t child;

    while ((child = 2 * root + 1) < count) {
        if (child + 1 < count && compare(base + child * size, base + (child + 1) * size) < 0)
            child++;
        if (compare(base + root * size, base + child * size) >= 0)
            return;
        swap_bytes(base + root * size, base + child * size, size);
        root = child;
    }
}

void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    for (size_t root = count / 2; root-- != 0;)
        sift(base, root, count, size, compare);
    while (count > 1) {
        count--;
        swap_bytes(base, (uint8_t *)base + count * size, size);
        sift(base, 0, count, size, compare);
    }
}

void *bsearch(const void *key, const void *base, size_t count, size_t size,
              int (*compare)(const void *, const void *))
{
    const uint8_t *start = base;

    while (count != 0) {
        const uint8_t *middle = start + count / 2 * size;
        int order = compare(key, middle);

        if (order == 0)
            return (void *)(uintptr_t)middle;
        if (order > 0) {
            start = middle + size;
            count--;
        }
        count /= 2;
    }
    return NULL;
}
