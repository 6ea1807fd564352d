/* SPDX-License-Identifier: BSD-3-Clause */
/* vector.c: the executors that suit the processor, and their names in executors.h. */
#include "veo/machine/vector.h"

#include "executors.h"

#include <cpuid.h>

/* What the processor executes, and whether the kernel keeps registers of that width. */
static bool supports(bool avx512)
{
    const unsigned fma = 1U << 12, osxsave = 1U << 27;
    const unsigned avx2 = 1U << 5;
    const unsigned f_dq_bw_vl = 1U << 16 | 1U << 17 | 1U << 30 | 1U << 31;
    const unsigned kept_256 = 6, kept_512 = 0xE6;
    unsigned a, b, c, d, kept, high;

    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (fma | osxsave)) != (fma | osxsave))
        return false;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return false;

    __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    unsigned needed = avx512 ? f_dq_bw_vl | avx2 : avx2;
    unsigned needs_kept = avx512 ? kept_512 : kept_256;
    return (b & needed) == needed && (kept & needs_kept) == needs_kept;
}

ve_vector_table ve_vector_executors(enum ve_vector_level level)
{
    switch (level) {
    case VE_VECTORS_PLAIN: return ve_vectors_plain;
    case VE_VECTORS_AVX2: return supports(false) ? ve_vectors_avx2 : NULL;
    case VE_VECTORS_AVX512: return supports(true) ? ve_vectors_avx512 : NULL;
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
