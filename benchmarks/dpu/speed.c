/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * speed.c: how many DPU instructions a second one core executes.
 *
 * Usage: speed INSTRUCTIONS ROUNDS. Prints, for each number of tasklets, a line of million
 * instructions a second for each round, and under `plain` the same loop as compiled C, counted in
 * the DPU's instructions. The loop is load, add, xor, shift-add, store, count, jump; each tasklet
 * works on its own words. Results are checked against the C loop.
 */
#include "dpu/isa/instructions.h"
#include "dpu/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOP 7 /* instructions of one turn */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
    fprintf(stderr, "speed: %s\n", what);
    exit(1);
}

static uint64_t word(const char *mnemonic, const char *form, const int64_t *values)
{
    struct dpu_instruction instruction = {.form = dpu_form_find(mnemonic, form)};
    struct dpu_form_info info;
    uint64_t result;
    if (!dpu_form_info(instruction.form, &info))
        fail("no such form");
    instruction.operand_count = info.operand_count;
    for (uint32_t i = 0; i < info.operand_count; i++)
        instruction.values[i] = values[i];
    if (!dpu_encode(&instruction, &result))
        fail("cannot encode");
    return result;
}

#define W(mnemonic, form, ...) word(mnemonic, form, (const int64_t[]){__VA_ARGS__})

enum { ZERO = 24, ID = 28, ID4 = 30 };
enum { FALSE = 0, NZ = 3, GEU = 21 };

/* Tasklet n boots n + 1, as the vendor's start code does; then the loop, turns times. */
static void load_program(struct dpu_machine *machine, uint32_t tasklets, uint32_t turns)
{
    const uint64_t program[] = {
        W("sub", "zrici", 0, ID, tasklets - 1, GEU, 3), /* none is left to boot */
        W("boot", "rici", ID, 1, FALSE, 0),
        W("nop", "", 0),
        W("or", "rri", 0, ZERO, turns),
        W("or", "rri", 1, ZERO, 0),
        W("or", "rri", 4, ZERO, 0x9E3779B9),
        W("lw", "erri", 0, 2, ID4, 0x100), /* 6: the loop */
        W("add", "rrr", 2, 2, 4),
        W("xor", "rrr", 1, 1, 2),
        W("lsl_add", "rrri", 1, 2, 1, 1),
        W("sw", "erir", 0, ID4, 0x100, 2),
        W("add", "rri", 0, 0, 0xFFFFFFFF),
        W("sub", "zrici", 0, 0, 0, NZ, 6),
        W("sw", "erir", 0, ID4, 0x200, 1),
        W("stop", "ci", FALSE, 0),
    };
    size_t count = sizeof(program) / sizeof(program[0]);
    if (!dpu_machine_write_iram(machine, 0, program, count))
        fail("cannot write the program");
}

/* Not inlined, and through memory as the DPU does it, so that the compiler keeps the loop. */
__attribute__((noinline)) static uint32_t plain(uint32_t turns, volatile uint32_t *place)
{
    uint32_t sum = 0;
    for (uint32_t i = turns; i != 0; i--) {
        uint32_t x = *place + 0x9E3779B9;
        sum ^= x;
        sum = x + (sum << 1);
        *place = x;
    }
    return sum;
}

static double run_machine(struct dpu_machine *machine, uint32_t tasklets, uint32_t turns)
{
    struct dpu_run_result result;
    uint32_t zeros[64] = {0}, sums[DPU_MACHINE_THREADS], place = 0;
    dpu_machine_write_wram(machine, 0x100, zeros, sizeof(zeros));
    load_program(machine, tasklets, turns);
    double start = now_s();
    if (dpu_machine_launch(machine, &result) != DPU_RUN_DONE)
        fail("the program did not end");
    double seconds = now_s() - start;
    uint32_t expected = plain(turns, &place);
    dpu_machine_read_wram(machine, 0x200, sums, sizeof(sums));
    for (uint32_t i = 0; i < tasklets; i++)
        if (sums[i] != expected)
            fail("wrong result");
    return (double)result.instructions / seconds * 1e-6;
}

int main(int argc, char **argv)
{
    static const uint32_t counts[] = {1, 2, 4, 8, 11, 16, 24};
    uint64_t instructions = argc > 1 ? strtoull(argv[1], NULL, 10) : 50000000;
    uint32_t rounds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 5;
    struct dpu_machine *machine = dpu_machine_create(NULL);
    if (machine == NULL)
        fail("no memory");
    uint32_t place = 0, turns = (uint32_t)(instructions / LOOP) + 1;
    for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        uint32_t share = turns / counts[i] + 1;
        run_machine(machine, counts[i], share / 10 + 1);
        printf("tasklets%u", counts[i]);
        for (uint32_t j = 0; j < rounds; j++)
            printf(" %.1f", run_machine(machine, counts[i], share));
        printf("\n");
    }
    printf("plain");
    for (uint32_t j = 0; j < rounds; j++) {
        double start = now_s();
        plain(turns, &place);
        printf(" %.1f", (double)turns * LOOP / (now_s() - start) * 1e-6);
    }
    printf("\n");
    dpu_machine_destroy(machine);
    return 0;
}
