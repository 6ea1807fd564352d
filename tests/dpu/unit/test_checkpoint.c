/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DPU's state as bytes: where each part is, and what is refused.
 *
 * build: csrc/dpu/lib/state/checkpoint_format.c
 */
#include "tests/support/check.h"
#include "dpu/lib/state/checkpoint_format.h"
#include "dpu/machine/machine.h"

#include <string.h>

#define IRAM_SIZE ((size_t)DPU_MACHINE_IRAM * 8)
#define STATE_SIZE 2731 /* without memories */

static uint32_t word_at(const uint8_t *bytes, size_t offset)
{
    return bytes[offset] | (uint32_t)bytes[offset + 1] << 8 | (uint32_t)bytes[offset + 2] << 16 |
           (uint32_t)bytes[offset + 3] << 24;
}

static void put_word(uint8_t *bytes, size_t offset, uint32_t value)
{
    for (size_t i = 0; i < 4; i++)
        bytes[offset + i] = (uint8_t)(value >> 8 * i);
}

static void make_context(struct dpu_context_t *c, uint64_t *state)
{
    CHECK(dpu_context_create(c, 24, 24, 256));
    for (size_t i = 0; i < 24 * 24; i++)
        c->registers[i] = (uint32_t)check_random(state);
    for (size_t i = 0; i < 24; i++) {
        c->pcs[i] = (iram_addr_t)check_random_below(state, DPU_MACHINE_IRAM);
        c->zero_flags[i] = check_random_below(state, 2) != 0;
        c->carry_flags[i] = check_random_below(state, 2) != 0;
        c->scheduling[i] = (uint8_t)check_random(state);
    }
    for (size_t i = 0; i < 256; i++)
        c->atomic_register[i] = check_random_below(state, 2) != 0;
    c->nr_of_running_threads = 3;
    c->bkp_fault = c->mem_fault = true;
    c->bkp_fault_thread_index = 7;
    c->dma_fault_thread_index = 8;
    c->mem_fault_thread_index = 9;
    c->bkp_fault_id = 0x123456;
}

static void add_memories(struct dpu_context_t *c, uint32_t mram)
{
    c->info.iram_size = DPU_MACHINE_IRAM;
    c->info.mram_size = mram;
    c->info.wram_size = DPU_MACHINE_WRAM / 4;
    c->iram = calloc(DPU_MACHINE_IRAM, 8);
    c->mram = calloc(mram, 1);
    c->wram = calloc(DPU_MACHINE_WRAM, 1);
    CHECK(c->iram != NULL && c->mram != NULL && c->wram != NULL);
    c->iram[1] = UINT64_C(0x7ef320000000);
    c->mram[2] = 0x4d;
    c->wram[3] = 0x57575757;
}

static uint8_t *write_new(const struct dpu_context_t *c)
{
    uint8_t *bytes = malloc(dpu_checkpoint_size(c));
    CHECK(bytes != NULL);
    dpu_checkpoint_write(c, bytes);
    return bytes;
}

static void test_where_everything_is(uint64_t *state)
{
    struct dpu_context_t c;
    make_context(&c, state);
    CHECK(dpu_checkpoint_size(&c) == STATE_SIZE);
    uint8_t *bytes = write_new(&c);
    static const uint32_t header[] = {0xfabddbaf, 18, 3, 0xfabddbaf, 24, 24, 256, 0, 0, 0};
    for (size_t i = 0; i < 10; i++)
        CHECK(word_at(bytes, 4 * i) == header[i]);
    size_t at = 40;
    for (size_t i = 0; i < 24 * 24; i++, at += 4)
        CHECK(word_at(bytes, at) == c.registers[i]);
    for (size_t i = 0; i < 24; i++, at += 2)
        CHECK((bytes[at] | bytes[at + 1] << 8) == c.pcs[i]);
    for (size_t i = 0; i < 256; i++)
        CHECK(bytes[at++] == c.atomic_register[i]);
    for (size_t i = 0; i < 24; i++)
        CHECK(bytes[at++] == c.zero_flags[i]);
    for (size_t i = 0; i < 24; i++)
        CHECK(bytes[at++] == c.carry_flags[i]);
    CHECK(bytes[at++] == 3);
    for (size_t i = 0; i < 24; i++)
        CHECK(bytes[at++] == c.scheduling[i]);
    static const uint8_t tail[] = {1, 0, 1, 7, 8, 9, 0x56, 0x34, 0x12, 0};
    CHECK(at + sizeof tail == STATE_SIZE && memcmp(bytes + at, tail, sizeof tail) == 0);
    free(bytes);
    dpu_context_destroy(&c);
}

