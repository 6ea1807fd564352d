/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c: host BINARY: runs the program on four DPUs and verifies what they found. */
#include <dpu.h>
#include <inttypes.h>
#include <stdio.h>

#include "common.h"

#define DPUS 4

int main(int argc, char **argv)
{
    static uint32_t values[DPUS][ELEMENTS];
    struct arguments arguments = {ELEMENTS, 3};
    uint64_t expected[DPUS] = {0};
    uint64_t found = 0;
    struct dpu_set_t set, dpu;
    uint32_t index;
    int wrong = 0;

    if (argc != 2) {
        return 2;
    }
    DPU_ASSERT(dpu_alloc(DPUS, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    DPU_FOREACH(set, dpu, index)
    {
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            values[index][i] = i * 2654435761u + index;
            expected[index] += (uint64_t)values[index][i] * values[index][i] * 3;
        }
        DPU_ASSERT(dpu_prepare_xfer(dpu, values[index]));
    }
    DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_TO_DPU, "input", 0, sizeof values[0], DPU_XFER_DEFAULT));
    DPU_ASSERT(
        dpu_broadcast_to(set, "ARGUMENTS", 0, &arguments, sizeof arguments, DPU_XFER_DEFAULT));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_FOREACH(set, dpu, index)
    {
        DPU_ASSERT(dpu_copy_from(dpu, "total", 0, &found, sizeof found));
        wrong += found != expected[index];
        DPU_ASSERT(dpu_log_read(dpu, stdout));
    }
    DPU_ASSERT(dpu_free(set));
    printf(wrong == 0 ? "equal\n" : "differ\n");
    return wrong != 0;
}
