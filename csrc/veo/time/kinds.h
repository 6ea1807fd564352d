/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kinds.h: what an operation is to the meter, derived from its row in the table of instructions.
 * Pure; any thread. csrc/veo/checks use its registers too.
 */
#ifndef OFFCHIP_VE_TIME_KINDS_H
#define OFFCHIP_VE_TIME_KINDS_H

#include "veo/isa/instruction.h"

enum ve_time_pipe {
    VE_TIME_SCALAR,
    VE_TIME_SCALAR_LOAD,
    VE_TIME_SCALAR_FLOAT,
    VE_TIME_SCALAR_DIVIDE,
    VE_TIME_FMA,
    VE_TIME_ALU,
    VE_TIME_DIVIDE,
    VE_TIME_RECURRENCE, /* an element needs the one before */
    VE_TIME_LOAD,
    VE_TIME_STORE,
    VE_TIME_GATHER,
    VE_TIME_SCATTER
};

/* Registers that an operation reads, and the one that it writes: bits of what its row names. */
enum {
    VE_TIME_SX = 1,
    VE_TIME_SY = 2,
    VE_TIME_SZ = 4,
    VE_TIME_SW = 8,
    VE_TIME_VX = 16,
    VE_TIME_VY = 32,
    VE_TIME_VZ = 64,
    VE_TIME_VW = 128,
    VE_TIME_MX = 256, /* the same fields as mask registers */
    VE_TIME_MY = 512,
    VE_TIME_MZ = 1024,
    VE_TIME_Y_MAY_BE_SCALAR = 2048,
    VE_TIME_Z_MAY_BE_SCALAR = 4096
};

struct ve_time_kind {
    enum ve_time_pipe pipe;
    uint16_t reads, writes;
    uint8_t flops; /* per element; of a scalar instruction in all */
    uint8_t bytes; /* of an element in memory */
    bool vector;
    bool fma;
    bool whole; /* its result needs all elements */
};

struct ve_time_kind ve_time_kind(uint32_t operation);

#endif
