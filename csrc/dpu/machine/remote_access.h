/* SPDX-License-Identifier: BSD-3-Clause */
/* remote_access.h: what accesses to a machine's memories call, if there is a copy of it. */
#ifndef OFFCHIP_DPU_REMOTE_ACCESS_H
#define OFFCHIP_DPU_REMOTE_ACCESS_H

#include "machine_state.h"

enum dpu_remote_memory { DPU_REMOTE_IRAM, DPU_REMOTE_WRAM, DPU_REMOTE_MRAM };

/* Before bytes are read or written: brings the pages that need it, and notes what changes. SIZE is
 * not 0, and all is inside. */
void dpu_remote_use(const struct dpu_machine *machine, enum dpu_remote_memory memory,
                    uint32_t offset, size_t size, bool writes);
/* A run uses all; of WRAM is not known what it changes. */
void dpu_remote_before_run(struct dpu_machine *machine);
void dpu_remote_after_run(struct dpu_machine *machine);

static inline void dpu_remote_touch(const struct dpu_machine *machine,
                                    enum dpu_remote_memory memory, uint32_t offset, size_t size,
                                    bool writes)
{
    if (UNLIKELY(machine->remote != NULL) && size != 0)
        dpu_remote_use(machine, memory, offset, size, writes);
}

#endif
