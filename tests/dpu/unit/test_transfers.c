/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies, prepared transfers, blocks, copies by address: what arrives where, and every refusal.
 *
 * build: @libdpu tsan
 */
#include "echo_program.h"

#include "dpu_management.h"
#include "dpu_memory.h"

#define MIB (1 << 20)

static uint8_t *random_bytes(size_t size, uint64_t *state)
{
    uint8_t *bytes = malloc(size);
    CHECK(bytes != NULL);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)check_random(state);
    return bytes;
}

static void check_buffer(struct dpu_set_t dpu, const char *name, const void *expected, size_t size)
{
    uint8_t *seen = malloc(size);
    CHECK(seen != NULL);
    OK(dpu_copy_from(dpu, name, 0, seen, size));
    CHECK(memcmp(seen, expected, size) == 0);
    free(seen);
}

/* --- copies --- */

static void test_what_a_copy_is_refused_for(void)
{
    static uint8_t bytes[4096];
    struct dpu_set_t set = echo_set(2, NULL), dpu = echo_dpu(set, 1);
    static const struct {
        const char *name;
        uint32_t offset;
        size_t size;
        dpu_error_t error;
    } cases[] = {
        {"words", 0, 64, DPU_OK},
        {"words", 60, 4, DPU_OK},
        {"words", 64, 0, DPU_OK},
        {"words", 0, 2, DPU_ERR_INVALID_WRAM_ACCESS},
        {"words", 2, 4, DPU_ERR_INVALID_WRAM_ACCESS},
        {"words", 61, 4, DPU_ERR_INVALID_SYMBOL_ACCESS},
        {"words", UINT32_MAX - 3, 4, DPU_ERR_INVALID_SYMBOL_ACCESS},
        {"words", 4, SIZE_MAX, DPU_ERR_INVALID_SYMBOL_ACCESS},
        {"buffer", 8, 4088, DPU_OK},
        {"buffer", 0, 4, DPU_ERR_INVALID_MRAM_ACCESS},
        {"buffer", 4, 8, DPU_ERR_INVALID_MRAM_ACCESS},
        {"main", 8, 16, DPU_OK},
        {"main", 0, 4, DPU_ERR_INVALID_IRAM_ACCESS},
        {"main", 4, 8, DPU_ERR_INVALID_IRAM_ACCESS},
        {"nothing", 0, 4, DPU_ERR_UNKNOWN_SYMBOL},
        {"NR_TASKLETS", 0, 4, DPU_ERR_UNKNOWN_SYMBOL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_RESULT(dpu_copy_from(dpu, cases[i].name, cases[i].offset, bytes, cases[i].size),
                     cases[i].error);
        CHECK_RESULT(dpu_copy_to(set, cases[i].name, cases[i].offset, bytes, cases[i].size),
                     cases[i].error);
        CHECK(cases[i].error == DPU_OK || strlen(dpusoft_last_error_detail()) > 10);
    }
    CHECK_RESULT(dpu_copy_from(set, "words", 0, bytes, 4), DPU_ERR_INVALID_DPU_SET);
    CHECK_RESULT(dpu_copy_to(set, "words", 0, NULL, 4), DPU_ERR_INVALID_MEMORY_TRANSFER);
    CHECK_RESULT(dpu_copy_from(dpu, "words", 0, NULL, 4), DPU_ERR_INVALID_MEMORY_TRANSFER);
    OK(dpu_free(set));
}

static void test_addresses(void)
{
    static uint8_t bytes[64];
    struct dpu_set_t set = echo_set(1, NULL), dpu = echo_dpu(set, 0);
    static const struct {
        struct dpu_symbol_t symbol;
        size_t size;
        dpu_error_t error;
    } cases[] = {
        {{0xFFFC, 4}, 4, DPU_OK},
        {{0x10000, 4}, 4, DPU_ERR_INVALID_WRAM_ACCESS},
        {{0xFFF8, 16}, 16, DPU_ERR_INVALID_WRAM_ACCESS},
        {{0x0BFFFFF8, 8}, 8, DPU_OK},
        {{0x0BFFFFF8, 16}, 16, DPU_ERR_INVALID_MRAM_ACCESS},
        {{0x0C000000, 8}, 8, DPU_ERR_INVALID_MRAM_ACCESS},
        {{0x80007FF8, 8}, 8, DPU_OK},
        {{0x80008000, 8}, 8, DPU_ERR_INVALID_IRAM_ACCESS},
        {{0xF00000C8, 1}, 0, DPU_OK},
        {{0xF00000C8, 1}, 1, DPU_ERR_INVALID_IRAM_ACCESS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_RESULT(dpu_copy_to_symbol(set, cases[i].symbol, 0, bytes, cases[i].size),
                     cases[i].error);
        CHECK_RESULT(dpu_copy_from_symbol(dpu, cases[i].symbol, 0, bytes, cases[i].size),
                     cases[i].error);
    }
    OK(dpu_free(set));
}

static void test_broadcasts(uint64_t *state)
{
    const size_t sizes[] = {8, 4096, 65536, BUFFER_SIZE};
    struct dpu_set_t set = echo_set(5, NULL);
    uint8_t *bytes = random_bytes(BUFFER_SIZE + 1, state);
    for (size_t i = 0; i < 8; i++) {
        dpu_xfer_flags_t flags = i % 2 != 0 ? DPU_XFER_ASYNC : DPU_XFER_DEFAULT;
        bytes[3] = (uint8_t)i;
        OK(dpu_broadcast_to(set, "buffer", 0, bytes + 1, sizes[i / 2], flags));
        OK(dpu_sync(set));
        for (uint32_t j = 0; j < 5; j++)
            check_buffer(echo_dpu(set, j), "buffer", bytes + 1, sizes[i / 2]);
    }
    OK(dpu_broadcast_to(set, "words", 0, bytes, 64, DPU_XFER_PARALLEL));
    OK(dpu_broadcast_to(set, "words", 8, bytes, 8, DPU_XFER_PARALLEL | DPU_XFER_ASYNC));
    OK(dpu_sync(set));
    memcpy(bytes + 8, bytes, 8);
    check_buffer(echo_dpu(set, 4), "words", bytes, 64);
    free(bytes);
    OK(dpu_free(set));
}

/* --- prepared buffers --- */

static void test_pushes(uint64_t *state)
{
    enum { COUNT = 11 };
    const size_t sizes[] = {8, 65536, BUFFER_SIZE};
    struct dpu_set_t set = echo_set(COUNT, NULL), dpu;
    uint8_t *bytes = random_bytes((size_t)COUNT * BUFFER_SIZE, state);
    uint8_t *back = calloc(COUNT, BUFFER_SIZE);
    uint32_t i;
    CHECK(back != NULL);
    for (size_t n = 0; n < 6; n++) {
        const size_t size = sizes[n / 2];
        dpu_xfer_flags_t flags = n % 2 != 0 ? DPU_XFER_ASYNC : DPU_XFER_DEFAULT;
        bytes[0]++;
        DPU_FOREACH(set, dpu, i)
        OK(dpu_prepare_xfer(dpu, bytes + i * size));
        OK(dpu_push_xfer(set, DPU_XFER_TO_DPU, "buffer", 0, size, flags));
        DPU_FOREACH(set, dpu, i)
        OK(dpu_prepare_xfer(dpu, i == 3 ? NULL : back + i * size));
        OK(dpu_push_xfer(set, DPU_XFER_FROM_DPU, "buffer", 0, size, flags));
        OK(dpu_sync(set));
        memset(bytes + 3 * size, 0, size);
        CHECK(memcmp(bytes, back, COUNT * size) == 0);
        memset(back, 0, COUNT * size);
    }
    free(bytes);
    free(back);
    OK(dpu_free(set));
}

/* Returns true if the set's buffers are still prepared: a push of them makes `words` 1. */
static bool is_prepared(struct dpu_set_t set)
{
    uint32_t value = 0;
    OK(dpu_copy_to(set, "words", 0, &value, 4));
    OK(dpu_push_xfer(set, DPU_XFER_TO_DPU, "words", 0, 4, DPU_XFER_DEFAULT));
    OK(dpu_copy_from(echo_dpu(set, 0), "words", 0, &value, 4));
    return value == 1;
}

static void test_when_buffers_stay_prepared(void)
{
    static uint32_t bytes[16] = {1};
    struct dpu_set_t set = echo_set(2, NULL);
    static const struct {
        int direction;
        const char *name;
        uint32_t offset, size, flags;
        dpu_error_t error;
        bool stay;
    } cases[] = {
        {0, "words", 0, 16, 0, DPU_OK, false},
        {0, "words", 0, 16, DPU_XFER_NO_RESET, DPU_OK, true},
        {0, "words", 0, 16, 256, DPU_OK, false},
        {0, "words", 0, 0, 0, DPU_OK, false},
        {0, "words", 0, 16, DPU_XFER_PARALLEL, DPU_OK, false},
        {2, "words", 0, 16, 0, DPU_ERR_INVALID_MEMORY_TRANSFER, true},
        {-1, "words", 1, 4, 0, DPU_ERR_INVALID_MEMORY_TRANSFER, true},
        {0, "nothing", 0, 16, 0, DPU_ERR_UNKNOWN_SYMBOL, true},
        {0, "words", 0, 65, 0, DPU_ERR_INVALID_SYMBOL_ACCESS, true},
        {0, "words", 1, 4, 0, DPU_ERR_INVALID_WRAM_ACCESS, true},
        {1, "main", 0, 4, 0, DPU_ERR_INVALID_IRAM_ACCESS, true},
        {0, "buffer", 0, 12, 0, DPU_ERR_INVALID_MRAM_ACCESS, false},
        {1, "buffer", 4, 8, 0, DPU_ERR_INVALID_MRAM_ACCESS, false},
        {0, "buffer", 0, 12, DPU_XFER_NO_RESET, DPU_ERR_INVALID_MRAM_ACCESS, true},
        {0, "buffer", 0, 16, DPU_XFER_PARALLEL, DPU_ERR_INVALID_PARALLEL_MEMORY_TRANSFER, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OK(dpu_prepare_xfer(set, NULL));
        OK(dpu_prepare_xfer(set, bytes));
        CHECK_RESULT(dpu_push_xfer(set, (dpu_xfer_t)cases[i].direction, cases[i].name,
                                   cases[i].offset, cases[i].size,
                                   (dpu_xfer_flags_t)cases[i].flags),
                     cases[i].error);
        bytes[0] = 1;
        CHECK(is_prepared(set) == cases[i].stay);
    }
    OK(dpu_push_xfer(set, DPU_XFER_TO_DPU, "words", 0, 16, DPU_XFER_DEFAULT));
    OK(dpu_free(set));
}

/* --- blocks --- */

struct split {
    uint8_t *base;
    uint32_t block, blocks; /* bytes of a block, and how many */
};

/* The blocks of a DPU go backwards through its part; every other one is empty. */
static bool get_split(struct sg_block_info *out, uint32_t dpu, uint32_t index, void *argument)
{
    const struct split *s = argument;
    if (index >= 2 * s->blocks)
        return false;
    out->length = index % 2 == 0 ? 0 : s->block;
    out->addr = s->base + (size_t)((dpu + 1) * s->blocks - 1 - index / 2) * s->block;
    return true;
}

static void test_blocks(uint64_t *state)
{
    enum { COUNT = 3, BLOCKS = 4, SIZE = 64 };
    struct dpu_set_t set = echo_set(COUNT, "sgXferEnable=true,sgXferMaxBlocksPerDpu=8");
    uint8_t *bytes = random_bytes((size_t)COUNT * BLOCKS * SIZE, state), expected[BLOCKS * SIZE];
    struct split split = {bytes, SIZE, BLOCKS};
    get_block_t get = {get_split, &split, sizeof split};
    OK(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "buffer", 8, BLOCKS * SIZE, &get, DPU_SG_XFER_ASYNC));
    split.base = NULL; /* the function gets a copy */
    OK(dpu_sync(set));
    for (uint32_t i = 0; i < COUNT; i++) {
        uint8_t seen[BLOCKS * SIZE];
        for (uint32_t j = 0; j < BLOCKS; j++)
            memcpy(expected + (size_t)j * SIZE, bytes + (size_t)((i + 1) * BLOCKS - 1 - j) * SIZE,
                   SIZE);
        OK(dpu_copy_from(echo_dpu(set, i), "buffer", 8, seen, sizeof seen));
        CHECK(memcmp(seen, expected, sizeof seen) == 0);
    }
    uint8_t *back = calloc(COUNT, BLOCKS * SIZE);
    CHECK(back != NULL);
    split.base = back;
    get.args_size = 0; /* not copied */
    OK(dpu_push_sg_xfer(set, DPU_XFER_FROM_DPU, "buffer", 8, BLOCKS * SIZE, &get,
                        DPU_SG_XFER_DEFAULT));
    CHECK(memcmp(back, bytes, (size_t)COUNT * BLOCKS * SIZE) == 0);
    free(back);
    free(bytes);
    OK(dpu_free(set));
}

static void test_what_blocks_are_refused_for(void)
{
    static uint8_t bytes[4096];
    struct dpu_set_t set = echo_set(2, "sgXferEnable=true,sgXferMaxBlocksPerDpu=8");
    struct split split = {bytes, 8, 4};
    get_block_t get = {get_split, &split, sizeof split}, none = {NULL, NULL, 0};
    const dpu_sg_xfer_flags_t any = DPU_SG_XFER_DISABLE_LENGTH_CHECK, normal = DPU_SG_XFER_DEFAULT;
    CHECK_RESULT(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "words", 0, 32, &get, normal),
                 DPU_ERR_SG_NOT_MRAM_SYMBOL);
    CHECK_RESULT(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "nothing", 0, 32, &get, normal),
                 DPU_ERR_UNKNOWN_SYMBOL);
    CHECK_RESULT(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "buffer", BUFFER_SIZE, 8, &get, normal),
                 DPU_ERR_INVALID_SYMBOL_ACCESS);
    CHECK_RESULT(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "buffer", 0, 36, &get, normal),
                 DPU_ERR_INVALID_MRAM_ACCESS);
    CHECK_RESULT(dpu_push_sg_xfer(set, (dpu_xfer_t)7, "buffer", 0, 32, &get, normal),
                 DPU_ERR_INVALID_MEMORY_TRANSFER);
    CHECK_RESULT(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "buffer", 0, 32, &none, normal),
                 DPU_ERR_INVALID_MEMORY_TRANSFER);
    CHECK_RESULT(dpu_push_sg_xfer(echo_dpu(set, 0), DPU_XFER_TO_DPU, "buffer", 0, 32, &get, normal),
                 DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "buffer", 0, 24, &get, normal),
                 DPU_ERR_SG_LENGTH_MISMATCH);
    CHECK_RESULT(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "buffer", 0, 40, &get, normal),
                 DPU_ERR_SG_LENGTH_MISMATCH);
    OK(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "buffer", 0, 40, &get, DPU_SG_XFER_ASYNC));
    CHECK_RESULT(dpu_sync(set) & 0xFFFF, DPU_ERR_SG_LENGTH_MISMATCH);
    split.blocks = 5;
    CHECK_RESULT(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "buffer", 0, 40, &get, normal),
                 DPU_ERR_SG_TOO_MANY_BLOCKS);

    /* Too little is filled up with 0, too much is left out. */
    uint8_t seen[48], wanted[48];
    memset(bytes, 0xAA, sizeof bytes);
    memset(wanted, 0xBB, sizeof wanted);
    OK(dpu_copy_to(set, "buffer", 0, wanted, sizeof wanted));
    split.blocks = 4;
    OK(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "buffer", 0, 40, &get, any));
    memset(wanted, 0xAA, 32);
    memset(wanted + 32, 0, 8);
    OK(dpu_copy_from(echo_dpu(set, 1), "buffer", 0, seen, sizeof seen));
    CHECK(memcmp(seen, wanted, sizeof seen) == 0);
    memset(bytes, 0xCC, sizeof bytes);
    OK(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "buffer", 0, 16, &get, any));
    memset(wanted, 0xCC, 16);
    OK(dpu_copy_from(echo_dpu(set, 1), "buffer", 0, seen, sizeof seen));
    CHECK(memcmp(seen, wanted, sizeof seen) == 0);
    OK(dpu_free(set));

    set = echo_set(1, NULL);
    CHECK_RESULT(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "buffer", 0, 32, &get, normal),
                 DPU_ERR_SG_NOT_ACTIVATED);
    OK(dpu_free(set));
}

