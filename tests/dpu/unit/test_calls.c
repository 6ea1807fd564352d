/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of tasklets, and what passes in them: nested, recursive, by a jump, left several at once,
 * more than there is room for; and those of a machine, whose sums are those of its instructions.
 *
 * build: @dpu_machine @dpu_profile
 */
#include "tests/dpu/support/program.h"
#include "dpu/profile/arcs.h"
#include "dpu/profile/calls.h"

#include <stdlib.h>

enum { MAIN = 100, F = 200, G = 300, H = 400 };

static struct dpu_calls *calls;
static uint64_t clock_of_test;

/* --- what was recorded --- */

static struct dpu_profile_call rows[16];
static uint32_t row_count;

static void keep(void *context, const struct dpu_profile_call *call)
{
    (void)context;
    CHECK(row_count < 16);
    rows[row_count++] = *call;
}

static struct dpu_profile_call find(uint32_t site, uint32_t target)
{
    for (uint32_t i = 0; i < row_count; i++)
        if (rows[i].site == site && rows[i].target == target)
            return rows[i];
    return (struct dpu_profile_call){0};
}

static void take(void)
{
    row_count = 0;
    dpu_calls_take(calls, keep, NULL);
}

/* --- programs --- */

static struct dpu_calls_time later(uint64_t cycles)
{
    clock_of_test += cycles;
    return (struct dpu_calls_time){.instructions = clock_of_test / 11,
                                   .cycles = clock_of_test,
                                   .dma = clock_of_test / 4,
                                   .sleep = clock_of_test / 8};
}

static void jump(uint32_t pc, enum dpu_jump kind, uint32_t target, uint64_t cycles)
{
    const struct dpu_calls_time now = later(cycles);
    dpu_calls_jump(calls, 0, pc, kind, target, &now);
}

static void end(void)
{
    const struct dpu_calls_time now = later(0);
    dpu_calls_end(calls, 0, &now);
}

static uint64_t cycles_of(struct dpu_profile_call call)
{
    return call.issue + call.dma + call.sleep;
}

static void begin(void)
{
    static const uint32_t functions[] = {0, MAIN, F, G, H};
    calls = dpu_calls_create();
    CHECK(calls != NULL);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        dpu_calls_add_function(calls, functions[i]);
    dpu_calls_begin(calls);
    clock_of_test = 0;
}

/* --- tests --- */

static void test_nested_calls(void)
{
    begin();
    jump(1, DPU_JUMP_CALL, MAIN, 8);
    for (int i = 0; i < 3; i++) {
        jump(MAIN + 4, DPU_JUMP_CALL, F, 80);
        jump(F + 2, DPU_JUMP_CALL, G, 160);
        jump(G + 1, DPU_JUMP_DIRECT, G + 7, 8); /* within it */
        jump(G + 9, DPU_JUMP_BY_REGISTER, F + 3, 320);
        jump(F + 9, DPU_JUMP_BY_REGISTER, MAIN + 5, 640);
    }
    end();
    take();
    CHECK(row_count == 3);
    CHECK(find(F + 2, G).count == 3 && cycles_of(find(F + 2, G)) == 3 * 328);
    CHECK(find(MAIN + 4, F).count == 3 && cycles_of(find(MAIN + 4, F)) == 3 * (160 + 328 + 640));
    CHECK(find(1, MAIN).count == 1 && cycles_of(find(1, MAIN)) == 3 * (80 + 160 + 328 + 640));
    CHECK(find(1, MAIN).dma == 3 * 1208 / 4 && find(1, MAIN).sleep == 3 * 1208 / 8);

    take();
    CHECK(row_count == 0);
    dpu_calls_destroy(calls);
}

