/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operands.h: what the operands of an instruction are on a core. All of it is inline: executors
 * are made of it.
 */
#ifndef OFFCHIP_VE_OPERANDS_H
#define OFFCHIP_VE_OPERANDS_H

#include "veo/machine/core.h"

#include <string.h>

/* --- scalars: Y and Z are registers or immediates -----------------------------------------------
 */

static inline uint64_t ve_y(const struct ve_core *core, const struct ve_instruction *i)
{
    return core->sources[i->y_source];
}

static inline uint64_t ve_z(const struct ve_core *core, const struct ve_instruction *i)
{
    return core->sources[i->z_source];
}

/* sy + sz + displacement, of RM. */
static inline uint64_t ve_address(const struct ve_core *core, const struct ve_instruction *i)
{
    return ve_y(core, i) + ve_z(core, i) + (uint64_t)(int64_t)i->displacement;
}

/* sz + displacement, of RRM, RRMHM and the branches of CF. */
static inline uint64_t ve_base_address(const struct ve_core *core, const struct ve_instruction *i)
{
    return ve_z(core, i) + (uint64_t)(int64_t)i->displacement;
}

/* --- floats: a float of 32 bits is in the upper half ---------------------------------------------
 */

static inline double ve_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t ve_double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float ve_float32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t ve_float32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float ve_upper_float(uint64_t bits)
{
    return ve_float32((uint32_t)(bits >> 32));
}

static inline float ve_lower_float(uint64_t bits)
{
    return ve_float32((uint32_t)bits);
}

static inline uint64_t ve_upper_float_bits(float value)
{
    return (uint64_t)ve_float32_bits(value) << 32;
}

/* --- conditions --- */

/* How a stands to b, as a set with one member: see VE_GREATER. */
#define VE_RELATION(a, b) \
    ((unsigned)((a) > (b)) * VE_GREATER | (unsigned)((a) < (b)) * VE_LESS | \
     (unsigned)((a) == (b)) * VE_EQUAL)

static inline bool ve_holds_integer(unsigned condition, int64_t a, int64_t b)
{
    return (VE_RELATION(a, b) & condition) != 0;
}

/* Floats and doubles; no relation of the three holds for a NaN. */
static inline bool ve_holds_float(unsigned condition, double a, double b)
{
    unsigned relation = VE_RELATION(a, b);
    return ((relation == 0 ? VE_UNORDERED : relation) & condition) != 0;
}

/* --- vectors --- */

/* The elements of a vector field. */
static inline uint64_t *ve_vector(struct ve_core *core, uint8_t field)
{
    return core->v[field == VE_VIX ? core->vix : field];
}

/* The words of the mask of an instruction; of a PAIR, those of the upper halves. */
static inline const uint64_t *ve_mask(const struct ve_core *core, const struct ve_instruction *i)
{
    return core->vm[i->mask];
}

/* Those of the lower halves of a PAIR: mask 0 is all ones for both. */
static inline const uint64_t *ve_lower_mask(const struct ve_core *core,
                                            const struct ve_instruction *i)
{
    return core->vm[i->mask == 0 ? 0 : i->mask + 1];
}

static inline bool ve_mask_bit(const uint64_t *mask, uint32_t element)
{
    return (mask[element / 64] >> (63 - element % 64) & 1) != 0;
}

/* --- memory --- */

/* True if an access of BYTES (a power of 2) is aligned; otherwise raises ILSA. */
static inline bool ve_aligned(struct ve_core *core, uint64_t address, uint64_t bytes)
{
    if (__builtin_expect((address & (bytes - 1)) == 0, 1))
        return true;
    ve_raise(core, VE_FAULT_ILSA, address);
    return false;
}

#define VE_ACCESS(bits) \
    static inline uint##bits##_t ve_load##bits(uint64_t address) \
    { \
        uint##bits##_t value; \
        memcpy(&value, (const void *)(uintptr_t)address, sizeof value); \
        return value; \
    } \
    static inline void ve_store##bits(uint64_t address, uint##bits##_t value) \
    { \
        memcpy((void *)(uintptr_t)address, &value, sizeof value); \
    }
VE_ACCESS(8)
VE_ACCESS(16)
VE_ACCESS(32)
VE_ACCESS(64)
#undef VE_ACCESS

#endif
