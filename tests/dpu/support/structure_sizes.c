/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of the structures that native.py declares for ctypes. */
#include "dpu/isa/instructions.h"
#include "dpu/machine/machine.h"
#include "dpu/translate/translate.h"
#include "tests/dpu/support/observer.h"

struct structure_size {
    const char *name;
    size_t size;
};

#define SIZE(name) {#name, sizeof(struct name)}

extern const struct structure_size structure_sizes[];
const struct structure_size structure_sizes[] = {
    SIZE(dpu_machine_options),  SIZE(dpu_run_result),  SIZE(dpu_thread_state),
    SIZE(dpu_counter_state),    SIZE(dpu_instruction), SIZE(dpu_form_info),
    SIZE(dpu_translate_totals), SIZE(observed),        {NULL, 0},
};
