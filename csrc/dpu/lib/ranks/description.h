/* SPDX-License-Identifier: BSD-3-Clause */
/* description.h: the dpu_description_t that callers are given of a rank. */
#ifndef OFFCHIP_DPU_LIB_DESCRIPTION_H
#define OFFCHIP_DPU_LIB_DESCRIPTION_H

#include "dpu/lib/ranks/configuration.h"
#include "dpu_description.h"

/* A description with one reference, for dpu_free_description(). NULL if out of memory. */
dpu_description_t dpulib_description_new(const struct dpulib_configuration *configuration);

#endif
