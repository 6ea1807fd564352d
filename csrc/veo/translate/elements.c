/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/translate/elements.h"

#include "veo/machine/executors.h"
#include "veo/translate/block.h"

#include <string.h>

/* Puts the elements of a register in front that are from FROM on. */
static void rotate(uint64_t *row, uint64_t from)
{
    uint64_t before[VE_VECTOR_LENGTH];
    memcpy(before, row, from * sizeof *row);
    memmove(row, row + from, (VE_VECTOR_LENGTH - from) * sizeof *row);
    memcpy(row + VE_VECTOR_LENGTH - from, before, from * sizeof *row);
}

static void rotate_mask(uint64_t *mask, uint64_t from)
{
    uint64_t before[VE_MASK_WORDS];
    memcpy(before, mask, sizeof before);
    for (uint64_t word = 0; word < VE_MASK_WORDS; word++) {
        uint64_t first = before[(word + from / 64) % VE_MASK_WORDS];
        uint64_t second = before[(word + from / 64 + 1) % VE_MASK_WORDS];
        mask[word] = from % 64 == 0 ? first : first << from % 64 | second >> (64 - from % 64);
    }
}

static void rotate_all(struct ve_core *core, uint64_t vectors, uint64_t from)
{
    for (uint32_t mask = 1; mask < VE_MASKS; mask++)
        rotate_mask(core->vm[mask], from);
    for (uint32_t vector = 0; vector < VE_VECTORS; vector++)
        if ((vectors >> vector & 1) != 0)
            rotate(core->v[vector], from);
}

void ve_do_elements(struct ve_core *core, const struct ve_decoded *list,
                    const struct ve_element_step *steps, uint64_t count, uint64_t from)
{
    enum { Y, Z }; /* registers that have the values meanwhile */
    uint64_t vectors = 0;
    for (uint64_t step = 0; step < count; step++)
        vectors |= ve_element_reads(&list[steps[step].place].instruction) |
                   UINT64_C(1) << list[steps[step].place].instruction.vx;

    const uint64_t y = core->s[Y], z = core->s[Z];
    core->vl -= (uint32_t)from;
    rotate_all(core, vectors, from);
    for (uint64_t step = 0; step < count && !core->stopped; step++) {
        const struct ve_decoded *decoded = &list[steps[step].place];
        struct ve_instruction i = decoded->instruction;
        i.y_source = Y;
        i.z_source = Z;
        core->s[Y] = steps[step].y;
        core->s[Z] = steps[step].z + from * ve_element_of(&i).bytes;
        core->current = decoded;
        ve_executors[i.operation](core, &i);
    }

    rotate_all(core, vectors, VE_VECTOR_LENGTH - from);
    core->vl += (uint32_t)from;
    core->s[Y] = y;
    core->s[Z] = z;
}
