/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.h: an executed instruction as a line of text. Pure; may be called from any thread. */
#ifndef OFFCHIP_VE_TRACE_H
#define OFFCHIP_VE_TRACE_H

#include "veo/machine/core.h"

/* Room for the longest line, its 0 included: "0x" and 16 digits for each element, and a comma. */
#define VE_TRACE_MAX (256 + VE_VECTOR_LENGTH * 19)

/*
 * The address, the text, and what is in the first operand afterwards: a register, the vector length
 * and at most the first ELEMENTS of a vector, or the words of a mask, such as
 * "0x7f0000001000: adds.l %s0, 1, %s1  s0=0x2". Returns the length.
 */
size_t ve_trace_text(const struct ve_core *core, const struct ve_instruction *instruction,
                     uint64_t address, uint32_t elements, char text[VE_TRACE_MAX]);

#endif
