/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions on tags alone: exported by the library, and by the worker for kernels. */
#include "common/hmem_tag.h"

#include "veo_hmem.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int veo_is_ve_addr(const void *addr)
{
    return hmem_is_ve(addr);
}

EXPORT void *veo_get_hmem_addr(void *addr)
{
    return (void *)(uintptr_t)hmem_address(addr);
}

EXPORT int veo_get_max_proc_identifier(void)
{
    return HMEM_IDENTS;
}

EXPORT int veo_get_proc_identifier_from_hmem(const void *addr)
{
    return hmem_identifier(addr);
}

EXPORT void *veo_set_proc_identifier(void *addr, int ident)
{
    if (ident < 0 || ident >= HMEM_IDENTS)
        return (void *)0;
    return hmem_tagged((uint64_t)(uintptr_t)addr, ident);
}
