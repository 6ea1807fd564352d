/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stdlib.h: <stdlib.h> of Vector Engine code. As that of the Vector Engine's C library, it declares
 * what <sys/types.h> does: programs use int8_t and their like without <stdint.h>.
 */
#ifndef VE_CODE_STDLIB_H
#define VE_CODE_STDLIB_H

#include_next <stdlib.h>

#include <sys/types.h>

#endif