/* --- by address --- */

static void test_copies_by_address(void)
{
    struct dpu_set_t set = echo_set(2, NULL), ranks = set;
    struct dpu_rank_t *rank = dpu_rank_from_set(ranks);
    struct dpu_t *first = dpu_from_set(echo_dpu(set, 0)), *second = dpu_from_set(echo_dpu(set, 1));
    const uint32_t words[2] = {0x11111111, 0x22222222};
    const uint64_t code[2] = {UINT64_C(0x123456789ABC), UINT64_C(0xFFFF0000DEADBEEF)};
    uint32_t seen[2];
    uint64_t instructions[2], bytes = 0x0123456789ABCDEF, other = 0;
    OK(dpu_copy_to_wram_for_rank(rank, 100, words, 2));
    OK(dpu_copy_from_wram_for_dpu(second, seen, 100, 2));
    CHECK(memcmp(seen, words, sizeof seen) == 0);
    OK(dpu_copy_to_wram_for_dpu(first, 101, words, 1));
    OK(dpu_copy_from_wram_for_dpu(first, seen, 100, 2));
    CHECK(seen[0] == words[0] && seen[1] == words[0]);
    OK(dpu_copy_to_iram_for_rank(rank, 4094, code, 2));
    OK(dpu_copy_to_iram_for_dpu(first, 4095, code, 1));
    OK(dpu_copy_from_iram_for_dpu(second, instructions, 4094, 2));
    CHECK(instructions[0] == code[0] && instructions[1] == (code[1] & 0xFFFFFFFFFFFF));
    OK(dpu_copy_to_mram(first, DPU_MACHINE_MRAM - 8, (uint8_t *)&bytes, 8));
    OK(dpu_copy_from_mram(first, (uint8_t *)&other, DPU_MACHINE_MRAM - 8, 8));
    CHECK(other == bytes);

    CHECK_RESULT(dpu_copy_to_wram_for_rank(rank, 16383, words, 2), DPU_ERR_INVALID_WRAM_ACCESS);
    CHECK_RESULT(dpu_copy_to_wram_for_dpu(first, UINT32_MAX, words, 1),
                 DPU_ERR_INVALID_WRAM_ACCESS);
    CHECK_RESULT(dpu_copy_from_wram_for_dpu(first, NULL, 0, 1), DPU_ERR_INVALID_MEMORY_TRANSFER);
    CHECK_RESULT(dpu_copy_to_iram_for_rank(rank, 4095, code, 2), DPU_ERR_INVALID_IRAM_ACCESS);
    CHECK_RESULT(dpu_copy_from_iram_for_dpu(first, instructions, 65535, 1),
                 DPU_ERR_INVALID_IRAM_ACCESS);
    CHECK_RESULT(dpu_copy_to_mram(first, 4, (uint8_t *)&bytes, 8), DPU_ERR_INVALID_MRAM_ACCESS);
    CHECK_RESULT(dpu_copy_from_mram(first, (uint8_t *)&bytes, DPU_MACHINE_MRAM, 8),
                 DPU_ERR_INVALID_MRAM_ACCESS);
    OK(dpu_copy_to_mram(first, 4, NULL, 0));
    OK(dpu_free(set));
}

