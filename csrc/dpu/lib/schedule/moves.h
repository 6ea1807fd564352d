/* SPDX-License-Identifier: BSD-3-Clause */
/* moves.h: how an operation moves data between the host and DPUs, which is what its modelled time
 * depends on. */
#ifndef OFFCHIP_DPU_LIB_MOVES_H
#define OFFCHIP_DPU_LIB_MOVES_H

/* X(name, text in reports) */
#define DPULIB_MOVES(X) \
    X(SERIAL_TO, "serial_to") \
    X(SERIAL_FROM, "serial_from") \
    X(PARALLEL_TO, "parallel_to") \
    X(PARALLEL_FROM, "parallel_from") \
    X(BROADCAST, "broadcast")

enum dpulib_move {
    DPULIB_NO_MOVE,
#define DPULIB_MOVE_(name, text) DPULIB_##name,
    DPULIB_MOVES(DPULIB_MOVE_)
#undef DPULIB_MOVE_
        DPULIB_MOVE_COUNT
};

#endif
