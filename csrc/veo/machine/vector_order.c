/* SPDX-License-Identifier: BSD-3-Clause */
/* vector_order.c: vectors filled, numbered, merged, moved, shuffled, compressed and expanded. */
#include "veo/machine/vector_rows.h"
#include "veo/machine/vector_shared.h"

/* Writes the elements of `from` that lie below VL and have their lane set. */
static void write_lanes(struct ve_core *core, uint64_t *to, const uint64_t *from,
                        const uint64_t *lanes)
{
    VE_LOOP
    for (size_t i = 0; i < core->vl; i++)
        to[i] = (to[i] & ~lanes[i]) | (from[i] & lanes[i]);
}

static void write_masked(struct ve_core *core, const struct ve_instruction *in,
                         const uint64_t *from)
{
    uint64_t lanes[VE_VECTOR_LENGTH];
    ve_lanes(core, in->mask, lanes);
    write_lanes(core, ve_vector(core, in->vx), from, lanes);
}

static void write_halves(struct ve_core *core, const struct ve_instruction *in,
                         const uint64_t *from)
{
    uint64_t lanes[VE_VECTOR_LENGTH];
    ve_half_lanes(core, in->mask, lanes);
    write_lanes(core, ve_vector(core, in->vx), from, lanes);
}

/* --- filled and numbered --- */

static void broadcast(struct ve_core *core, const struct ve_instruction *in, uint64_t value)
{
    uint64_t filled[VE_VECTOR_LENGTH];
    uint64_t *to = ve_vector(core, in->vx);
    if (in->mask == 0) {
        for (size_t i = 0; i < core->vl; i++)
            to[i] = value;
        return;
    }

    ve_fill(filled, value);
    write_masked(core, in, filled);
}

void ve_vbrd(struct ve_core *core, const struct ve_instruction *in)
{
    broadcast(core, in, ve_y(core, in));
}

void ve_vbrdl(struct ve_core *core, const struct ve_instruction *in)
{
    broadcast(core, in, (uint32_t)ve_y(core, in));
}

void ve_vbrdu(struct ve_core *core, const struct ve_instruction *in)
{
    broadcast(core, in, ve_y(core, in) >> 32 << 32);
}

void ve_pvbrd(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t filled[VE_VECTOR_LENGTH];
    ve_fill(filled, ve_y(core, in));
    write_halves(core, in, filled);
}

void ve_vseq(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t numbers[VE_VECTOR_LENGTH];
    for (size_t i = 0; i < VE_VECTOR_LENGTH; i++)
        numbers[i] = i;
    write_masked(core, in, numbers);
}

void ve_pvseq_up(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t numbers[VE_VECTOR_LENGTH];
    for (size_t i = 0; i < VE_VECTOR_LENGTH; i++)
        numbers[i] = (uint64_t)i << 32;
    write_masked(core, in, numbers);
}

void ve_pvseq(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t numbers[VE_VECTOR_LENGTH];
    for (size_t i = 0; i < VE_VECTOR_LENGTH; i++)
        numbers[i] = (uint64_t)(2 * i) << 32 | (2 * i + 1);
    write_halves(core, in, numbers);
}

/* --- merged and shuffled --- */

/* y where the lane is 0, z where it is set. */
static void merge(struct ve_core *core, const struct ve_instruction *in, const uint64_t *lanes)
{
    uint64_t *to = ve_vector(core, in->vx);
    const uint64_t *y = ve_vector(core, in->vy), *z = ve_vector(core, in->vz);
    uint64_t filled[VE_VECTOR_LENGTH];
    if (in->cs != 0) {
        ve_fill(filled, ve_y(core, in));
        y = filled;
    }

    VE_LOOP
    for (size_t i = 0; i < core->vl; i++)
        to[i] = (y[i] & ~lanes[i]) | (z[i] & lanes[i]);
}

void ve_vmrg(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t lanes[VE_VECTOR_LENGTH];
    ve_lanes(core, in->mask, lanes);
    merge(core, in, lanes);
}

