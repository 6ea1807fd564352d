/* SPDX-License-Identifier: BSD-3-Clause */
/* vector_divide.c: integer division of vectors. The quotient by 0 is 0, and MIN / -1 is MIN. */
#include "veo/machine/vector_rows.h"
#include "veo/machine/vector_shared.h"

/* The rows of y and z, of which Y in all elements may be one. */
static void rows_of(struct ve_core *core, const struct ve_instruction *in, uint64_t *filled,
                    const uint64_t **y, const uint64_t **z)
{
    *y = in->cs != 0 ? filled : ve_vector(core, in->vy);
    *z = in->cs2 != 0 ? filled : ve_vector(core, in->vz);
    if ((in->cs | in->cs2) != 0)
        ve_fill(filled, ve_y(core, in));
}

/* `type` is of operands, `least` the MIN of a signed one and else 0; `result` makes an element of
 * q. */
#define DIVIDE(name, type, least, result) \
    void ve_##name(struct ve_core *core, const struct ve_instruction *in) \
    { \
        uint64_t filled[VE_VECTOR_LENGTH]; \
        uint64_t *to = ve_vector(core, in->vx); \
        const uint64_t *from_y, *from_z; \
        uint32_t flags = 0; \
        rows_of(core, in, filled, &from_y, &from_z); \
        for (uint32_t i = 0; i < core->vl; i++) { \
            type y = (type)from_y[i], z = (type)from_z[i], q = 0; \
            if (!ve_mask_bit(ve_mask(core, in), i)) \
                continue; \
            if (z == 0) \
                flags |= VE_PSW_DIVIDE; \
            else if ((least) != 0 && z == (type) - 1 && y == (type)(least)) { \
                flags |= VE_PSW_FIXED_OVERFLOW; \
                q = y; \
            } else \
                q = (type)(y / z); \
            to[i] = (result); \
        } \
        if (flags != 0) \
            ve_arithmetic_exception(core, flags); \
    }

DIVIDE(vdivu_l, uint64_t, 0, q)
DIVIDE(vdivu_w, uint32_t, 0, q)
DIVIDE(vdivs_l, int64_t, INT64_MIN, (uint64_t)q)
DIVIDE(vdivs_w_sx, int32_t, INT32_MIN, (uint64_t)(int64_t)q)
DIVIDE(vdivs_w_zx, int32_t, INT32_MIN, (uint32_t)q)
