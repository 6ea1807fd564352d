/* SPDX-License-Identifier: BSD-3-Clause */
/* mram_unaligned.c: reading and writing MRAM at any address. */
#include <dpufault.h>
#include <mram_unaligned.h>

void *mram_read_unaligned(const __mram_ptr void *from, void *buffer, unsigned int n)
{
    uintptr_t start = (uintptr_t)from;
    uintptr_t end = (start + n + 7) & ~(uintptr_t)7;
    uintptr_t word = start & ~(uintptr_t)7;

    if (n != 0)
        mram_read((const __mram_ptr void *)word, buffer, end - word);
    return (uint8_t *)buffer + (start & 7);
}

/* Bytes [START, END) of one word. */
static void write_part(const uint8_t *from, uintptr_t start, uintptr_t end)
{
    uint8_t *word = __mram_word_get(start);

    for (uintptr_t at = start; at != end; at++)
        word[at & 7] = *from++;
    __mram_word_put(start);
}

void mram_write_unaligned(const void *from, __mram_ptr void *dest, unsigned int n)
{
    const uint8_t *bytes = from;
    uintptr_t start = (uintptr_t)dest, end = start + n, whole;

    if ((((uintptr_t)from ^ start) & 7) != 0) {
        __dpu_fault(__FAULT_MRAM_UNALIGNED__);
    }
    if (n == 0)
        return;
    if ((start & 7) != 0) {
        whole = (start + 7) & ~(uintptr_t)7;
        if (whole > end)
            whole = end;
        write_part(bytes, start, whole);
        bytes += whole - start;
        start = whole;
    }
    whole = (end & ~(uintptr_t)7) - start;
    if (start < end && whole != 0) {
        mram_write(bytes, (__mram_ptr void *)start, whole);
        bytes += whole;
        start += whole;
    }
    if (start < end)
        write_part(bytes, start, end);
}
