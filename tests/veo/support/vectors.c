/* SPDX-License-Identifier: BSD-3-Clause */
/* vectors.c: executors of vector instructions for ctypes, on one core. */
#include "csrc/veo/machine/vector.h"

#include <fenv.h>
#include <stdlib.h>

static struct ve_core *core_of_tests(void)
{
    static struct ve_core *core;
    if (core == NULL)
        core = ve_core_create();
    if (core == NULL)
        abort();
    return core;
}

uint64_t *vectors_scalars(void);
uint64_t *vectors_scalars(void)
{
    return core_of_tests()->s;
}

uint64_t *vectors_elements(void);
uint64_t *vectors_elements(void)
{
    return core_of_tests()->v[0];
}

uint64_t *vectors_masks(void);
uint64_t *vectors_masks(void)
{
    return core_of_tests()->vm[0];
}

uint32_t vectors_operation_count(void);
uint32_t vectors_operation_count(void)
{
    return VE_OPERATION_COUNT;
}

int vectors_has(uint32_t operation);
int vectors_has(uint32_t operation)
{
    return ve_vector_executors(VE_VECTORS_PLAIN)[operation] != NULL;
}

int vectors_supports(uint32_t level);
int vectors_supports(uint32_t level)
{
    return ve_vector_executors((enum ve_vector_level)level) != NULL;
}

/* Columns of the table of instructions. */
#define COLUMN(type, name) \
    type vectors_##name(uint32_t operation); \
    type vectors_##name(uint32_t operation) \
    { \
        return ve_operation_info(operation)->name; \
    }
COLUMN(const char *, mnemonic)
COLUMN(const char *, operands)
COLUMN(uint64_t, mask)
COLUMN(uint64_t, match)
COLUMN(uint8_t, masking)

/* Executes a word; returns 0, or the exception that it raised, or -1 if it is no vector
 * instruction. */
int vectors_run(uint64_t word, uint32_t vl, uint32_t vix, uint32_t level);
int vectors_run(uint64_t word, uint32_t vl, uint32_t vix, uint32_t level)
{
    struct ve_core *core = core_of_tests();
    ve_vector_table executors = ve_vector_executors((enum ve_vector_level)level);
    struct ve_instruction instruction;
    if (!ve_decode(word, &instruction) || executors[instruction.operation] == NULL)
        return -1;

    fenv_t host;
    core->vl = vl;
    core->vix = vix;
    core->fault.kind = VE_FAULT_NONE;
    feholdexcept(&host);
    executors[instruction.operation](core, &instruction);
    fesetenv(&host);
    return (int)core->fault.kind;
}
