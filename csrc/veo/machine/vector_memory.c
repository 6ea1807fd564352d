/* SPDX-License-Identifier: BSD-3-Clause */
/* vector_memory.c: loads and stores of vectors: with a stride, two-dimensional, and by addresses.
 */
#include "veo/machine/vector_rows.h"
#include "veo/machine/vector_shared.h"

#define WORD_BYTES 4
#define LONG_BYTES 8

/* Columns of two-dimensional accesses. */
#define COLUMNS 16

/* Part of an element that a load makes of the 4 bytes that it reads, or which a store writes. */
enum part { PART_WHOLE, PART_UPPER, PART_SIGNED, PART_UNSIGNED };

static inline uint64_t load(uint64_t address, enum part part)
{
    if (part == PART_WHOLE)
        return ve_load64(address);

    uint32_t word = ve_load32(address);
    if (part == PART_UPPER)
        return (uint64_t)word << 32;
    return part == PART_SIGNED ? (uint64_t)(int64_t)(int32_t)word : word;
}

static inline void store(uint64_t address, uint64_t value, enum part part)
{
    if (part == PART_WHOLE)
        ve_store64(address, value);
    else
        ve_store32(address, (uint32_t)(part == PART_UPPER ? value >> 32 : value));
}

static inline uint64_t bytes_of(enum part part)
{
    return part == PART_WHOLE ? LONG_BYTES : WORD_BYTES;
}

/* --- with a stride --- */

/* False, with a fault, if an element's address is no multiple of its size. */
static bool aligned(struct ve_core *core, uint64_t base, uint64_t stride, uint64_t bytes)
{
    uint64_t low = core->vl > 1 ? base | stride : base;
    if (core->vl == 0 || (low & (bytes - 1)) == 0)
        return true;

    return ve_aligned(core, base, bytes) && ve_aligned(core, base + stride, bytes);
}

static inline void load_strided(struct ve_core *core, const struct ve_instruction *in,
                                enum part part)
{
    uint64_t *to = ve_vector(core, in->vx);
    uint64_t stride = ve_y(core, in), base = ve_z(core, in);
    if (!aligned(core, base, stride, bytes_of(part)))
        return;

    if (part == PART_WHOLE && stride == LONG_BYTES) {
        memcpy(to, (const void *)(uintptr_t)base, core->vl * sizeof *to);
        return;
    }
    VE_LOOP
    for (size_t i = 0; i < core->vl; i++)
        to[i] = load(base + i * stride, part);
}

static inline void store_strided(struct ve_core *core, const struct ve_instruction *in,
                                 enum part part)
{
    const uint64_t *from = ve_vector(core, in->vx);
    uint64_t stride = ve_y(core, in), base = ve_z(core, in);
    if (!aligned(core, base, stride, bytes_of(part)))
        return;

    if (in->mask == 0 && part == PART_WHOLE && stride == LONG_BYTES) {
        memcpy((void *)(uintptr_t)base, from, core->vl * sizeof *from);
        return;
    }
    for (uint32_t i = 0; i < core->vl; i++)
        if (in->mask == 0 || ve_mask_bit(ve_mask(core, in), i))
            store(base + i * stride, from[i], part);
}

/* --- two-dimensional --- */

/* Address of element i: rows of COLUMNS elements; Y has the distance of rows above that of columns.
 */
static inline uint64_t address_2d(uint64_t base, uint64_t distances, size_t i)
{
    uint64_t rows = (uint64_t)((int64_t)distances >> 16);
    return base + i / COLUMNS * rows + i % COLUMNS * (distances & UINT16_MAX);
}

static inline void load_2d(struct ve_core *core, const struct ve_instruction *in, enum part part)
{
    uint64_t *to = ve_vector(core, in->vx);
    uint64_t distances = ve_y(core, in), base = ve_z(core, in);

    for (size_t i = 0; i < core->vl; i++) {
        uint64_t address = address_2d(base, distances, i);
        if (!ve_aligned(core, address, bytes_of(part)))
            return;
        to[i] = load(address, part);
    }
}

