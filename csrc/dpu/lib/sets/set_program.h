/* SPDX-License-Identifier: BSD-3-Clause */
/* set_program.h: the programs that DPUs have. */
#ifndef OFFCHIP_DPU_LIB_SET_PROGRAM_H
#define OFFCHIP_DPU_LIB_SET_PROGRAM_H

#include "dpu.h"

/*
 * The program that the DPUs of a set have, to be given back by dpu_free_program(); or
 * DPU_ERR_NO_PROGRAM_LOADED, DPU_ERR_DIFFERENT_DPU_PROGRAMS. DPUs without one do not count.
 */
dpu_error_t dpulib_common_program(struct dpu_set_t set, struct dpu_program_t **program);

#endif