static void test_memories(uint64_t *state)
{
    const size_t mram = 4096;
    struct dpu_context_t c, again;
    make_context(&c, state);
    add_memories(&c, (uint32_t)mram);
    size_t size = dpu_checkpoint_size(&c);
    CHECK(size == STATE_SIZE + IRAM_SIZE + mram + DPU_MACHINE_WRAM);
    uint8_t *bytes = write_new(&c);
    CHECK(word_at(bytes, 28) == 4096 && word_at(bytes, 32) == mram && word_at(bytes, 36) == 16384);
    CHECK(word_at(bytes, 40 + 8) == 0x20000000 && word_at(bytes, 40 + 12) == 0x7ef3);
    CHECK(bytes[40 + IRAM_SIZE + 2] == 0x4d);
    CHECK(word_at(bytes, 40 + IRAM_SIZE + mram + 12) == 0x57575757);

    CHECK(dpu_checkpoint_read(bytes, size, &again) == DPU_CHECKPOINT_OK);
    CHECK(again.iram[1] == c.iram[1] && again.mram[2] == 0x4d && again.wram[3] == c.wram[3]);
    CHECK(memcmp(again.registers, c.registers, 24 * 24 * 4) == 0);
    CHECK(again.bkp_fault && !again.dma_fault && again.mem_fault && again.bkp_fault_id == 0x123456);
    uint8_t *second = write_new(&again);
    CHECK(memcmp(bytes, second, size) == 0);
    free(second);
    dpu_context_destroy(&again);

    /* Each memory is there or not. */
    free(c.mram);
    c.mram = NULL;
    CHECK(dpu_checkpoint_size(&c) == size - mram);
    free(bytes);
    bytes = write_new(&c);
    CHECK(word_at(bytes, 32) == 0);
    CHECK(dpu_checkpoint_read(bytes, size - mram, &again) == DPU_CHECKPOINT_OK);
    CHECK(again.mram == NULL && again.info.mram_size == 0 && again.wram[3] == c.wram[3]);
    free(bytes);
    dpu_context_destroy(&again);
    dpu_context_destroy(&c);
}

static void test_whole_mram_has_the_known_size(void)
{
    struct dpu_context_t c;
    CHECK(dpu_context_create(&c, 24, 24, 256));
    add_memories(&c, DPU_MACHINE_MRAM);
    CHECK(dpu_checkpoint_size(&c) == 2731 + 32768 + 67108864 + 65536);
    dpu_context_destroy(&c);
}

static void refuse(const uint8_t *bytes, size_t size, enum dpu_checkpoint_status status)
{
    static const struct dpu_context_t empty;
    struct dpu_context_t c;
    uint8_t *exact = malloc(size != 0 ? size : 1);
    CHECK(exact != NULL);
    memcpy(exact, bytes, size);
    memset(&c, 0x55, sizeof c);
    CHECK(dpu_checkpoint_read(exact, size, &c) == status);
    CHECK(memcmp(&c, &empty, sizeof c) == 0);
    free(exact);
}

/* One 32-bit number of the header is another. */
static void refuse_with(const uint8_t *bytes, size_t index, uint32_t value,
                        enum dpu_checkpoint_status status)
{
    uint8_t changed[STATE_SIZE];
    memcpy(changed, bytes, sizeof changed);
    put_word(changed, 4 * index, value);
    refuse(changed, sizeof changed, status);
}

