/* SPDX-License-Identifier: BSD-3-Clause */
/* wramfifo.c: the DPU's side of the queues. */
#include <defs.h>
#include <string.h>
#include <wramfifo.h>

static uint32_t index_of(uint64_t pointer, uint32_t ptr_size)
{
    return (uint32_t)pointer & ((1u << ptr_size) - 1);
}

/* The host writes 8 bytes at once, but the DPU may read in between: two equal reads are whole. */
static uint64_t read_pointer(const volatile uint64_t *pointer)
{
    uint64_t value, again = *pointer;

    do {
        value = again;
        again = *pointer;
    } while (value != again);
    return value;
}

bool is_input_fifo_empty(struct dpu_input_fifo_t *fifo)
{
    return *(volatile uint64_t *)&fifo->read_ptr == read_pointer(&fifo->write_ptr);
}

uint8_t *input_fifo_peek(struct dpu_input_fifo_t *fifo)
{
    return &fifo->data[index_of(*(volatile uint64_t *)&fifo->read_ptr, fifo->ptr_size) *
                       fifo->data_size];
}

void input_fifo_pop(struct dpu_input_fifo_t *fifo)
{
    *(volatile uint64_t *)&fifo->read_ptr += 1;
}

bool is_output_fifo_full(struct dpu_output_fifo_t *fifo)
{
    return *(volatile uint64_t *)&fifo->write_ptr - read_pointer(&fifo->read_ptr) >=
           (uint64_t)1 << fifo->ptr_size;
}

/* True if there is room for one more than those that are promised. */
static bool has_room(struct dpu_output_fifo_t *fifo)
{
    return fifo->write_ptr + fifo->nb_reserved - read_pointer(&fifo->read_ptr) <
           (uint64_t)1 << fifo->ptr_size;
}

void output_fifo_push(struct dpu_output_fifo_t *fifo, const uint8_t *data)
{
    while (is_output_fifo_full(fifo))
        ;
    memcpy(&fifo->data[index_of(fifo->write_ptr, fifo->ptr_size) * fifo->data_size], data,
           fifo->data_size);
    /* The host takes the element as soon as the pointer counts it. */
    __asm__ volatile("" : : : "memory");
    *(volatile uint64_t *)&fifo->write_ptr += 1;
}

void process_inputs_all_tasklets(struct dpu_input_fifo_t *input_fifo,
                                 struct dpu_output_fifo_t *output_fifo,
                                 void (*process_input)(uint8_t *, void *),
                                 void (*reduce)(uint8_t *, uint8_t *, void *), void *ctx,
                                 barrier_t *barrier, volatile uint64_t *active)
{
    static volatile bool go_on;

    for (;;) {
        if (me() == 0) {
            bool wanted;

            /* Elements written before ACTIVE went to 0 are still to be done. */
            do {
                wanted = read_pointer(active) != 0;
                go_on = !is_input_fifo_empty(input_fifo);
            } while (wanted && !go_on);
        }
        barrier_wait(barrier);
        if (!go_on)
            return;
        process_input(input_fifo_peek(input_fifo), ctx);
        barrier_wait(barrier);
        if (me() == 0) {
            reduce(input_fifo_peek(input_fifo), output_fifo->tmp_data, ctx);
            output_fifo_push(output_fifo, output_fifo->tmp_data);
            input_fifo_pop(input_fifo);
        }
    }
}

void process_inputs_each_tasklet(struct dpu_input_fifo_t *input_fifo,
                                 struct dpu_output_fifo_t *output_fifo,
                                 void (*process_input)(uint8_t *, uint8_t *), mutex_id_t mutex,
                                 volatile uint64_t *active)
{
    uint8_t *input = &input_fifo->tmp_data[me() * input_fifo->data_size];
    uint8_t *output = &output_fifo->tmp_data[me() * output_fifo->data_size];

    for (;;) {
        bool wanted, available;

        mutex_lock(mutex);
        wanted = read_pointer(active) != 0;
        available = !is_input_fifo_empty(input_fifo);
        if (!available) {
            mutex_unlock(mutex);
            if (!wanted)
                return;
            continue;
        }
        if (!has_room(output_fifo)) {
            mutex_unlock(mutex);
            continue;
        }
        memcpy(input, input_fifo_peek(input_fifo), input_fifo->data_size);
        input_fifo_pop(input_fifo);
        output_fifo->nb_reserved++;
        mutex_unlock(mutex);

        process_input(input, output);

        mutex_lock(mutex);
        output_fifo->nb_reserved--;
        output_fifo_push(output_fifo, output);
        mutex_unlock(mutex);
    }
}
