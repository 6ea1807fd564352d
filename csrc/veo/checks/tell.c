/* SPDX-License-Identifier: BSD-3-Clause */
/* tell.c: what is found, to who attached the checks. */
#include "state.h"

void ve_check_tell(struct ve_checks *checks, struct ve_finding finding)
{
    if (!check_wants(checks, finding.check))
        return;
    finding.pc = checks->pc;
    if (finding.function == NULL)
        finding.instruction = checks->instruction;
    checks->services->tell(checks, &finding);
}

void ve_check_tell_scalar(struct ve_checks *checks, enum ve_finding_kind kind, unsigned source)
{
    struct ve_finding finding = {.kind = kind,
                                 .check = VE_CHECK_UNINITIALISED,
                                 .scalar = source,
                                 .element = VE_FINDING_NONE,
                                 .vector = VE_FINDING_NONE};
    ve_check_tell(checks, finding);
}
