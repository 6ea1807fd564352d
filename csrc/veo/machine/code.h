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

/*
 * Translated code. It does what the instructions do that it covers, from TARGET on, one of its
 * entries, and returns where the program goes on, or with core->stopped after an exception.
 */
struct ve_unit {
    uint64_t (*run)(struct ve_core *core, const struct ve_decoded *list, uint64_t target);
    const struct ve_decoded *list; /* the instructions, for core->current */
};

/* Taken branches between two looks at where a program is. */
extern uint32_t ve_code_period;

/*
 * Called at times, with where a taken branch goes to, if it is not NULL: it may have what runs
 * often translated, and install units that are ready.
 */
extern void (*ve_code_sample)(struct ve_code *code, const struct ve_decoded *decoded);

struct ve_page {
    uint64_t number; /* the address, without its lowest bits */
    struct ve_page *next;
    uint32_t samples;                           /* of interpreted code, for ve_code_sample */
    bool is_used;                               /* since it was decoded anew: it can be read */
    uint64_t jumped_to[VE_PAGE_WORDS / 64];     /* bits: where computed jumps went to */
    const struct ve_unit *units[VE_PAGE_WORDS]; /* of entries of translated code */
    struct ve_decoded list[VE_PAGE_WORDS + 1];  /* the last: what is in the next page */
};

struct ve_code {
    struct ve_page *buckets[VE_CODE_BUCKETS];
    const void *undecoded, *page_end, *translated; /* labels */
    uint32_t countdown;                            /* taken branches until the next sample */
    uint64_t seen;    /* for ve_code_sample; 0 when code is decoded anew */
    uint64_t changes; /* of all code, when this was last decoded anew */
    int64_t sampled;  /* when; for ve_code_sample */
};

/* With the labels of what is undecoded, behind a page, translated. NULL without memory. */
struct ve_code *ve_code_create(const void *undecoded, const void *page_end, const void *translated);
void ve_code_destroy(struct ve_code *code);

/* The page of an address, if there is one. */
struct ve_page *ve_code_page(const struct ve_code *code, uint64_t address);
/* Notes where a jump goes to that is neither a call nor a return, for what is translated later. */
void ve_code_note_jump(const struct ve_code *code, uint64_t address);
/* True if it was noted, and code was not decoded anew since. */
bool ve_code_was_jumped_to(const struct ve_page *page, uint32_t word);
/* Makes translated code do what is at an address from now on. */
void ve_code_install(struct ve_code *code, uint64_t address, const struct ve_unit *unit);

/* The unit of an instruction whose label is that of translated code. */
static inline const struct ve_unit *ve_code_unit(const struct ve_decoded *decoded)
{
    size_t index = decoded->address >> 3 & (VE_PAGE_WORDS - 1);
    const struct ve_decoded *first = decoded - index;
    const struct ve_page *page =
        (const void *)((const char *)first - offsetof(struct ve_page, list));
    return page->units[index];
}

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
