/* SPDX-License-Identifier: BSD-3-Clause */
/* ve_code.h: for C tests: instructions of the Vector Engine as words. */
#ifndef OFFCHIP_TESTS_VE_CODE_H
#define OFFCHIP_TESTS_VE_CODE_H

#include "tests/support/check.h"
#include "veo/machine/core.h"

#include <string.h>

/* Fields of a register: sx, and sy and sz with the bit that says it is one. */
#define SX(register) ((uint64_t)(register) << 48)
#define SY(register) (UINT64_C(0x80) << 40 | (uint64_t)(register) << 40)
#define SZ(register) (UINT64_C(0x80) << 32 | (uint64_t)(register) << 32)
/* Immediates. */
#define IY(value) ((uint64_t)((value) & 127) << 40)
#define IZ(value) ((uint64_t)(value) << 32)
#define DISPLACEMENT(value) ((uint64_t)(uint32_t)(value))

/* The word of an operation that has its operands in other bits. */
#define WORD(operation, bits) (ve_operation_info(VE_OP_##operation)->match | (bits))

/* or %sX, 0, VALUE with a value of 7 bits. */
#define SET(register, value) WORD(OR, SX(register) | IY(value))
#define RETURN (WORD(B_L, SZ(VE_S_LINK)) | (uint64_t)VE_ALWAYS << 48)

#define BRANCH(operation, condition, bits, to) \
    (WORD(operation, bits) | (uint64_t)(condition) << 48 | DISPLACEMENT(to))

#endif