static void test_recursion_counts_time_once(void)
{
    begin();
    jump(MAIN, DPU_JUMP_CALL, F, 0);
    for (int i = 0; i < 4; i++)
        jump(F + 2, DPU_JUMP_CALL, F, 8);
    for (int i = 0; i < 4; i++)
        jump(F + 9, DPU_JUMP_BY_REGISTER, F + 3, 8);
    jump(F + 9, DPU_JUMP_BY_REGISTER, MAIN + 1, 8);
    take();
    CHECK(find(F + 2, F).count == 4 && cycles_of(find(F + 2, F)) == 0);
    CHECK(find(MAIN, F).count == 1 && cycles_of(find(MAIN, F)) == 72);
    dpu_calls_destroy(calls);
}

/* F jumps to G, which jumps to H and that to G again, and returns for all. */
static void test_calls_by_a_jump(void)
{
    begin();
    jump(MAIN, DPU_JUMP_CALL, F, 0);
    jump(F + 5, DPU_JUMP_DIRECT, F, 8); /* a loop */
    jump(F + 6, DPU_JUMP_DIRECT, G, 8);
    for (int i = 0; i < 100000; i++) {
        jump(G + 6, DPU_JUMP_DIRECT, H, 8);
        jump(H + 6, DPU_JUMP_DIRECT, G, 8);
    }
    jump(G + 9, DPU_JUMP_BY_REGISTER, MAIN + 1, 8);
    jump(MAIN + 5, DPU_JUMP_DIRECT, 0, 8); /* the beginning: no call */
    take();
    CHECK(row_count == 3 && find(F + 6, G).count == 1 && find(G + 6, H).count == 100000);
    CHECK(cycles_of(find(MAIN, F)) == 16 + 1600000 + 8);
    CHECK(cycles_of(find(F + 6, G)) == 1600000 + 8 && cycles_of(find(G + 6, H)) == 800000);
    dpu_calls_destroy(calls);
}

/* The last call of F is one by a pointer. */
static void test_calls_by_a_jump_to_a_register(void)
{
    begin();
    jump(MAIN, DPU_JUMP_CALL, F, 0);
    jump(F + 6, DPU_JUMP_BY_REGISTER, G, 8);
    jump(G + 9, DPU_JUMP_BY_REGISTER, MAIN + 1, 8);
    take();
    CHECK(row_count == 2 && cycles_of(find(MAIN, F)) == 16 && cycles_of(find(F + 6, G)) == 8);
    dpu_calls_destroy(calls);
}

static void test_functions_can_be_forgotten(void)
{
    begin();
    dpu_calls_forget_functions(calls);
    jump(F + 6, DPU_JUMP_DIRECT, G, 8);
    end();
    take();
    CHECK(row_count == 0);
    dpu_calls_add_function(calls, UINT32_MAX);
    dpu_calls_destroy(calls);
}

static void test_several_are_left_at_once(void)
{
    begin();
    jump(MAIN, DPU_JUMP_CALL, F, 0);
    jump(F + 1, DPU_JUMP_CALL, G, 8);
    jump(G + 1, DPU_JUMP_CALL, H, 8);
    jump(H + 1, DPU_JUMP_BY_REGISTER, H + 5, 8); /* to one of several cases */
    jump(H + 9, DPU_JUMP_BY_REGISTER, MAIN + 1, 8);
    jump(MAIN + 1, DPU_JUMP_CALL, G, 8);
    end();
    take();
    CHECK(cycles_of(find(MAIN, F)) == 32 && cycles_of(find(F + 1, G)) == 24);
    CHECK(cycles_of(find(G + 1, H)) == 16 && find(MAIN + 1, G).count == 1);
    dpu_calls_destroy(calls);
}

static void test_deep_recursion(void)
{
    begin();
    for (int i = 0; i < 10000; i++)
        jump(F + 2, DPU_JUMP_CALL, F, 8);
    for (int i = 0; i < 10000; i++)
        jump(F + 9, DPU_JUMP_BY_REGISTER, F + 3, 8);
    jump(MAIN, DPU_JUMP_CALL, G, 8);
    jump(G, DPU_JUMP_BY_REGISTER, MAIN + 1, 8);
    take();
    CHECK(find(F + 2, F).count == 4096 && cycles_of(find(F + 2, F)) == 19999 * 8);
    CHECK(find(MAIN, G).count == 1 && cycles_of(find(MAIN, G)) == 8);
    dpu_calls_destroy(calls);
}

