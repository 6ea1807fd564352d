/* SPDX-License-Identifier: BSD-3-Clause */
/* vector.c: the executors that suit the processor, and their names in executors.h. */
#include "veo/machine/vector.h"

#include "executors.h"

#include "common/processor.h"

ve_vector_table ve_vector_executors(enum ve_vector_level level)
{
    switch (level) {
    case VE_VECTORS_PLAIN: return ve_vectors_plain;
#if defined(__x86_64__)
    case VE_VECTORS_AVX2: return processor_has_avx2() ? ve_vectors_avx2 : NULL;
    case VE_VECTORS_AVX512: return processor_has_avx512() ? ve_vectors_avx512 : NULL;
#endif
    default: return NULL;
    }
}

/* The table for the highest level, chosen before anything runs. */
static ve_vector_table best;

__attribute__((constructor)) static void choose(void)
{
    for (int level = VE_VECTOR_LEVELS - 1; best == NULL; level--)
        best = ve_vector_executors((enum ve_vector_level)level);
}

#define INSTRUCTION(operation, ...) \
    void ve_execute_##operation(struct ve_core *core, const struct ve_instruction *in) \
    { \
        best[VE_OP_##operation](core, in); \
    }
#include "veo/isa/vector.def"
#undef INSTRUCTION
