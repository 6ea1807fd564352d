/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasklets that run ahead of others compute what they compute in turns: a program runs at once on
 * one machine and round by round on another, where nobody can run ahead.
 *
 * build: @dpu_machine
 */
#include "tests/dpu/support/program.h"

enum { TASKLETS = 16, SHARED_WORD = 64 };

/* Reads a word, and writes one, at an address in a register plus an offset. */
#define READ(r, base, offset) W("lw", "erri", 0, r, base, offset)
#define WRITE(base, offset, r) W("sw", "erir", 0, base, offset, r)
/* Counts r1 down, and jumps until it is 0. */
#define REPEAT(pc) W("add", "rrici", 1, 1, -1, CC_NZ, pc)

static void expect_the_same(struct dpu_machine *at_once, struct dpu_machine *in_turns)
{
    static uint8_t wram[2][DPU_MACHINE_WRAM];
    struct dpu_run_result result, round;
    CHECK(dpu_machine_launch(at_once, &result) == DPU_RUN_DONE);
    dpu_machine_boot(in_turns);
    while (dpu_machine_step(in_turns, 1, &round) == DPU_RUN_STEPPED)
        continue;
    CHECK(round.status == DPU_RUN_DONE);

    for (uint32_t id = 0; id < TASKLETS; id++) {
        struct dpu_thread_state a, b;
        CHECK(dpu_machine_get_thread(at_once, id, &a) && dpu_machine_get_thread(in_turns, id, &b));
        CHECK(memcmp(a.registers, b.registers, sizeof a.registers) == 0 && a.pc == b.pc);
        CHECK(a.zero == b.zero && a.carry == b.carry);
    }
    CHECK(dpu_machine_read_wram(at_once, 0, wram[0], DPU_MACHINE_WRAM));
    CHECK(dpu_machine_read_wram(in_turns, 0, wram[1], DPU_MACHINE_WRAM));
    CHECK(memcmp(wram[0], wram[1], DPU_MACHINE_WRAM) == 0);
    dpu_machine_destroy(at_once);
    dpu_machine_destroy(in_turns);
}

#define EXPECT_THE_SAME(...) \
    do { \
        struct dpu_machine *machines_[2]; \
        for (int i_ = 0; i_ < 2; i_++) { \
            machines_[i_] = dpu_new_in_turns(DPU_ACCOUNTING_PIPELINE); \
            LOAD(machines_[i_], BOOT_CHAIN(TASKLETS, 0), __VA_ARGS__); \
        } \
        expect_the_same(machines_[0], machines_[1]); \
    } while (0)

static void test_a_word_that_all_write(void)
{
    EXPECT_THE_SAME(MOVE(1, 300), READ(0, ZERO, SHARED_WORD), W("add", "rri", 0, 0, 1),
                    WRITE(ZERO, SHARED_WORD, 0), REPEAT(3), STOP);
}

static void test_a_word_that_one_writes_and_others_read(void)
{
    EXPECT_THE_SAME(MOVE(1, 300), JUMP_IF(ID, 0, CC_NZ, 6), WRITE(ZERO, SHARED_WORD, 1), JUMP(8),
                    READ(0, ZERO, SHARED_WORD), W("add", "rrr", 2, 2, 0), REPEAT(3), STOP);
}

/* The last tasklet, which runs when the others have read. */
static void test_a_word_that_is_written_when_it_has_been_read(void)
{
    EXPECT_THE_SAME(MOVE(1, 300), JUMP_IF(ID, TASKLETS - 1, CC_NZ, 6), WRITE(ZERO, SHARED_WORD, 1),
                    JUMP(8), READ(0, ZERO, SHARED_WORD), W("add", "rrr", 2, 2, 0), REPEAT(3), STOP);
}

static void test_a_word_that_all_read(void)
{
    EXPECT_THE_SAME(MOVE(1, 300), READ(0, ZERO, SHARED_WORD), W("add", "rrr", 2, 2, 0),
                    W("add", "rrr", 2, ID, 2), REPEAT(3), STOP);
}

/* More words than are remembered for being put back. */
static void test_many_words_that_one_writes_each(void)
{
    EXPECT_THE_SAME(MOVE(1, 128), MOVE(3, 0), W("add", "rrr", 3, ID4, 3), /* 5: */ WRITE(3, 0, 1),
                    WRITE(3, 64, 1), WRITE(3, 128, 1), WRITE(3, 192, 1), WRITE(3, 256, 1),
                    WRITE(3, 320, 1), WRITE(3, 384, 1), WRITE(3, 448, 1),
                    W("add", "rri", 3, 3, 512), REPEAT(5), STOP);
}

/* Pairs of words, half of which another tasklet uses. */
static void test_pairs_that_overlap(void)
{
    EXPECT_THE_SAME(MOVE(1, 300), W("add", "rri", 3, ID4, 0), W("and", "rri", 3, 3, 56),
                    /* 5: */ W("ld", "erri", 0, 4, 3, 0), W("add", "rrr", 5, 5, 1),
                    W("sd", "erir", 0, 3, 0, 4), REPEAT(5), STOP);
}

/* Each ends in the midst of what the others do. */
static void test_tasklets_that_end_one_after_the_other(void)
{
    EXPECT_THE_SAME(W("add", "rri", 1, ID8, 40), W("add", "rrr", 2, 2, 1), WRITE(ID4, 256, 2),
                    REPEAT(3), STOP);
}

int main(void)
{
    test_a_word_that_all_write();
    test_a_word_that_one_writes_and_others_read();
    test_a_word_that_is_written_when_it_has_been_read();
    test_a_word_that_all_read();
    test_many_words_that_one_writes_each();
    test_pairs_that_overlap();
    test_tasklets_that_end_one_after_the_other();
    return 0;
}
