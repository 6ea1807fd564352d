/* SPDX-License-Identifier: BSD-3-Clause */
/* prepare.h: decoding a word of IRAM for the interpreters. */
#ifndef OFFCHIP_DPU_PREPARE_H
#define OFFCHIP_DPU_PREPARE_H

#include "machine_state.h"

/* Decodes a word, by itself; SWITCHES are those of the machine. */
void dpu_prepare_word(uint64_t word, uint32_t switches, struct dpu_operation *operation);
/* Decodes word INDEX of IRAM for the machine's program. */
void dpu_prepare_operation(struct dpu_machine *machine, uint32_t index);

#endif
