/* SPDX-License-Identifier: BSD-3-Clause */
/* stdout_buffer.c: writing records into the ring in MRAM. */
#include "stdout_buffer.h"

#include <atomic_bit.h>
#include <attributes.h>
#include <dpufault.h>
#include <mram.h>

#define STAGE_SIZE 64

ATOMIC_BIT_INIT(__stdout_buffer_lock);

extern unsigned char __mram_ptr __stdout_buffer[];
extern const unsigned int __stdout_buffer_size;

struct stdout_state {
    volatile uint32_t write_pointer;
    volatile uint32_t has_wrapped;
};

/* The boot code clears it, the host reads it. */
extern struct stdout_state __stdout_buffer_state;
struct stdout_state __dma_aligned __lower_data("stdout_state") __stdout_buffer_state;

/* Bytes that the tasklet with the lock has not written yet. */
static uint8_t __dma_aligned stage[STAGE_SIZE];
static uint32_t staged;
static uint32_t position;
static uint32_t room; /* what the record may still take */

/* Writes SIZE bytes, a multiple of 8, of the stage; at the end it goes on at the start. */
static __attribute__((noinline)) void write_out(uint32_t size)
{
    const uint8_t *from = stage;
    uint32_t part;

    if (size > room) {
        __dpu_fault(__FAULT_PRINTF_OVERFLOW__);
    }

    room -= size;
    while (size != 0) {
        if (position >= __stdout_buffer_size) {
            position = 0;
            __stdout_buffer_state.has_wrapped = 1;
        }

        part = __stdout_buffer_size - position;
        if (part > size)
            part = size;
        mram_write(from, &__stdout_buffer[position], part);
        from += part;
        position += part;
        size -= part;
    }
}

void __open_print_sequence(void)
{
    ATOMIC_BIT_ACQUIRE(__stdout_buffer_lock);
    position = __stdout_buffer_state.write_pointer;
    room = __stdout_buffer_size;
    staged = 0;
}

void __close_print_sequence(void)
{
    while ((staged & 7) != 0)
        stage[staged++] = 0;
    write_out(staged);
    __stdout_buffer_state.write_pointer = position;
    ATOMIC_BIT_RELEASE(__stdout_buffer_lock);
}

/* Not inlined, nor is write_out: a program that prints has them once. */
__attribute__((noinline)) void __print_byte(int byte)
{
    stage[staged++] = (uint8_t)byte;
    if (staged == STAGE_SIZE) {
        write_out(STAGE_SIZE);
        staged = 0;
    }
}

void __print_text(const char *text, size_t size)
{
    while (size-- != 0)
        __print_byte(*text++);
    __print_byte(0);
}

const char *__print_string(const char *text)
{
    char byte;

    do {
        byte = *text++;
        __print_byte(byte);
    } while (byte != 0);
    return text;
}

void __print_word(uint32_t number, size_t size)
{
    do {
        __print_byte((int)(number & 255));
        number >>= 8;
    } while (--size != 0);
}

void __print_number(uint64_t number, size_t size)
{
    while (size-- != 0) {
        __print_byte((int)(number & 255));
        number >>= 8;
    }
}
