/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags of hmem addresses: bit 63 says VE memory, bits 62..59 are the process identifier. */
#ifndef OFFCHIP_HMEM_TAG_H
#define OFFCHIP_HMEM_TAG_H

#include <stdbool.h>
#include <stdint.h>

#define HMEM_VE_FLAG UINT64_C(0x8000000000000000)
#define HMEM_IDENT_MASK UINT64_C(0x7800000000000000)
#define HMEM_IDENT_SHIFT 59
#define HMEM_IDENTS 16

static inline bool hmem_is_ve(const void *addr)
{
    return ((uint64_t)(uintptr_t)addr & HMEM_VE_FLAG) != 0;
}

/* Without the tag. */
static inline uint64_t hmem_address(const void *addr)
{
    uint64_t value = (uint64_t)(uintptr_t)addr;
    return value & HMEM_VE_FLAG ? value & ~(HMEM_VE_FLAG | HMEM_IDENT_MASK) : value;
}

/* -1 where there is no tag. */
static inline int hmem_identifier(const void *addr)
{
    uint64_t value = (uint64_t)(uintptr_t)addr;
    return value & HMEM_VE_FLAG ? (int)((value & HMEM_IDENT_MASK) >> HMEM_IDENT_SHIFT) : -1;
}

static inline void *hmem_tagged(uint64_t addr, int ident)
{
    addr &= ~(HMEM_VE_FLAG | HMEM_IDENT_MASK);
    return (void *)(uintptr_t)(addr | HMEM_VE_FLAG | (uint64_t)ident << HMEM_IDENT_SHIFT);
}

#endif
