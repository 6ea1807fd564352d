/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.c: lines of a trace. */
#include "veo/machine/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static size_t put_words(char *text, size_t size, const uint64_t *words, uint32_t count)
{
    size_t length = 0;
    for (uint32_t i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, size - length, "%s0x%" PRIx64, i == 0 ? "" : ",",
                                   words[i]);
    return length;
}

size_t ve_trace_text(const struct ve_core *core, const struct ve_instruction *instruction,
                     uint64_t address, uint32_t elements, char text[VE_TRACE_MAX])
{
    size_t length = (size_t)snprintf(text, VE_TRACE_MAX, "0x%" PRIx64 ": ", address);
    length += ve_disassemble(instruction->word, text + length, VE_TRACE_MAX - length);

    const char *operands = ve_operation_info(instruction->operation)->operands;
    const uint64_t *words = NULL;
    uint32_t count = 0;
    char *rest = text + length;
    size_t size = VE_TRACE_MAX - length;
    if (strncmp(operands, "sx", 2) == 0) {
        words = &core->s[instruction->x];
        count = strncmp(operands, "sx:pair", 7) == 0 ? 2 : 1;
        length += (size_t)snprintf(rest, size, "  s%u=", instruction->x);
    } else if (strncmp(operands, "vx:vm", 5) == 0) {
        words = core->vm[instruction->vx];
        count = VE_MASK_WORDS;
        length += (size_t)snprintf(rest, size, "  vm%u=", instruction->vx);
    } else if (strncmp(operands, "vx", 2) == 0) {
        uint32_t number = instruction->vx == VE_VIX ? core->vix : instruction->vx;
        words = core->v[number];
        count = core->vl < elements ? core->vl : elements;
        length += (size_t)snprintf(rest, size, "  vl=%" PRIu32 " v%" PRIu32 "=", core->vl, number);
    }
    return length + put_words(text + length, VE_TRACE_MAX - length, words, count);
}
