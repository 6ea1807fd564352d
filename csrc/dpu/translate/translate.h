/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * translate.h: programs that run much are translated to code of the host, in the background.
 *
 * A thread that ends when there is nothing to do finds the code of a program in the cache
 * (code_cache.h), or writes C (generate.h), has it compiled (compiler.h), and loads it
 * (shared_object.h). Machines that run the program use it from their next window on. Nobody waits
 * for it: without a compiler, and until it is done, programs run as fast as they are interpreted.
 *
 * All functions may be called from any thread.
 */
#ifndef OFFCHIP_DPU_TRANSLATE_H
#define OFFCHIP_DPU_TRANSLATE_H

#include "dpu/machine/lockstep.h"
#include "dpu/machine/machine.h"

#include <stdbool.h>
#include <stdint.h>

/* Instructions of a program, by all machines, after which it is looked for in the cache,
 * translated, and translated for several DPUs. */
#define DPU_LOOK_AFTER UINT64_C(1000000)
#define DPU_TRANSLATE_AFTER UINT64_C(50000000)
#define DPU_LANES_AFTER UINT64_C(2000000000)

/* After a run of the machine: has its program translated if it has run much, or AT_ONCE. */
void dpu_translate_poll(struct dpu_machine *machine, bool at_once);
/*
 * Has the program translated at once, and waits for it, but not longer than the deadline (clock.h).
 * False if there is no translated code: without a compiler, for example. Not while it runs.
 */
bool dpu_translate_wait(struct dpu_machine *machine, int64_t deadline);
/* The DPUs that code for several of them is for, by the instructions of this host; 0: none. */
uint32_t dpu_translate_lanes_of_host(void);
/*
 * Code of the machine's program for that many. NULL if there is none: then it is translated if the
 * program has run much, or, with a deadline that is not 0, at once, and waited for.
 */
const struct dpu_lanes_code *dpu_translate_lanes(struct dpu_machine *machine, int64_t deadline);
/* True if the machine, which is of engine drift, uses it. */
bool dpu_translate_is_used(const struct dpu_machine *machine);

/* Totals of translation in this process. */
struct dpu_translate_totals {
    uint64_t compiled, loaded, failed; /* programs; loaded: from the cache */
    uint64_t compile_ns, code_bytes, source_bytes;
};
void dpu_translate_get_totals(struct dpu_translate_totals *totals);

#endif
