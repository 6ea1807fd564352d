/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * translate.h: Vector Engine code that runs often becomes code of the host, in the background.
 *
 * Cores say at times where they are (ve_code_sample). A place that is seen often is the start of a
 * unit (plan.h), which a thread that ends when there is nothing to do finds in the cache or has
 * compiled; cores use it from their next sample on. Nobody waits for it: without a compiler, and
 * until it is done, code is interpreted.
 */
#ifndef OFFCHIP_VE_TRANSLATE_H
#define OFFCHIP_VE_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>

/* Names the compiler, as in hostcode/compiler.h. */
#define VE_COMPILER_VARIABLE "VEO_SOFT_CC"

enum ve_engine {
    VE_ENGINE_AUTO, /* what runs often is translated */
    VE_ENGINE_INTERPRETER,
    VE_ENGINE_TRANSLATED, /* all that is seen is translated, and waited for */
};

/* Chooses the engine of all cores. */
void ve_translate_use(enum ve_engine engine);

/* Totals of translation in this process. */
struct ve_translate_totals {
    uint64_t compiled, loaded, failed; /* units; loaded: from the cache */
    uint64_t compile_ns, source_bytes;
};
void ve_translate_get_totals(struct ve_translate_totals *totals);

#endif
