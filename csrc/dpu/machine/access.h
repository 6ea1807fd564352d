/* SPDX-License-Identifier: BSD-3-Clause */
/* access.h: where loads and stores of every form go, and which of them are faults. */
#ifndef OFFCHIP_DPU_ACCESS_H
#define OFFCHIP_DPU_ACCESS_H

#include "machine_state.h"

/* Size and address of a load or store. */
uint32_t dpu_access_size(enum dpu_operation_kind kind);
uint32_t dpu_access_address(const struct dpu_machine *machine, const struct dpu_thread *t,
                            const struct dpu_operation *op);
/*
 * True if an access of WRAM faults. *address is where it goes even so: a safe access keeps 16 bits
 * of the base, whose other half is the limit; the others ignore the topmost byte of the address.
 */
bool dpu_access_faults(const struct dpu_machine *machine, uint32_t base,
                       const struct dpu_operation *op, uint32_t size, uint32_t *address);
/* True if it would be a fault of that instruction. */
bool dpu_memory_faults(const struct dpu_machine *machine, const struct dpu_thread *t,
                       const struct dpu_operation *op);

#endif
