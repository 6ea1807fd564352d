/* SPDX-License-Identifier: BSD-3-Clause */
/* string_mram.c: copying and filling of MRAM, of any size. */
#include <mram_unaligned.h>
#include <string.h>

/* On the stack of the tasklet. */
#define BLOCK 64

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void __memcpy_wm(void *destination, const __mram_ptr void *source, size_t size)
{
    uint8_t __dma_aligned block[BLOCK + 8];
    uint8_t *to = destination;
    uintptr_t from = (uintptr_t)source;

    while (size != 0) {
        uint32_t offset = from & 7, part = smaller(size, BLOCK);

        if (offset == 0 && ((uintptr_t)to & 7) == 0 && size >= 8) {
            part = smaller(size & ~7u, 2048);
            mram_read((const __mram_ptr void *)from, to, part);
        } else {
            mram_read((const __mram_ptr void *)(from - offset), block, (offset + part + 7) & ~7u);
            memcpy(to, block + offset, part);
        }
        to += part;
        from += part;
        size -= part;
    }
}

void __memcpy_mw(__mram_ptr void *destination, const void *source, size_t size)
{
    uint8_t __dma_aligned block[BLOCK + 8];
    const uint8_t *from = source;
    uintptr_t to = (uintptr_t)destination;

    while (size != 0) {
        uint32_t offset = to & 7, part = smaller(size, BLOCK);

        if (offset == 0 && ((uintptr_t)from & 7) == 0 && size >= 8) {
            part = smaller(size & ~7u, 2048);
            mram_write(from, (__mram_ptr void *)to, part);
        } else {
            memcpy(block + offset, from, part);
            mram_write_unaligned(block + offset, (__mram_ptr void *)to, part);
        }
        from += part;
        to += part;
        size -= part;
    }
}

void __memcpy_mm(__mram_ptr void *destination, const __mram_ptr void *source, size_t size)
{
    uint8_t __dma_aligned block[BLOCK];
    uintptr_t to = (uintptr_t)destination, from = (uintptr_t)source;

    while (size != 0) {
        uint32_t part = smaller(size, BLOCK);

        __memcpy_wm(block, (const __mram_ptr void *)from, part);
        __memcpy_mw((__mram_ptr void *)to, block, part);
        to += part;
        from += part;
        size -= part;
    }
}

void __memmove_mm(__mram_ptr void *destination, const __mram_ptr void *source, size_t size)
{
    uint8_t __dma_aligned block[BLOCK];
    uintptr_t to = (uintptr_t)destination, from = (uintptr_t)source;

    if (to - from >= size) {
        __memcpy_mm(destination, source, size);
        return;
    }

    /* From the end, as the start of the destination is in the source. */
    while (size != 0) {
        uint32_t part = smaller(size, BLOCK);

        size -= part;
        __memcpy_wm(block, (const __mram_ptr void *)(from + size), part);
        __memcpy_mw((__mram_ptr void *)(to + size), block, part);
    }
}

void __memset_mram(__mram_ptr void *area, int value, size_t size)
{
    uint8_t __dma_aligned block[BLOCK + 8];
    uintptr_t to = (uintptr_t)area;

    memset(block, value, sizeof(block));
    while (size != 0) {
        uint32_t offset = to & 7, part = smaller(size, BLOCK - offset);

        mram_write_unaligned(block + offset, (__mram_ptr void *)to, part);
        to += part;
        size -= part;
    }
}
