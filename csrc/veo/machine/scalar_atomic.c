/* SPDX-License-Identifier: BSD-3-Clause */
/* scalar_atomic.c: atomic accesses to memory, fences, and communication registers. */
#include "executors.h"
#include "scalar.h"

#include <stdatomic.h>

#define EXECUTE(operation) \
    void ve_execute_##operation(struct ve_core *core, const struct ve_instruction *i)

/* --- memory ------------------------------------------------------------------------------------
 */

/* Bit k of Y selects byte k of the word. */
static uint64_t selected_bytes(uint64_t y)
{
    uint64_t bytes = 0;
    for (unsigned k = 0; k < 8; k++)
        if ((y >> k & 1) != 0)
            bytes |= UINT64_C(0xff) << 8 * k;
    return bytes;
}

#define EXCHANGE_BYTES(bits) \
    uint64_t address = ve_base_address(core, i); \
    if (!ve_aligned(core, address, bits / 8)) \
        return; \
    uint##bits##_t *word = (uint##bits##_t *)(uintptr_t)address; \
    uint##bits##_t selected = (uint##bits##_t)selected_bytes(Y); \
    uint##bits##_t put = (uint##bits##_t)X & selected; \
    uint##bits##_t old = __atomic_load_n(word, __ATOMIC_RELAXED); \
    while (!__atomic_compare_exchange_n(word, &old, (old & ~selected) | put, true, \
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) \
        ; \
    X = old

EXECUTE(TS1AM_L)
{
    EXCHANGE_BYTES(64);
}

EXECUTE(TS1AM_W)
{
    EXCHANGE_BYTES(32);
}

#define COMPARE_AND_SWAP(bits) \
    uint64_t address = ve_base_address(core, i); \
    if (!ve_aligned(core, address, bits / 8)) \
        return; \
    uint##bits##_t old = (uint##bits##_t)Y; \
    __atomic_compare_exchange_n((uint##bits##_t *)(uintptr_t)address, &old, (uint##bits##_t)X, \
                                false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    X = old

EXECUTE(CAS_L)
{
    COMPARE_AND_SWAP(64);
}

EXECUTE(CAS_W)
{
    COMPARE_AND_SWAP(32);
}

/* No source tells what these do to memory, and no compiler here writes them. */
EXECUTE(TS2AM)
{
    ve_raise(core, VE_FAULT_UNKNOWN, ve_base_address(core, i));
}

EXECUTE(TS3AM)
{
    ve_raise(core, VE_FAULT_UNKNOWN, ve_base_address(core, i));
}

EXECUTE(ATMAM)
{
    ve_raise(core, VE_FAULT_UNKNOWN, ve_base_address(core, i));
}

/* --- fences: memory is ordered as strongly as by the strongest of them --- */

EXECUTE(FENCEM)
{
    (void)core;
    (void)i;
    atomic_thread_fence(memory_order_seq_cst);
}

EXECUTE(FENCEC)
{
    (void)core;
    (void)i;
    atomic_thread_fence(memory_order_seq_cst);
}

EXECUTE(SVOB)
{
    (void)core;
    (void)i;
    atomic_thread_fence(memory_order_seq_cst);
}

/* --- communication registers --- */

/* The register with a number; NULL, and illegal data, if there is none. */
static uint64_t *communication(struct ve_core *core, uint64_t number)
{
    if (number < core->communication_count)
        return &core->communication[number];
    ve_raise(core, VE_FAULT_ILDT, 0);
    return NULL;
}

EXECUTE(LCR)
{
    uint64_t *cr = communication(core, Y + Z);
    if (cr != NULL)
        X = __atomic_load_n(cr, __ATOMIC_SEQ_CST);
}

EXECUTE(SCR)
{
    uint64_t *cr = communication(core, Y + Z);
    if (cr != NULL)
        __atomic_store_n(cr, X, __ATOMIC_SEQ_CST);
}

#define CR_TAKEN (UINT64_C(1) << 63)

EXECUTE(TSCR)
{
    uint64_t *cr = communication(core, Y + Z);
    if (cr == NULL)
        return;

    uint64_t old = __atomic_load_n(cr, __ATOMIC_SEQ_CST);
    while ((old & CR_TAKEN) == 0 &&
           !__atomic_compare_exchange_n(cr, &old, X | CR_TAKEN, true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        ;
    X = old;
}

/* New value of a register after fidcr. 4 and 5 count threads at a barrier: the last one turns
 * bit 63. */
static uint64_t changed(uint64_t old, uint8_t how)
{
    uint64_t count = old & UINT32_MAX;
    switch (how) {
    case 0: return old + 1;
    case 1: return old - 1;
    case 2: return old == 0 ? 0 : old + 1;
    case 3: return old == 0 ? 0 : old - 1;
    case 4:
    case 5:
        if (count == 1)
            return ((old & ~(uint64_t)UINT32_MAX) | (old >> 32 & INT32_MAX)) ^ CR_TAKEN;
        return (old & ~(uint64_t)UINT32_MAX) | ((count - 1) & UINT32_MAX);
    default: return old;
    }
}

EXECUTE(FIDCR)
{
    uint64_t *cr = communication(core, Y);
    if (cr == NULL)
        return;

    uint64_t old = __atomic_load_n(cr, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(cr, &old, changed(old, i->z), true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        ;
    X = old;
}
