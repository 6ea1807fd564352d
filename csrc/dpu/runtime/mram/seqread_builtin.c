/* SPDX-License-Identifier: BSD-3-Clause */
/* seqread_builtin.c: what seqread_get() is with the vendor's compiler, for any size of page. */
#include <seqread.h>

int __dpu_seqread_get(int pointer, unsigned int bytes, void *reader, unsigned int page)
{
    seqreader_t *window = reader;
    uintptr_t next = (uintptr_t)pointer + bytes;

    /* Windows are aligned to their pages, so that a crossing shows in the address. */
    if (((next ^ (uintptr_t)pointer) & page) != 0) {
        window->mram_addr += page;
        mram_read((const __mram_ptr void *)window->mram_addr, (void *)window->wram_cache, 2 * page);
        next -= page;
    }
    return (int)next;
}
