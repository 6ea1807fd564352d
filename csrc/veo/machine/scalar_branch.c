/* SPDX-License-Identifier: BSD-3-Clause */
/* scalar_branch.c: branches and calls, as the run loop does them too. */
#include "executors.h"
#include "scalar.h"

#define BRANCH(operation, condition, to) \
    void ve_execute_##operation(struct ve_core *core, const struct ve_instruction *i) \
    { \
        if (condition) \
            core->next = to; \
    }
#define RELATIVE (ve_core_address(core) + (uint64_t)(int64_t)i->displacement)
#define ABSOLUTE ve_base_address(core, i)
#define INTEGER(y, z) ve_holds_integer(i->condition, y, z)
#define FLOAT(y, z) ve_holds_float(i->condition, y, z)

BRANCH(BR_L, INTEGER((int64_t)Y, (int64_t)Z), RELATIVE)
BRANCH(BR_W, INTEGER((int32_t)Y, (int32_t)Z), RELATIVE)
BRANCH(BR_D, FLOAT(DY, DZ), RELATIVE)
BRANCH(BR_S, FLOAT((double)FY, (double)FZ), RELATIVE)
BRANCH(B_L, INTEGER((int64_t)Y, 0), ABSOLUTE)
BRANCH(B_W, INTEGER((int32_t)Y, 0), ABSOLUTE)
BRANCH(B_D, FLOAT(DY, 0), ABSOLUTE)
BRANCH(B_S, FLOAT((double)FY, 0), ABSOLUTE)

void ve_execute_BSIC(struct ve_core *core, const struct ve_instruction *i)
{
    core->next = ve_address(core, i);
    X = ve_core_address(core) + 8;
}

void ve_execute_SIC(struct ve_core *core, const struct ve_instruction *i)
{
    X = ve_core_address(core) + 8;
}
