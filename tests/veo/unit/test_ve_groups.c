/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of elements that pass together through a block do what the interpreter does.
 *
 * build: @ve_translate @ve_machine
 */
#include "tests/veo/support/ve_engines.h"
#include "veo/translate/block.h"

#define SUM_OF(x, y, z) WORD(VADDS_L, VECTORS(x, y, z))
#define MASKED(mask) ((uint64_t)(mask) << 48)
#define TO_Y (UINT64_C(1) << 53)

/* Vectors of each length, whose elements are scattered to four places. */
static void test_of_many_stores_to_one_place_the_last_remains(void)
{
    enum { SOME = 21, TO = 22, SUMS = 23 };
    const uint64_t words[] = {
        WORD(LEA, SX(SOME) | DISPLACEMENT(3)),
        WORD(LEA, SX(TO) | SZ(BUFFER) | DISPLACEMENT(2048)),
        WORD(LVL, SY(COUNTER)),
        LOAD(1, BUFFER),
        WORD(VAND, VECTORS(2, 0, 1) | SY(SOME) | TO_Y),
        WORD(VSFA, VECTORS(2, 0, 2) | IY(3) | SZ(TO)),
        WORD(VSC, VECTORS(1, 2, 0)),
        WORD(LEA, SX(SUMS) | SZ(BUFFER) | DISPLACEMENT(2112)),
        LOAD(3, BUFFER),
        WORD(VGT, VECTORS(4, 2, 0)),
        SUM_OF(5, 4, 3),
        KEEP(5, SUMS),
        COUNT_DOWN,
        UP_TO_0(11),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    ve_core_destroy(run_both(80, NEAREST));
}

/* Mask 2 is taken before it is made anew, and vector 2 before it is written. */
static void test_groups_take_what_registers_had(void)
{
    enum { A = 21, TO = 22 };
    const uint64_t words[] = {
        WORD(LEA, SX(TO) | SZ(BUFFER) | DISPLACEMENT(2048)),
        WORD(LEA, SX(A) | SZ(BUFFER)),
        WORD(LVL, SY(COUNTER)),
        LOAD(1, A),
        WORD(VMRG, VECTORS(3, 1, 2)) | MASKED(2),
        WORD(VFMK_L, VECTORS(2, VE_GREATER, 3)),
        SUM_OF(2, 1, 2) | MASKED(2),
        KEEP(2, TO) | MASKED(2),
        WORD(LEA, SX(A) | SZ(A) | DISPLACEMENT(8)),
        COUNT_DOWN,
        UP_TO_0(8),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    ve_core_destroy(run_both(81, NEAREST));
}

/* Of a hundred elements, another one is no number each time; the store is behind what is loaded. */
static void test_each_group_may_have_a_nan(void)
{
    enum { A = 21, B = 22, NAN_BITS = 23, PLACE = 24, TO = 25, ZERO = 26 };
    const uint64_t words[] = {
        WORD(LEA, SX(1) | DISPLACEMENT(100)),
        WORD(LVL, SY(1)),
        WORD(LEA, SX(A) | SZ(BUFFER) | DISPLACEMENT(8)),
        WORD(LEA, SX(B) | SZ(BUFFER) | DISPLACEMENT(2048)),
        WORD(LEA, SX(TO) | SZ(BUFFER)),
        WORD(LEA_SL, SX(NAN_BITS) | DISPLACEMENT(0x7FF00001)),
        WORD(OR, SX(ZERO) | IY(0) | IZ(0)),
        WORD(SLL, SX(PLACE) | IY(3) | SZ(COUNTER)),
        WORD(ADDS_L, SX(PLACE) | SY(PLACE) | SZ(B)),
        WORD(ST, SX(NAN_BITS) | SZ(PLACE)),
        LOAD(1, A),
        LOAD(2, B),
        WORD(VFADD_D, VECTORS(3, 1, 2)),
        WORD(VFMUL_D, VECTORS(4, 3, 3)),
        KEEP(4, TO),
        WORD(ST, SX(ZERO) | SZ(PLACE)),
        COUNT_DOWN,
        UP_TO_0(10),
        RETURN,
    };
    memcpy(code, words, sizeof words);
    ve_core_destroy(run_both(82, NEAREST));
}

/* How many blocks have a loop of four groups. */
static uint32_t together(const uint64_t *words, size_t size)
{
    memset(code, 0, PAGE);
    memcpy(code, words, size);
    ve_code_changed();
    struct ve_core *core = make_core(1);
    struct ve_plan *plan = malloc(sizeof *plan);
    CHECK(plan != NULL && ve_core_run(core, (uint64_t)(uintptr_t)code));
    ve_plan_make(plan, core, (uint64_t)(uintptr_t)code);
    ve_blocks_find(plan);
    CHECK(plan->block_end[0] > 0);

    char *text = NULL;
    size_t text_size = 0;
    FILE *out = open_memstream(&text, &text_size);
    CHECK(out != NULL);
    ve_generate(out, plan);
    CHECK(fclose(out) == 0);
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, "i += 4 * LANES")) != NULL; at++)
        count++;
    free(text);
    free(plan);
    ve_core_destroy(core);
    return count;
}

static void test_short_blocks_that_load_and_store_have_groups_together(void)
{
    uint64_t words[12] = {LOAD(1, BUFFER), SUM_OF(2, 1, 1), KEEP(2, BUFFER), RETURN};
    ve_translate_use(VE_ENGINE_INTERPRETER);
    CHECK(together(words, sizeof words) == 1);
    words[0] = SUM_OF(1, 1, 1);
    CHECK(together(words, sizeof words) == 0);
    words[0] = LOAD(1, BUFFER);
    words[2] = SUM_OF(3, 1, 1);
    CHECK(together(words, sizeof words) == 0);

    for (uint64_t at = 1; at < 9; at++)
        words[at] = SUM_OF(1 + at, at, at);
    words[9] = KEEP(9, BUFFER);
    words[10] = RETURN;
    CHECK(together(words, sizeof words) == 1);
    words[9] = SUM_OF(10, 9, 9);
    words[10] = KEEP(10, BUFFER);
    words[11] = RETURN;
    CHECK(together(words, sizeof words) == 0);
}

int main(void)
{
    set_up_engines();

    test_of_many_stores_to_one_place_the_last_remains();
    test_groups_take_what_registers_had();
    test_each_group_may_have_a_nan();
    test_short_blocks_that_load_and_store_have_groups_together();
    return 0;
}
