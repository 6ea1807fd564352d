/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of transfers: a program that, while `active` is not 0, takes pairs of words from the
 * FIFO `input`, adds 1 to the first and gives them to the FIFO `output`.
 */
#ifndef OFFCHIP_TESTS_DPU_ECHO_PROGRAM_H
#define OFFCHIP_TESTS_DPU_ECHO_PROGRAM_H

#include "tests/dpu/support/program.h"
#include "tests/support/dpu_elf_builder.h"

#include "dpu.h"
#include "dpusoft.h"

#define FIFO_COUNT 8
#define BUFFER_SIZE (1 << 20)
#define LOG_SIZE 1024
enum {
    STATE = 0x10,
    WORDS = 0x40,
    INPUT = 0x80,
    OUTPUT = 0xC0,
    DATA_IN = 0x100,
    DATA_OUT = 0x140,
    ACTIVE = 0x180,
    NO_FIFO = 0x188,
    HOST_END = 0x1C0
};
#define LOAD_WORD(r, base, at) W("lw", "erri", 0, r, base, at)
#define STORE_WORD(base, at, r) W("sw", "erir", 0, base, at, r)

static inline uint8_t *echo_image(size_t *size)
{
    enum { AGAIN = 0, END = 24 };
    const uint64_t words[] = {
        LOAD_WORD(0, ZERO, ACTIVE),
        JUMP_IF(0, 0, CC_Z, END),
        LOAD_WORD(3, ZERO, INPUT),
        LOAD_WORD(4, ZERO, INPUT + 8),
        W("sub", "zrrci", 0, 3, 4, CC_Z, AGAIN), /* empty */
        LOAD_WORD(5, ZERO, OUTPUT),
        LOAD_WORD(6, ZERO, OUTPUT + 8),
        W("sub", "rrr", 7, 6, 5),
        JUMP_IF(7, FIFO_COUNT, CC_Z, AGAIN), /* full */
        W("and", "rri", 8, 3, FIFO_COUNT - 1),
        W("lsl", "rri", 8, 8, 3),
        LOAD_WORD(9, 8, DATA_IN),
        LOAD_WORD(10, 8, DATA_IN + 4),
        W("add", "rri", 9, 9, 1),
        W("and", "rri", 11, 6, FIFO_COUNT - 1),
        W("lsl", "rri", 11, 11, 3),
        STORE_WORD(11, DATA_OUT, 9),
        STORE_WORD(11, DATA_OUT + 4, 10),
        W("add", "rri", 6, 6, 1),
        STORE_WORD(ZERO, OUTPUT + 8, 6),
        W("add", "rri", 3, 3, 1),
        STORE_WORD(ZERO, INPUT, 3),
        JUMP(AGAIN),
        STOP,
        STOP, /* END */
    };
    uint8_t host[HOST_END - WORDS] = {0};
    const uint32_t input[] = {0, 0, 0, 0, DATA_IN, 0, 3, 8};
    const uint32_t output[] = {0, 0, 0, 0, DATA_OUT, 0, 3, 8};
    const uint32_t none[] = {0, 0, 0, 0, 0, 0, 11, 8};
    memcpy(host + INPUT - WORDS, input, sizeof input);
    memcpy(host + OUTPUT - WORDS, output, sizeof output);
    memcpy(host + NO_FIFO - WORDS, none, sizeof none);

    struct dpu_program p;
    dpu_program_start(&p);
    uint16_t text = dpu_program_section(&p, ".text", SHT_PROGBITS, 0x80000000, words, sizeof words);
    uint16_t variables =
        dpu_program_section(&p, ".data.__sys_host", SHT_PROGBITS, WORDS, host, sizeof host);
    uint16_t data = dpu_program_section(&p, ".data", SHT_NOBITS, 0, NULL, 64);
    uint16_t mram = dpu_program_section(&p, ".mram.noinit", SHT_NOBITS, 0x08000000, NULL,
                                        BUFFER_SIZE + LOG_SIZE);
    dpu_program_segment(&p, text, 0);
    dpu_program_segment(&p, variables, 0);
    const struct {
        const char *name;
        uint32_t value, size;
        uint16_t section;
    } symbols[] = {
        {"main", 0x80000000, sizeof words, text},
        {"words", WORDS, 64, variables},
        {"input", INPUT, 40, variables},
        {"output", OUTPUT, 40, variables},
        {"__input_data", DATA_IN, 64, variables},
        {"__output_data", DATA_OUT, 64, variables},
        {"active", ACTIVE, 4, variables},
        {"wrong", NO_FIFO, 40, variables},
        {"__wrong_data", WORDS, 64, variables},
        {"alone", WORDS, 40, variables},
        {"buffer", 0x08000000, BUFFER_SIZE, mram},
        {"__buffer_data", 0x08000000, 64, mram},
        {"__stdout_buffer", 0x08000000 + BUFFER_SIZE, LOG_SIZE, mram},
        {"__stdout_buffer_state", STATE, 8, data},
        {"NR_TASKLETS", 1, 0, SHN_ABS},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        dpu_program_symbol(&p, symbols[i].name, symbols[i].value, symbols[i].size, STB_GLOBAL,
                           STT_OBJECT, symbols[i].section);
    return dpu_program_image(&p, size);
}

#define OK(call) CHECK_RESULT(call, DPU_OK)
#define CHECK_RESULT(call, wanted) \
    do { \
        dpu_error_t got_ = (call); \
        if (got_ != (wanted)) { \
            fprintf(stderr, "%s:%d: %s: 0x%x, not 0x%x (%s)\n", __FILE__, __LINE__, #call, \
                    (unsigned)got_, (unsigned)(wanted), dpusoft_last_error_detail()); \
            abort(); \
        } \
    } while (0)

static inline struct dpu_set_t echo_set(uint32_t nr_dpus, const char *profile)
{
    struct dpu_set_t set;
    size_t size;
    uint8_t *image = echo_image(&size);
    OK(dpu_alloc(nr_dpus, profile, &set));
    OK(dpu_load_from_memory(set, image, size, NULL));
    free(image);
    return set;
}

static inline struct dpu_set_t echo_dpu(struct dpu_set_t set, uint32_t index)
{
    struct dpu_set_t dpu;
    uint32_t i;
    DPU_FOREACH(set, dpu, i)
    if (i == index)
        return dpu;
    abort();
}

#endif
