/* SPDX-License-Identifier: BSD-3-Clause */
/* vector_mask.c: masks combined, counted, and made from comparisons of vectors with 0. */
#include "veo/machine/vector_rows.h"
#include "veo/machine/vector_shared.h"

/* --- combined --- */

/* All 256 bits, whatever VL is. VM0 stays all ones. */
#define COMBINE(name, value) \
    void ve_##name(struct ve_core *core, const struct ve_instruction *in) \
    { \
        unsigned to = in->vx & 15; \
        for (size_t i = 0; to != 0 && i < VE_MASK_WORDS; i++) { \
            uint64_t y = core->vm[in->vy & 15][i], z = core->vm[in->vz & 15][i]; \
            (void)z; \
            core->vm[to][i] = (value); \
        } \
    }

COMBINE(andm, y &z)
COMBINE(orm, y | z)
COMBINE(xorm, y ^ z)
COMBINE(eqvm, ~(y ^ z))
COMBINE(nndm, ~y &z)
COMBINE(negm, ~y)

/* --- counted --- */

/* Word `index` of a mask without the bits from VL on. */
static uint64_t below_vl(const struct ve_core *core, const struct ve_instruction *in, size_t index)
{
    size_t first = 64 * index;
    if (core->vl <= first)
        return 0;
    uint64_t kept = core->vl - first < 64 ? ~(~UINT64_C(0) >> (core->vl - first)) : ~UINT64_C(0);
    return core->vm[in->vy & 15][index] & kept;
}

void ve_pcvm(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t count = 0;
    for (size_t i = 0; i < VE_MASK_WORDS; i++)
        count += (uint64_t)__builtin_popcountll(below_vl(core, in, i));
    core->s[in->x & 63] = count;
}

void ve_lzvm(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t zeros = core->vl;
    for (size_t i = 0; i < VE_MASK_WORDS && zeros == core->vl; i++) {
        uint64_t bits = below_vl(core, in, i);
        if (bits != 0)
            zeros = 64 * i + (uint64_t)__builtin_clzll(bits);
    }
    core->s[in->x & 63] = zeros;
}

void ve_tovm(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t place = 0;
    for (size_t i = 0; i < VE_MASK_WORDS; i++) {
        uint64_t bits = below_vl(core, in, i);
        if (bits != 0)
            place = 64 * i + 64 - (uint64_t)__builtin_ctzll(bits);
    }
    core->s[in->x & 63] = place;
}

/* --- made --- */

/* Bits below VL become whether z meets the condition there, where the mask is 1, and else 0. */
#define MAKE(name, type, holds, number) \
    void ve_##name(struct ve_core *core, const struct ve_instruction *in) \
    { \
        const uint64_t *from = ve_vector(core, in->vz); \
        unsigned to = in->vx & 15; \
        for (size_t first = 0; to != 0 && first < core->vl; first += 64) { \
            size_t count = core->vl - first < 64 ? core->vl - first : 64; \
            uint64_t bits = 0, below = count < 64 ? ~(~UINT64_C(0) >> count) : ~UINT64_C(0); \
            for (size_t i = 0; i < count; i++) { \
                uint64_t z = from[first + i]; \
                type value = (number); \
                bits |= (uint64_t)holds(in->condition, value, 0) << (63 - i); \
            } \
            uint64_t *word = &core->vm[to][first / 64]; \
            *word = (*word & ~below) | (bits & ve_mask(core, in)[first / 64]); \
        } \
    }

MAKE(vfmk_l, int64_t, ve_holds_integer, (int64_t)z)
MAKE(vfmk_w, int32_t, ve_holds_integer, (int32_t)(uint32_t)z)
MAKE(pvfmk_w_up, int32_t, ve_holds_integer, (int32_t)(uint32_t)(z >> 32))
MAKE(vfmk_d, double, ve_holds_float, ve_double(z))
MAKE(pvfmk_s_up, float, ve_holds_float, ve_float32((uint32_t)(z >> 32)))
MAKE(pvfmk_s_lo, float, ve_holds_float, ve_float32((uint32_t)z))
