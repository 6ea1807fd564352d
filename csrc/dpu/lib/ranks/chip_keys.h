/* SPDX-License-Identifier: BSD-3-Clause */
/* chip_keys.h: which values of the keys of another chip make sense together. */
#ifndef OFFCHIP_DPU_LIB_CHIP_KEYS_H
#define OFFCHIP_DPU_LIB_CHIP_KEYS_H

#include "dpu/lib/ranks/configuration.h"

/* DPU_ERR_INVALID_PROFILE, with the reason, for what contradicts itself. Tells once, on stderr, of
 * keys of time that change nothing because of others. */
dpu_error_t dpulib_chip_keys_check(const struct dpulib_configuration *configuration);

#endif
