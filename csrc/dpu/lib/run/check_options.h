/* SPDX-License-Identifier: BSD-3-Clause */
/* check_options.h: what DPU_CHECK asks for, with the names of DPU_CHECK_LIST (dpu/checks/checks.h).
 */
#ifndef OFFCHIP_DPU_LIB_CHECK_OPTIONS_H
#define OFFCHIP_DPU_LIB_CHECK_OPTIONS_H

#include "common/check_options.h"

/* As check_options_read(). */
bool dpulib_check_options_read(struct check_options *options, const char *text, char *problem,
                               size_t size);

#endif