void ve_vmrg_w(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t lanes[VE_VECTOR_LENGTH];
    ve_half_lanes(core, in->mask, lanes);
    merge(core, in, lanes);
}

/* Y chooses the upper half by two bits and the lower one by the two below them: 0 and 1 are y's
 * upper and lower half, 2 and 3 those of z. */
void ve_vshf(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t *to = ve_vector(core, in->vx);
    const uint64_t *y = ve_vector(core, in->vy), *z = ve_vector(core, in->vz);
    unsigned choice = (unsigned)ve_y(core, in) & 15;
    const uint64_t *upper = choice >> 3 != 0 ? z : y;
    const uint64_t *lower = (choice >> 1 & 1) != 0 ? z : y;
    unsigned upper_shift = (choice >> 2 & 1) != 0 ? 0 : 32;
    unsigned lower_shift = (choice & 1) != 0 ? 0 : 32;

    VE_LOOP
    for (size_t i = 0; i < core->vl; i++)
        to[i] = upper[i] >> upper_shift << 32 | (lower[i] >> lower_shift & UINT32_MAX);
}

/* --- moved --- */

/* Element i is element i + Y of z, if the mask has that one. */
void ve_vmv(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t moved[VE_VECTOR_LENGTH], lanes[VE_VECTOR_LENGTH], moved_lanes[VE_VECTOR_LENGTH];
    const uint64_t *from = ve_vector(core, in->vz);
    size_t start = (size_t)ve_y(core, in);
    ve_lanes(core, in->mask, lanes);
    for (size_t i = 0; i < VE_VECTOR_LENGTH; i++) {
        moved[i] = from[(start + i) % VE_VECTOR_LENGTH];
        moved_lanes[i] = lanes[(start + i) % VE_VECTOR_LENGTH];
    }
    write_lanes(core, ve_vector(core, in->vx), moved, moved_lanes);
}

void ve_vcp(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t lanes[VE_VECTOR_LENGTH], *to = ve_vector(core, in->vx);
    const uint64_t *from = ve_vector(core, in->vz);
    size_t taken = 0;
    ve_lanes(core, in->mask, lanes);
    for (size_t i = 0; i < core->vl; i++)
        if (lanes[i] != 0)
            to[taken++] = from[i];
}

void ve_vex(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t lanes[VE_VECTOR_LENGTH], from[VE_VECTOR_LENGTH], *to = ve_vector(core, in->vx);
    size_t taken = 0;
    memcpy(from, ve_vector(core, in->vz), sizeof from);
    ve_lanes(core, in->mask, lanes);
    for (size_t i = 0; i < core->vl; i++)
        if (lanes[i] != 0)
            to[i] = from[taken++];
}

/* --- shifted --- */

/* 64 bits of the 128 of y above z, `count` bits from their upper end. */
static void shift_double(struct ve_core *core, const struct ve_instruction *in, unsigned count)
{
    uint64_t shifted[VE_VECTOR_LENGTH];
    const uint64_t *y = ve_vector(core, in->vy), *z = ve_vector(core, in->vz);
    for (size_t i = 0; i < core->vl; i++) {
        unsigned __int128 both = (unsigned __int128)y[i] << 64 | z[i];
        shifted[i] = (uint64_t)(in->opcode == 0xE4 ? both << count >> 64 : both >> count);
    }
    write_masked(core, in, shifted);
}

void ve_vsld(struct ve_core *core, const struct ve_instruction *in)
{
    shift_double(core, in, (unsigned)ve_y(core, in) & 127);
}

void ve_vsfa(struct ve_core *core, const struct ve_instruction *in)
{
    uint64_t shifted[VE_VECTOR_LENGTH];
    const uint64_t *from = ve_vector(core, in->vz);
    unsigned count = (unsigned)ve_y(core, in) & 7;
    uint64_t base = ve_z(core, in);
    VE_LOOP
    for (size_t i = 0; i < core->vl; i++)
        shifted[i] = (from[i] << count) + base;
    write_masked(core, in, shifted);
}
