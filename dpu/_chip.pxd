# SPDX-License-Identifier: BSD-3-Clause
"""C declarations of csrc/dpu/isa/chip.h: what a chip has."""

from libc.stdint cimport uint32_t


cdef extern from "dpu/isa/chip.h" nogil:
    enum:
        DPU_MACHINE_THREADS
        DPU_MACHINE_THREADS_ROOM
        DPU_MACHINE_REGISTERS
        DPU_MACHINE_IRAM
        DPU_MACHINE_WRAM
        DPU_MACHINE_WRAM_ROOM
        DPU_MACHINE_MRAM
        DPU_MACHINE_ATOMIC_BITS
        DPU_ARCHITECTURE_COUNT

    ctypedef struct dpu_chip_t "struct dpu_chip":
        const char *name
        uint32_t threads
        uint32_t iram
        uint32_t wram

    const dpu_chip_t *dpu_chip_of(uint32_t architecture)
