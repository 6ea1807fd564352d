/* SPDX-License-Identifier: BSD-3-Clause */
#include "runner.h"

#include "dpu/machine/interpreters.h"
#include "plan.h"

#include <stdlib.h>

/* generate.c knows these places. */
_Static_assert(offsetof(struct dpu_thread, zero) == offsetof(struct dpu_thread, r) + 34 * 4 &&
                   offsetof(struct dpu_thread, carry) == offsetof(struct dpu_thread, r) + 35 * 4,
               "registers, zero and carry follow each other");

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* A tasklet that came to PC from outside cannot enter there. */
static void note_miss(struct dpu_record *record, uint32_t pc, uint32_t count)
{
    atomic_store_explicit(&record->missed_at[pc], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&record->missed, count, memory_order_relaxed);
}

/* True if all instructions of this kind are events; of the others some are. */
static bool is_event(const struct dpu_operation *op)
{
    uint32_t code = __atomic_load_n(&op->code, __ATOMIC_ACQUIRE);
    return code == DPU_CODE_ACQUIRE || code == DPU_CODE_RELEASE ||
           (code == DPU_CODE_THREAD_ANY && op->kind != DPU_OP_SWAPD);
}

/*
 * Translated code stops before an event, where the budget ends within a block, and where it has no
 * code; the interpreter goes on from there up to the next entry. So it is by the budget and by
 * events alone that a tasklet stops where it does.
 */
static uint32_t run_translated(struct dpu_machine *m, struct dpu_thread *t, uint32_t budget)
{
    struct dpu_record *record = dpu_record_of(m->program);
    const struct dpu_host_code *code = atomic_load_explicit(&record->code, memory_order_acquire);
    if (code == NULL)
        return dpu_run_alone(m, t, budget);

    const struct dpu_module *module = code->loaded.module;
    uint32_t left = budget;
    for (;;) {
        uint32_t pc = dpu_pc(m, t->op);
        bool entered = module->spans[pc] == 0;
        if (entered) {
            uint64_t end = module->run(t->r, m->wram, pc, left);
            pc = (uint32_t)end & (DPU_MACHINE_IRAM - 1);
            left = (uint32_t)(end >> 32);
            t->op = &m->operations[pc];
            if (left == 0 || is_event(t->op))
                return budget - left;
        }

        uint32_t span = module->spans[pc] == 0 ? DPU_BLOCK_MOST : module->spans[pc];
        uint32_t some = smaller(left, span), done = dpu_run_alone(m, t, some);
        if (module->wanted[pc] == 0 || (entered && done > 0 && left > DPU_BLOCK_MOST))
            note_miss(record, pc, done);
        left -= done;
        if (done < some || left == 0)
            return budget - left;
    }
}

static void release(struct dpu_translation *translation)
{
    struct dpu_record *record = (struct dpu_record *)(void *)translation;
    for (struct dpu_host_code *code = atomic_load(&record->code), *older; code != NULL;
         code = older) {
        older = code->older;
        dpu_module_unload(&code->loaded);
        free(code);
    }

    for (struct dpu_lanes_module *lanes = atomic_load(&record->lanes), *older; lanes != NULL;
         lanes = older) {
        older = lanes->older;
        dpu_module_unload(&lanes->loaded);
        free(lanes);
    }

    free(record);
}

struct dpu_record *dpu_record_new(void)
{
    struct dpu_record *record = calloc(1, sizeof *record);
    if (record != NULL)
        record->base = (struct dpu_translation){.run = run_translated, .release = release};
    return record;
}
