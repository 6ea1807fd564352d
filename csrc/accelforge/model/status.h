/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * status.h: what a problem can be refused for, and what can be wrong with a mapping.
 */
#ifndef OFFCHIP_FORGE_STATUS_H
#define OFFCHIP_FORGE_STATUS_H

#include <stdint.h>

#define FORGE_NONE UINT32_MAX

/*
 * X(name, text). The first group is about a problem: no model can be made of it. The second is
 * about one set of values: the mapping cannot be executed with it.
 */
#define FORGE_STATUSES(X) \
    X(OK, "") \
    X(OUT_OF_MEMORY, "out of memory") \
    X(TOO_LARGE, "the problem has more parts than the engine takes") \
    X(BAD_INDEX, "an index is outside its table") \
    X(BAD_STRUCTURE, "a part of the problem has no meaning in its place") \
    X(BAD_FORMULA, "a latency formula does not leave exactly one value") \
    X(HELD_TWICE, "a tensor is held twice by one component") \
    X(NOT_A_HOLDER, "a tensor is held by a component that is neither a memory nor a toll") \
    X(NO_COSTS, "a component holds a tensor without an entry in its 'tensors'") \
    X(LOOPS_CROSS, \
      "a spatial loop and a temporal loop over the same rank variable change places between " \
      "tensors; move the spatial loop below the storage node that it does not fan out") \
    X(TOLL_OUTERMOST, \
      "a toll is the outermost holder of a tensor that several Einsums use; hold the tensor in a " \
      "memory above it") \
    X(NO_FUSED_BACKING, "a tensor that several Einsums use is held nowhere") \
    X(NOT_JOINABLE, \
      "Einsums that share a tensor hold it outermost in different memories or below different " \
      "loops") \
    X(INITIAL_TILE, \
      "initial tile shapes of fused loops over a rank variable in a sum are not supported; leave " \
      "them out") \
    X(BAD_NUMBER, "a number is outside its range") \
    X(NO_UNIT_TILE, "a rank variable has no loop with a tile shape of 1") \
    X(FANOUT_EXCEEDED, "a spatial loop needs more instances than the fan-out has") \
    X(CAPACITY_EXCEEDED, "a memory is too small for one Einsum") \
    X(JOINT_CAPACITY_EXCEEDED, "a memory is too small for what fused Einsums hold together") \
    X(LOOPS_DIFFER, "loops above a shared tensor differ between Einsums") \
    X(OVERFLOW, "a result is not a finite number")

enum forge_status {
#define X(name, text) FORGE_##name,
    FORGE_STATUSES(X)
#undef X
        FORGE_STATUS_COUNT
};

/* Subject of a status; fields that do not apply are FORGE_NONE or 0. */
struct forge_fault {
    enum forge_status status;
    uint32_t einsum;
    uint32_t component; /* of the problem's components */
    uint32_t level;     /* of the Einsum */
    uint32_t dimension; /* of the level */
    uint32_t tensor;    /* of the Einsum */
    uint32_t variable;  /* of the Einsum */
    uint32_t value;     /* of the problem's values */
    uint32_t access;    /* enum forge_access */
    double needed;
    double available;
};

/* The text of a status; never NULL. */
const char *forge_status_text(enum forge_status status);

/* A fault with STATUS and nothing else. */
struct forge_fault forge_fault_of(enum forge_status status);

#endif
