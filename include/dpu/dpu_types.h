/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_types.h: the types that the parts of the API share. Layouts are the vendor's. */
#ifndef DPU_TYPES_H
#define DPU_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dpu_target.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A rank has up to 8 control interfaces ("slices") with up to 8 DPUs ("members") each. */
#define DPU_MAX_NR_CIS 8
#define DPU_MAX_NR_DPUS_PER_CI 8
#define DPU_MAX_NR_GROUPS 8
/* The tasklet that a launch boots; it boots the others. */
#define DPU_BOOT_THREAD 0

typedef uint16_t dpu_rank_id_t;
typedef uint32_t dpu_id_t;
typedef uint8_t dpu_slice_id_t;
typedef uint8_t dpu_member_id_t;
typedef uint8_t dpu_group_id_t;
typedef uint8_t dpu_thread_t;
typedef uint8_t dpu_notify_bit_id_t;
/* IRAM counts instructions, WRAM words of 32 bits, MRAM bytes. */
typedef uint16_t iram_addr_t;
typedef uint32_t wram_addr_t;
typedef uint32_t mram_addr_t;
typedef mram_addr_t dpu_mem_max_addr_t;
typedef uint16_t iram_size_t;
typedef uint32_t wram_size_t;
typedef uint32_t mram_size_t;
typedef mram_size_t dpu_mem_max_size_t;
typedef uint64_t dpuinstruction_t;
typedef uint32_t dpuword_t;
/* A bit for each DPU of a slice, and for each slice of a rank. */
typedef uint8_t dpu_bitfield_t;
typedef uint8_t dpu_ci_bitfield_t;
#define DPU_BITFIELD_ALL ((dpu_bitfield_t) - 1)

typedef enum _dpu_clock_division_t {
    DPU_CLOCK_DIV8 = 0x0,
    DPU_CLOCK_DIV4 = 0x4,
    DPU_CLOCK_DIV3 = 0x3,
    DPU_CLOCK_DIV2 = 0x8
} dpu_clock_division_t;

#define DPU_API_DEPRECATED __attribute__((deprecated))

/* The symbol at which a program's own MRAM ends; its size is that of what is left. */
#define DPU_MRAM_HEAP_POINTER_NAME "__sys_used_mram_end"

struct dpu_rank_t;
struct dpu_t;
struct dpu_transfer_matrix;
struct dpu_program_t;

typedef enum _dpu_set_kind_t { DPU_SET_RANKS, DPU_SET_DPU } dpu_set_kind_t;

/* Some ranks with all their enabled DPUs, or one DPU. Passed by value. */
struct dpu_set_t {
    dpu_set_kind_t kind;
    union {
        struct {
            uint32_t nr_ranks;
            struct dpu_rank_t **ranks;
        } list;
        struct dpu_t *dpu;
    };
};

/* 0x00000000 is the first byte of WRAM, 0x08000000 of MRAM, 0x80000000 of IRAM. */
struct dpu_symbol_t {
    dpu_mem_max_addr_t address;
    dpu_mem_max_size_t size;
};

/* Variables that DPU_INCBIN() defines. */
struct dpu_incbin_t {
    uint8_t *buffer;
    size_t size;
    const char *path;
};

/* The state of one DPU: see dpu_checkpoint.h and dpu_debug.h. A memory is NULL if it was not
 * saved. Registers are those of tasklet 0, then 1, and so on. */
struct dpu_context_t {
    struct {
        uint32_t nr_threads;
        uint32_t nr_registers;
        uint32_t nr_atomic_bits;
        iram_size_t iram_size;
        mram_size_t mram_size;
        wram_size_t wram_size;
    } info;
    dpuinstruction_t *iram;
    uint8_t *mram;
    dpuword_t *wram;
    uint32_t *registers;
    iram_addr_t *pcs;
    bool *atomic_register;
    bool *zero_flags;
    bool *carry_flags;
    uint8_t nr_of_running_threads;
    uint8_t *scheduling;
    bool bkp_fault;
    bool dma_fault;
    bool mem_fault;
    dpu_thread_t bkp_fault_thread_index;
    dpu_thread_t dma_fault_thread_index;
    dpu_thread_t mem_fault_thread_index;
    uint32_t bkp_fault_id;
};

/* The blocks of one DPU in a scatter/gather transfer. */
struct sg_xfer_buffer {
    uint32_t max_nr_blocks;
    uint8_t **blocks_addr;
    uint32_t *blocks_length;
    uint32_t nr_blocks;
};

/* Kinds of the pointers in a struct dpu_transfer_matrix: buffers, or struct sg_xfer_buffer. */
typedef enum dpu_transfer_matrix_type_t {
    DPU_DEFAULT_XFER_MATRIX,
    DPU_SG_XFER_MATRIX
} dpu_transfer_matrix_type_t;

/* Parts of a description of real chips; see dpu_hw_description.h. */
struct dpu_bit_config {
    uint16_t cpu2dpu;
    uint16_t dpu2cpu;
    uint8_t nibble_swap;
    uint8_t stutter;
};

struct dpu_carousel_config {
    uint8_t cmd_duration;
    uint8_t cmd_sampling;
    uint8_t res_duration;
    uint8_t res_sampling;
};

#ifdef __cplusplus
}
#endif

#endif
