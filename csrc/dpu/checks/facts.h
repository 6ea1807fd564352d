/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.h: what checks need to know of an instruction. */
#ifndef OFFCHIP_DPU_CHECKS_FACTS_H
#define OFFCHIP_DPU_CHECKS_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#define NO_REGISTER 0xFF

enum flow { FLOW_OTHER, FLOW_CALL, FLOW_JUMP_BY_REGISTER };

struct fact {
    uint8_t flow;      /* enum flow */
    uint8_t operation; /* enum dpu_operation_kind */
    uint8_t a, b;      /* source registers below 24; NO_REGISTER */
    uint8_t b_pair;    /* b is a pair */
    uint8_t result;    /* destination; NO_REGISTER */
    uint8_t pair;      /* the result is a pair: enum dpu_destination */
    bool decides;      /* whether it jumps depends on its sources */
    bool moves_stack;
    bool has_immediate;
    bool known; /* it is an instruction */
    bool big_endian;
    bool sets_carry;
    uint8_t condition;   /* enum dpu_condition */
    uint32_t constant_a; /* of a source that is no register of the tasklet's, but id and its like */
    uint32_t immediate;
    uint32_t shift;
};

void fact_of(uint64_t word, struct fact *fact);

#endif
