/* SPDX-License-Identifier: BSD-3-Clause */
/* error_storage.c: where the host looks for an error of the run time; 0 is none. */
#include <attributes.h>
#include <stdint.h>

uint32_t __host error_storage;
