/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vector_reduce.c: sums, extremes and logic over the elements of a vector, and iterations in which
 * each element depends on the one before it. Floating-point sums are in the order of elements.
 */
#include "veo/machine/vector_rows.h"
#include "veo/machine/vector_shared.h"

/* --- sums and logic --- */

/* Element 0 becomes `result` of r, which starts as `start` and to which each active y is applied.
 */
#define REDUCE(name, type, start, applied, result) \
    void ve_##name(struct ve_core *core, const struct ve_instruction *in) \
    { \
        const uint64_t *from = ve_vector(core, in->vy); \
        type r = (start); \
        for (size_t i = 0; i < core->vl; i++) { \
            uint64_t y = from[i]; \
            if (ve_mask_bit(ve_mask(core, in), (uint32_t)i)) \
                r = (applied); \
        } \
        ve_vector(core, in->vx)[0] = (result); \
    }

REDUCE(vsum_l, uint64_t, 0, r + y, r)
REDUCE(vsum_w_sx, uint32_t, 0, r + (uint32_t)y, (uint64_t)(int64_t)(int32_t)r)
REDUCE(vsum_w_zx, uint32_t, 0, r + (uint32_t)y, r)
REDUCE(vrand, uint64_t, ~UINT64_C(0), r &y, r)
REDUCE(vror, uint64_t, 0, r | y, r)
REDUCE(vrxor, uint64_t, 0, r ^ y, r)
REDUCE(vfsum_d, double, 0, r + ve_double(y), ve_double_bits(r))
REDUCE(vfsum_s, float, 0, r + ve_float32((uint32_t)(y >> 32)), (uint64_t)ve_float32_bits(r) << 32)

/* --- extremes --- */

/* The first or last of the active elements that no other one is better than: its index, or VL if
 * none is active. A number is better than a NaN. */
#define BEST(name, type, number) \
    static size_t name(struct ve_core *core, const struct ve_instruction *in, bool smallest, \
                       bool last) \
    { \
        const uint64_t *from = ve_vector(core, in->vy); \
        size_t place = core->vl; \
        type best = 0; \
        for (size_t i = 0; i < core->vl; i++) { \
            uint64_t y = from[i]; \
            type value = (number); \
            if (!ve_mask_bit(ve_mask(core, in), (uint32_t)i)) \
                continue; \
            bool better = smallest ? value < best : value > best; \
            bool same = value == best || value != value; \
            bool first = place == core->vl; \
            if (first || better || (best != best && value == value) || \
                (last && same && (value == value || best != best))) { \
                best = value; \
                place = i; \
            } \
        } \
        return place; \
    }

BEST(best_long, int64_t, (int64_t)y)
BEST(best_word, int32_t, (int32_t)(uint32_t)y)
BEST(best_double, double, ve_double(y))
BEST(best_single, float, ve_float32((uint32_t)(y >> 32)))

/* Element 0 becomes the extreme, element 1 its index; nothing is written if no element is active.
 */
#define EXTREME(name, best, smallest, last, result) \
    void ve_##name(struct ve_core *core, const struct ve_instruction *in) \
    { \
        uint64_t *to = ve_vector(core, in->vx); \
        size_t place = best(core, in, smallest, last); \
        if (place == core->vl) \
            return; \
        uint64_t y = ve_vector(core, in->vy)[place]; \
        to[0] = (result); \
        to[1] = place; \
    }

#define SIGNED_WORD ((uint64_t)(int64_t)(int32_t)(uint32_t)y)
EXTREME(vrmaxs_l_fst, best_long, false, false, y)
EXTREME(vrmaxs_l_lst, best_long, false, true, y)
EXTREME(vrmins_l_fst, best_long, true, false, y)
EXTREME(vrmins_l_lst, best_long, true, true, y)
EXTREME(vrmaxs_w_fst_sx, best_word, false, false, SIGNED_WORD)
EXTREME(vrmaxs_w_lst_sx, best_word, false, true, SIGNED_WORD)
EXTREME(vrmins_w_fst_sx, best_word, true, false, SIGNED_WORD)
EXTREME(vrmins_w_lst_sx, best_word, true, true, SIGNED_WORD)
EXTREME(vrmaxs_w_fst_zx, best_word, false, false, (uint32_t)y)
EXTREME(vrmaxs_w_lst_zx, best_word, false, true, (uint32_t)y)
EXTREME(vrmins_w_fst_zx, best_word, true, false, (uint32_t)y)
EXTREME(vrmins_w_lst_zx, best_word, true, true, (uint32_t)y)
EXTREME(vfrmax_d_fst, best_double, false, false, y)
EXTREME(vfrmax_d_lst, best_double, false, true, y)
EXTREME(vfrmin_d_fst, best_double, true, false, y)
EXTREME(vfrmin_d_lst, best_double, true, true, y)
EXTREME(vfrmax_s_fst, best_single, false, false, y >> 32 << 32)
EXTREME(vfrmax_s_lst, best_single, false, true, y >> 32 << 32)
EXTREME(vfrmin_s_fst, best_single, true, false, y >> 32 << 32)
EXTREME(vfrmin_s_lst, best_single, true, true, y >> 32 << 32)

/* --- iterations --- */

/* p starts as Y; each element becomes the next p, of y, z and the p before it. */
#define ITERATE(name, next) \
    void ve_##name##_d(struct ve_core *core, const struct ve_instruction *in) \
    { \
        uint64_t *to = ve_vector(core, in->vx); \
        const ve_f64 *from_y = (const ve_f64 *)ve_vector(core, in->vy); \
        const ve_f64 *from_z = (const ve_f64 *)ve_vector(core, in->vz); \
        double p = ve_double(ve_y(core, in)); \
        for (size_t i = 0; i < core->vl; i++) { \
            double y = from_y[i], z = from_z[i]; \
            (void)z; \
            p = (next); \
            to[i] = ve_double_bits(p); \
        } \
    } \
    void ve_##name##_s(struct ve_core *core, const struct ve_instruction *in) \
    { \
        uint64_t *to = ve_vector(core, in->vx); \
        const ve_f32 *from_y = (const ve_f32 *)ve_vector(core, in->vy) + 1; \
        const ve_f32 *from_z = (const ve_f32 *)ve_vector(core, in->vz) + 1; \
        float p = ve_float32((uint32_t)(ve_y(core, in) >> 32)); \
        for (size_t i = 0; i < core->vl; i++) { \
            float y = from_y[2 * i], z = from_z[2 * i]; \
            (void)z; \
            p = (next); \
            to[i] = (uint64_t)ve_float32_bits(p) << 32; \
        } \
    }

ITERATE(vfia, y + p)
ITERATE(vfis, y - p)
ITERATE(vfim, y *p)
ITERATE(vfiam, (y + p) * z)
ITERATE(vfism, (y - p) * z)
ITERATE(vfima, y + p * z)
ITERATE(vfims, y - p * z)
