/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gain.h: whether it pays to run DPUs of a program together, by what both ways have taken.
 *
 * Any thread may call these functions, which do not block.
 */
#ifndef OFFCHIP_DPU_GAIN_H
#define OFFCHIP_DPU_GAIN_H

#include "dpu/machine/machine.h"

#include <stdbool.h>
#include <stdint.h>

/* Notes the time that a machine has taken alone. */
void dpu_gain_note_alone(struct dpu_machine *machine, uint64_t instructions, uint64_t ns);
/* The same for COUNT machines together, by code for LANES; the machine is any of them. */
void dpu_gain_note_together(struct dpu_machine *machine, uint32_t count, uint32_t lanes,
                            uint64_t instructions, uint64_t ns);
/* True if together was faster for the program of this machine. */
bool dpu_gain_is_sure(struct dpu_machine *machine);
/* True if both ways have been timed for it. */
bool dpu_gain_is_known(struct dpu_machine *machine);
/* True if COUNT machines of its program are to run together: it is faster, or to be timed. */
bool dpu_gain_is_worth(struct dpu_machine *machine, uint32_t count, uint32_t lanes);

#endif