static inline void store_2d(struct ve_core *core, const struct ve_instruction *in, enum part part)
{
    const uint64_t *from = ve_vector(core, in->vx);
    uint64_t distances = ve_y(core, in), base = ve_z(core, in);

    for (size_t i = 0; i < core->vl; i++) {
        uint64_t address = address_2d(base, distances, i);
        if (!ve_mask_bit(ve_mask(core, in), (uint32_t)i))
            continue;
        if (!ve_aligned(core, address, bytes_of(part)))
            return;
        store(address, from[i], part);
    }
}

/* --- by addresses --- */

/* The row of addresses: vy, or the register whose number is in S[sw]. Bounds in sy and sz have no
 * effect. */
static const uint64_t *addresses(struct ve_core *core, const struct ve_instruction *in)
{
    return in->cs == 0 ? ve_vector(core, in->vy) : core->v[core->s[in->sw] % VE_VECTORS];
}

/* True if all elements are there to be accessed, at addresses that are aligned. */
static bool all_aligned(const struct ve_core *core, const struct ve_instruction *in,
                        const uint64_t *at, uint64_t bytes)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < core->vl; i++)
        bits |= at[i];
    return in->mask == 0 && (bits & (bytes - 1)) == 0;
}

static inline void gather(struct ve_core *core, const struct ve_instruction *in, enum part part)
{
    uint64_t *to = ve_vector(core, in->vx);
    const uint64_t *from = addresses(core, in);

    if (all_aligned(core, in, from, bytes_of(part))) {
        VE_LOOP
        for (size_t i = 0; i < core->vl; i++)
            to[i] = load(from[i], part);
        return;
    }
    for (uint32_t i = 0; i < core->vl; i++) {
        if (!ve_mask_bit(ve_mask(core, in), i))
            continue;
        if (!ve_aligned(core, from[i], bytes_of(part)))
            return;
        to[i] = load(from[i], part);
    }
}

/* In the order of elements: of several for one address, the last remains. */
static inline void scatter(struct ve_core *core, const struct ve_instruction *in, enum part part)
{
    const uint64_t *from = ve_vector(core, in->vx);
    const uint64_t *to = addresses(core, in);
    bool unchecked = all_aligned(core, in, to, bytes_of(part));

    for (uint32_t i = 0; i < core->vl; i++) {
        if (!unchecked && !ve_mask_bit(ve_mask(core, in), i))
            continue;
        if (!unchecked && !ve_aligned(core, to[i], bytes_of(part)))
            return;
        store(to[i], from[i], part);
    }
}

/* --- executors --- */

#define EXECUTOR(name, kind, part) \
    void ve_##name(struct ve_core *core, const struct ve_instruction *in) \
    { \
        kind(core, in, part); \
    }

EXECUTOR(vld, load_strided, PART_WHOLE)
EXECUTOR(vldu, load_strided, PART_UPPER)
EXECUTOR(vldl_sx, load_strided, PART_SIGNED)
EXECUTOR(vldl_zx, load_strided, PART_UNSIGNED)
EXECUTOR(vst, store_strided, PART_WHOLE)
EXECUTOR(vstu, store_strided, PART_UPPER)
EXECUTOR(vstl, store_strided, PART_UNSIGNED)
EXECUTOR(vld2d, load_2d, PART_WHOLE)
EXECUTOR(vldu2d, load_2d, PART_UPPER)
EXECUTOR(vldl2d_sx, load_2d, PART_SIGNED)
EXECUTOR(vldl2d_zx, load_2d, PART_UNSIGNED)
EXECUTOR(vst2d, store_2d, PART_WHOLE)
EXECUTOR(vstu2d, store_2d, PART_UPPER)
EXECUTOR(vstl2d, store_2d, PART_UNSIGNED)
EXECUTOR(vgt, gather, PART_WHOLE)
EXECUTOR(vgtu, gather, PART_UPPER)
EXECUTOR(vgtl_sx, gather, PART_SIGNED)
EXECUTOR(vgtl_zx, gather, PART_UNSIGNED)
EXECUTOR(vsc, scatter, PART_WHOLE)
EXECUTOR(vscu, scatter, PART_UPPER)
EXECUTOR(vscl, scatter, PART_UNSIGNED)

void ve_pfchv(struct ve_core *core, const struct ve_instruction *in)
{
    (void)core;
    (void)in;
}