static void test_what_is_refused(uint64_t *state)
{
    struct dpu_context_t c;
    make_context(&c, state);
    uint8_t *bytes = write_new(&c);
    refuse(bytes, 0, DPU_CHECKPOINT_NOT_A_CHECKPOINT);
    refuse(bytes, 39, DPU_CHECKPOINT_NOT_A_CHECKPOINT);
    for (size_t size = 40; size < STATE_SIZE; size++)
        refuse(bytes, size, DPU_CHECKPOINT_LENGTH);
    uint8_t longer[STATE_SIZE + 1] = {0};
    memcpy(longer, bytes, STATE_SIZE);
    refuse(longer, sizeof longer, DPU_CHECKPOINT_LENGTH);
    refuse_with(bytes, 0, 0, DPU_CHECKPOINT_NOT_A_CHECKPOINT);
    refuse_with(bytes, 3, 0xafdbbdfa, DPU_CHECKPOINT_NOT_A_CHECKPOINT);
    refuse_with(bytes, 1, 17, DPU_CHECKPOINT_OTHER_VERSION);
    refuse_with(bytes, 2, 2, DPU_CHECKPOINT_OTHER_VERSION);
    for (size_t index = 4; index < 10; index++) {
        refuse_with(bytes, index, UINT32_MAX, DPU_CHECKPOINT_IMPOSSIBLE);
        refuse_with(bytes, index, 0x80000000, DPU_CHECKPOINT_IMPOSSIBLE);
        refuse_with(bytes, index, 1, DPU_CHECKPOINT_LENGTH);
    }
    for (size_t index = 4; index < 7; index++)
        refuse_with(bytes, index, 0, DPU_CHECKPOINT_IMPOSSIBLE);
    refuse_with(bytes, 7, DPU_MACHINE_IRAM + 1, DPU_CHECKPOINT_IMPOSSIBLE);
    refuse_with(bytes, 8, DPU_MACHINE_MRAM + 1, DPU_CHECKPOINT_IMPOSSIBLE);
    refuse_with(bytes, 9, DPU_MACHINE_WRAM_ROOM / 4 + 1, DPU_CHECKPOINT_IMPOSSIBLE);
    free(bytes);
    dpu_context_destroy(&c);
}

/* The vendor's library takes such a byte for a bool, which must not be. */
static void test_flags_that_are_no_flags(uint64_t *state)
{
    struct dpu_context_t c;
    make_context(&c, state);
    uint8_t *bytes = write_new(&c);
    const size_t bits = 40 + 24 * 24 * 4 + 24 * 2;
    bytes[bits + 5] = 0x80;
    bytes[bits + 256 + 3] = 2;
    bytes[STATE_SIZE - 9] = 0xff;
    dpu_context_destroy(&c);
    CHECK(dpu_checkpoint_read(bytes, STATE_SIZE, &c) == DPU_CHECKPOINT_OK);
    CHECK(c.atomic_register[5] && c.zero_flags[3] && c.dma_fault);
    uint8_t *again = write_new(&c);
    CHECK(again[bits + 5] == 1 && again[bits + 256 + 3] == 1 && again[STATE_SIZE - 9] == 1);
    free(again);
    free(bytes);
    dpu_context_destroy(&c);
    dpu_context_destroy(&c);
}

static void test_every_status_has_a_text(void)
{
    for (int i = DPU_CHECKPOINT_OK; i <= DPU_CHECKPOINT_LENGTH; i++)
        CHECK(strlen(dpu_checkpoint_status_text((enum dpu_checkpoint_status)i)) > 20);
    CHECK(strcmp(dpu_checkpoint_status_text((enum dpu_checkpoint_status)99), "unknown status") ==
          0);
}

int main(void)
{
    uint64_t state = check_seed(30);
    test_where_everything_is(&state);
    test_memories(&state);
    test_whole_mram_has_the_known_size();
    test_what_is_refused(&state);
    test_flags_that_are_no_flags(&state);
    test_every_status_has_a_text();
    return 0;
}