static void test_the_table_can_be_full(void)
{
    struct dpu_arcs *arcs = calloc(1, sizeof *arcs);
    CHECK(arcs != NULL);
    uint32_t found = 0;
    for (uint32_t i = 0; i < 2 * DPU_ARCS; i++) {
        struct dpu_profile_call *row = dpu_arcs_find(arcs, i % 4096, i * 7 % 4096);
        if (row == NULL)
            continue;
        found += row->count == 0;
        row->count++;
        CHECK(dpu_arcs_find(arcs, i % 4096, i * 7 % 4096) == row);
    }
    CHECK(found == arcs->count && found == 4096);

    for (uint32_t i = 0; i < 4096 && arcs->count != DPU_ARCS / 4 * 3; i++)
        dpu_arcs_find(arcs, i, 4095)->count++;
    CHECK(dpu_arcs_find(arcs, 4094, 1) == NULL && dpu_arcs_find(arcs, 1, 7) != NULL);
    free(arcs);
}

/* --- a machine --- */

static void add_site(void *context, const struct dpu_profile_site *site)
{
    struct dpu_profile_site *sums = context;
    sums[site->pc].instructions += site->instructions;
    sums[site->pc].issue += site->issue;
    sums[site->pc].dma += site->dma;
    sums[site->pc].sleep += site->sleep;
}

/* Each of 12 tasklets calls a function 20 times, which transfers and calls another one. */
static void test_a_machine(void)
{
    struct dpu_profile_site *sums = calloc(DPU_MACHINE_IRAM, sizeof *sums);
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    struct dpu_profile *profile = dpu_profile_create(machine, 0);
    CHECK(sums != NULL && profile != NULL);
    LOAD(machine, BOOT_CHAIN(12, 0), MOVE(1, 20),
         /* 3: */ W("call", "rri", 23, ZERO, 10), W("add", "rrici", 1, 1, -1, CC_NZ, 3), STOP);
    LOAD_AT(machine, 10, W("lsl", "rri", 3, ID, 8), W("ldma", "rri", 3, 3, 15),
            W("call", "rri", 22, ZERO, 20), W("call", "zri", 0, 23, 0));
    LOAD_AT(machine, 20, MOVE(4, 1), W("call", "zri", 0, 22, 0));
    CHECK(dpu_machine_launch(machine, NULL) == DPU_RUN_DONE);
    CHECK(dpu_machine_launch(machine, NULL) == DPU_RUN_DONE);

    row_count = 0;
    dpu_profile_take_calls(profile, keep, NULL);
    dpu_profile_take_sites(profile, add_site, sums);
    uint64_t outer = 0, inner = 0;
    for (uint32_t pc = 10; pc < 22; pc++)
        outer += sums[pc].issue + sums[pc].dma + sums[pc].sleep;
    for (uint32_t pc = 20; pc < 22; pc++)
        inner += sums[pc].issue + sums[pc].dma + sums[pc].sleep;
    CHECK(row_count == 2 && find(3, 10).count == 2 * 12 * 20 && find(12, 20).count == 2 * 12 * 20);
    CHECK(find(3, 10).instructions == 2 * 12 * 20 * 6 && find(3, 10).dma == sums[11].dma);
    CHECK(cycles_of(find(3, 10)) == outer && cycles_of(find(12, 20)) == inner);

    dpu_profile_destroy(profile);
    dpu_machine_destroy(machine);
    free(sums);
}

int main(void)
{
    test_nested_calls();
    test_recursion_counts_time_once();
    test_calls_by_a_jump();
    test_calls_by_a_jump_to_a_register();
    test_functions_can_be_forgotten();
    test_several_are_left_at_once();
    test_deep_recursion();
    test_the_table_can_be_full();
    test_a_machine();
    return 0;
}
