/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scalar_quad.c: arithmetic on quads, IEEE's binary128, by the host's compiler's. The even register
 * of a pair has the upper half.
 */
#include "executors.h"
#include "quad.h"
#include "scalar.h"

#define EXECUTE(operation) \
    void ve_execute_##operation(struct ve_core *core, const struct ve_instruction *i)

/* An immediate is the upper half of a quad whose lower one is 0. */
static quad read_quad(const struct ve_core *core, uint16_t source)
{
    uint64_t halves[2] = {source < VE_SOURCE_SIGNED ? core->sources[source + 1] : 0,
                          core->sources[source]};
    quad value;
    memcpy(&value, halves, sizeof value);
    return value;
}

static void write_quad(struct ve_core *core, uint8_t x, quad value)
{
    uint64_t halves[2];
    memcpy(halves, &value, sizeof halves);
    core->s[x] = halves[1];
    core->s[x + 1] = halves[0];
}

#define QY read_quad(core, i->y_source)
#define QZ read_quad(core, i->z_source)

EXECUTE(FADD_Q)
{
    write_quad(core, i->x, QY + QZ);
}

EXECUTE(FSUB_Q)
{
    write_quad(core, i->x, QY - QZ);
}

EXECUTE(FMUL_Q)
{
    write_quad(core, i->x, QY * QZ);
}

EXECUTE(FCMP_Q)
{
    quad y = QY;
    quad z = QZ;
    X = ve_double_bits(y == z ? 0 : y > z ? 1 : y < z ? -1 : (double)NAN);
}

EXECUTE(CVT_Q_D)
{
    write_quad(core, i->x, (quad)DY);
}

EXECUTE(CVT_Q_S)
{
    write_quad(core, i->x, (quad)FY);
}

EXECUTE(CVT_D_Q)
{
    X = ve_double_bits((double)QY);
}

EXECUTE(CVT_S_Q)
{
    X = ve_upper_float_bits((float)QY);
}
