/* SPDX-License-Identifier: BSD-3-Clause */
/* prepare.h: decoding a word of IRAM for the interpreters. */
#ifndef OFFCHIP_DPU_PREPARE_H
#define OFFCHIP_DPU_PREPARE_H

#include "machine_state.h"

/* Fills in *OP, which is in m->operations, from its word in IRAM. */
void dpu_prepare_operation(struct dpu_machine *machine, struct dpu_operation *op);

#endif
