/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wramfifo.h: queues in WRAM between the host and a running program.
 *
 * Pointers count elements that were ever read or written; their low PTR_SIZE bits are the index.
 * Each pointer has one writer: the host, or the DPU.
 */
#ifndef DPU_RUNTIME_WRAMFIFO_H
#define DPU_RUNTIME_WRAMFIFO_H

#include <attributes.h>
#include <barrier.h>
#include <macro_utils.h>
#include <mutex.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WRAM_FIFO_SIZE(ptr_size) (1 << (ptr_size))

struct dpu_input_fifo_t {
    uint64_t read_ptr;           /* the DPU's */
    volatile uint64_t write_ptr; /* the host's */
    uint8_t *data;
    uint8_t *tmp_data;
    const uint32_t ptr_size;  /* 2 ^ ptr_size elements */
    const uint32_t data_size; /* bytes of an element */
};

struct dpu_output_fifo_t {
    volatile uint64_t read_ptr; /* the host's */
    uint64_t write_ptr;         /* the DPU's */
    uint8_t *data;
    uint8_t *tmp_data;
    const uint32_t ptr_size;
    const uint32_t data_size;
    uint32_t nb_reserved; /* elements that tasklets work on, and will push */
};

#define __DPU_FIFO_DATA(name) __CONCAT(__CONCAT(__, name), _data)
#define __DPU_FIFO_TMP(name) __CONCAT(__CONCAT(__, name), _tmp_data)

#define __DPU_FIFO_MEMORY(name, ptr_size, data_size) \
    _Static_assert((ptr_size) <= 10, "a fifo has at most 2 ^ 10 elements"); \
    _Static_assert((data_size) > 0 && ((data_size) & 7) == 0, \
                   "an element's size is a multiple of 8, and not 0"); \
    __host uint8_t __DPU_FIFO_DATA(name)[(1 << (ptr_size)) * (data_size)]; \
    __dma_aligned uint8_t __DPU_FIFO_TMP(name)[NR_TASKLETS * (data_size)]

/* Define a queue of 2 ^ PTR_SIZE elements of DATA_SIZE bytes; both end in a semicolon. */
#define INPUT_FIFO_INIT(name, ptr_size, data_size) \
    __DPU_FIFO_MEMORY(name, ptr_size, data_size); \
    __host struct dpu_input_fifo_t name = { \
        0, 0, __DPU_FIFO_DATA(name), __DPU_FIFO_TMP(name), (ptr_size), (data_size)};
#define OUTPUT_FIFO_INIT(name, ptr_size, data_size) \
    __DPU_FIFO_MEMORY(name, ptr_size, data_size); \
    __host struct dpu_output_fifo_t name = { \
        0, 0, __DPU_FIFO_DATA(name), __DPU_FIFO_TMP(name), (ptr_size), (data_size), 0};

bool is_input_fifo_empty(struct dpu_input_fifo_t *fifo);
/* The oldest element, which stays in the queue; there must be one. */
uint8_t *input_fifo_peek(struct dpu_input_fifo_t *fifo);
void input_fifo_pop(struct dpu_input_fifo_t *fifo);
bool is_output_fifo_full(struct dpu_output_fifo_t *fifo);
/* Copies DATA into the queue; waits for room. */
void output_fifo_push(struct dpu_output_fifo_t *fifo, const uint8_t *data);

/*
 * Works until *ACTIVE is 0 and the input is empty: all tasklets call PROCESS_INPUT(element, ctx)
 * on the same element, then tasklet 0 calls REDUCE(element, output, ctx) for its output.
 */
void process_inputs_all_tasklets(struct dpu_input_fifo_t *input_fifo,
                                 struct dpu_output_fifo_t *output_fifo,
                                 void (*process_input)(uint8_t *, void *),
                                 void (*reduce)(uint8_t *, uint8_t *, void *), void *ctx,
                                 barrier_t *barrier, volatile uint64_t *active);
/* The same with one tasklet an element: PROCESS_INPUT(element, output). */
void process_inputs_each_tasklet(struct dpu_input_fifo_t *input_fifo,
                                 struct dpu_output_fifo_t *output_fifo,
                                 void (*process_input)(uint8_t *, uint8_t *), mutex_id_t mutex,
                                 volatile uint64_t *active);

#ifdef __cplusplus
}
#endif

#endif
