/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting VE argument slots into x86 registers, and the result back into a VE register. */
#include <stdio.h>
#include <string.h>

#include "veo/worker/worker.h"

enum { INTS = 6, FPS = 8 };

static uint64_t ve_result(char kind, const uint64_t out[2])
{
    switch (kind) {
    case 'b': return (uint64_t)(int64_t)(int8_t)out[0];
    case 'B': return (uint8_t)out[0];
    case 'h': return (uint64_t)(int64_t)(int16_t)out[0];
    case 'H': return (uint16_t)out[0];
    case 'i': return (uint64_t)(int64_t)(int32_t)out[0];
    case 'I': return (uint32_t)out[0];
    case 'f': return out[1] << 32;
    case 'd': return out[1];
    case 'v': return 0;
    default: return out[0];
    }
}

int veow_call(const struct wire_slot *slot, uint64_t *result)
{
    const uint64_t *values = slot->args;
    const uint64_t *kinds = &slot->kinds;
    char ret = (char)slot->ret;
    unsigned nargs = slot->nargs;
    if (slot->flags & WIRE_BLOCK_ARGS) {
        const struct wire_args *outside = slot->block;
        values = outside->values;
        kinds = outside->kinds;
    }
    uint64_t given[WIRE_KIND_WORDS] = {0};
    if (!(slot->flags & WIRE_SIGNATURE)) {
        struct veow_classes *classes = veow_classes_of(slot->target);
        if (classes->refused) {
            char where[256];
            veow_describe(slot->target, where, sizeof where);
            fprintf(stderr, "[VE] ERROR: cannot call %s: %s\n", where, classes->why);
            return VEO_COMMAND_ERROR;
        }
        if (classes->known) {
            kinds = classes->kinds;
            ret = classes->ret;
            /* Arguments behind those that have names go by what the caller said. */
            const uint64_t *setters = slot->flags & WIRE_BLOCK_ARGS
                                          ? ((struct wire_args *)slot->block)->kinds
                                          : &slot->kinds;
            for (unsigned i = 0; i < nargs; i++) {
                unsigned shift = i % 32 * 2;
                uint64_t kind = kinds[i / 32] >> shift & 3;
                if (kind == WIRE_KIND_UNSET)
                    kind = setters[i / 32] >> shift & 3;
                given[i / 32] |= kind << shift;
            }
            kinds = given;
        } else if (!classes->warned) {
            uint64_t seen = 0;
            for (unsigned i = 0; i < nargs; i++)
                seen |= kinds[i / 32] >> i % 32 * 2 & 2;
            veow_classes_warn(classes, seen != 0);
        }
    }
    uint64_t ints[INTS] = {0};
    uint64_t fps[FPS] = {0};
    uint64_t stack[VEO_MAX_NUM_ARGS];
    uint64_t out[2];
    unsigned nints = 0;
    unsigned nfps = 0;
    size_t nstack = 0;
    for (unsigned i = 0; i < nargs; i++) {
        uint64_t kind = kinds[i / 32] >> i % 32 * 2 & 3;
        uint64_t value = kind == WIRE_KIND_FLOAT ? values[i] >> 32 : values[i];
        if (kind < WIRE_KIND_FLOAT && nints < INTS)
            ints[nints++] = value;
        else if (kind >= WIRE_KIND_FLOAT && nfps < FPS)
            fps[nfps++] = value;
        else
            stack[nstack++] = value;
    }
    veow_invoke(slot->target, ints, fps, stack, nstack, out);
    *result = ve_result(ret, out);
    return VEO_COMMAND_OK;
}
