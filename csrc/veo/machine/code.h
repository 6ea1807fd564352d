/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * code.h: what a core has decoded, page by page. A page stays where it is until its core is
 * destroyed, as runs that wait for others on the same core go on in it. Private to
 * csrc/veo/machine; a core's code belongs to the thread that its core belongs to.
 */
#ifndef OFFCHIP_VE_CODE_H
#define OFFCHIP_VE_CODE_H

#include "veo/machine/core.h"

#include <stdatomic.h>

#define VE_PAGE_SHIFT 12
#define VE_PAGE_WORDS (1 << (VE_PAGE_SHIFT - 3))
#define VE_CODE_BUCKETS 1024

/*
 * An instruction as the run loop has it: where its code is, its address, and where it last went on
 * if it is a jump.
 */
struct ve_decoded {
    _Alignas(64) const void *label;
    uint64_t address;
    struct ve_decoded *target;
    struct ve_instruction instruction;
};

struct ve_page {
    uint64_t number; /* the address, without its lowest bits */
    struct ve_page *next;
    struct ve_decoded list[VE_PAGE_WORDS + 1]; /* the last: what is in the next page */
};

struct ve_code {
    struct ve_page *buckets[VE_CODE_BUCKETS];
    const void *undecoded, *page_end; /* labels */
    uint64_t changes;                 /* of all code, when this was last decoded anew */
};

/* NULL without memory. */
struct ve_code *ve_code_create(const void *undecoded, const void *page_end);
void ve_code_destroy(struct ve_code *code);

/* Where the instruction at an address is, decoded or not; NULL without memory. */
struct ve_decoded *ve_code_find(struct ve_code *code, uint64_t address);

/* How often ve_code_changed() was called. */
extern _Atomic uint64_t ve_code_changes;

/* True if what is decoded is valid; ve_code_find() sees to that. */
static inline bool ve_code_is_current(const struct ve_code *code)
{
    return code->changes == atomic_load_explicit(&ve_code_changes, memory_order_relaxed);
}

/* Forgets what was decoded; pages stay where they are. */
void ve_code_reset(struct ve_code *code);

#endif
