/* SPDX-License-Identifier: BSD-3-Clause */
/* checks_call.c: what is wrong with a call of a function of the host. */
#include "veo/run/checks_gates.h"

void verun_checks_tell_gate(const struct verun_gate_call *call, enum ve_finding_kind kind,
                            enum ve_check check, uint64_t address, uint64_t size, unsigned number)
{
    struct ve_finding finding = {.kind = kind,
                                 .check = check,
                                 .function = call->name,
                                 .address = address,
                                 .size = size,
                                 .scalar = number,
                                 .element = VE_FINDING_NONE,
                                 .vector = VE_FINDING_NONE};
    ve_checks_tell_gate(call->checks, finding);
}