static void test_matrices(void)
{
    struct dpu_set_t set = echo_set(2, NULL), ranks = set;
    struct dpu_rank_t *rank = dpu_rank_from_set(ranks);
    struct dpu_t *dpus[2] = {dpu_from_set(echo_dpu(set, 0)), dpu_from_set(echo_dpu(set, 1))};
    uint64_t values[2] = {0x1111222233334444, 0x5555666677778888}, back[2];
    struct dpu_transfer_matrix matrix, copy;
    static dpu_error_t (*const functions[3][2])(struct dpu_rank_t *,
                                                struct dpu_transfer_matrix *) = {
        {dpu_copy_to_mrams, dpu_copy_from_mrams},
        {dpu_copy_to_wram_for_matrix, dpu_copy_from_wram_for_matrix},
        {dpu_copy_to_iram_for_matrix, dpu_copy_from_iram_for_matrix},
    };
    for (size_t i = 0; i < 3; i++) {
        dpu_transfer_matrix_clear_all(rank, &matrix);
        matrix.offset = 40;
        matrix.size = i == 0 ? 8 : i == 1 ? 2 : 1;
        if (i == 2)
            values[0] = values[1] = 0x3333;
        for (size_t j = 0; j < 2; j++)
            dpu_transfer_matrix_add_dpu(dpus[j], &matrix, &values[j]);
        OK(functions[i][0](rank, &matrix));
        memset(back, 0, sizeof back);
        dpu_transfer_matrix_copy(&copy, &matrix);
        for (size_t j = 0; j < 2; j++)
            dpu_transfer_matrix_add_dpu(dpus[j], &copy, &back[j]);
        CHECK(dpu_transfer_matrix_get_ptr(dpus[1], &matrix) == &values[1]);
        dpu_transfer_matrix_clear_dpu(dpus[0], &copy);
        OK(functions[i][1](rank, &copy));
        CHECK(back[0] == 0 && back[1] == values[1]);
        dpu_transfer_matrix_set_all(rank, &copy, back);
        CHECK(copy.ptr[0] == back && copy.ptr[1] != back);
        copy.offset = UINT32_MAX;
        CHECK(functions[i][1](rank, &copy) != DPU_OK);
        CHECK_RESULT(functions[i][0](rank, NULL), DPU_ERR_INVALID_MEMORY_TRANSFER);
    }
    OK(dpu_free(set));
}

int main(void)
{
    uint64_t state = check_seed(40);
    test_what_a_copy_is_refused_for();
    test_addresses();
    test_broadcasts(&state);
    test_pushes(&state);
    test_when_buffers_stay_prepared();
    test_blocks(&state);
    test_what_blocks_are_refused_for();
    test_copies_by_address();
    test_matrices();
    return 0;
}
