/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_kernels.c: VE memory that is not from veo_alloc_mem(): a variable, and malloc() there. */
#include <stdlib.h>
#include <string.h>

char table[256 << 20];

/* SIZE bytes, touched. */
void *grab(long size)
{
    void *memory = malloc((size_t)size);
    if (memory != NULL)
        memset(memory, 2, (size_t)size);
    return memory;
}

void release(void *memory)
{
    free(memory);
}
