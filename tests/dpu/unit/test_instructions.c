/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of instructions: decode, encode, text.
 *
 * build: @dpu_isa
 */
#include "tests/dpu/support/program.h"

static const char *text_of(uint64_t word)
{
    static char text[DPU_TEXT_MAX];
    CHECK(dpu_disassemble(word, text, sizeof(text), NULL) == strlen(text));
    return text;
}

static void check_text(uint64_t word, const char *expected)
{
    const char *text = text_of(word);
    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "0x%012" PRIx64 ": \"%s\", expected \"%s\"\n", word, text, expected);
        CHECK(!"text");
    }
}

/* Any value that fits the operand. */
static int64_t random_value(uint64_t *state, uint32_t form, enum dpu_operand operand,
                            uint32_t width, bool is_signed)
{
    uint64_t bits = check_random(state);
    switch (operand) {
    case DPU_OPERAND_RC:
    case DPU_OPERAND_RB: return (int64_t)(bits % 24);
    case DPU_OPERAND_DC:
    case DPU_OPERAND_DB: return (int64_t)(bits % 12 * 2);
    case DPU_OPERAND_RA: return (int64_t)(bits % 24);
    case DPU_OPERAND_ZERO: return 0;
    case DPU_OPERAND_CC:
        for (;;) {
            uint32_t code = (uint32_t)check_random_below(state, UINT64_C(1) << width);
            if (dpu_condition_name(form, code) != NULL)
                return code;
        }
    default: break;
    }
    int64_t value = (int64_t)(bits & ((UINT64_C(1) << width) - 1));
    return is_signed && value >> (width - 1) != 0 ? value - (INT64_C(1) << width) : value;
}

static void test_every_form_survives_encode_and_decode(uint64_t *state)
{
    for (uint32_t form = 0; form < DPU_FORM_COUNT; form++) {
        struct dpu_form_info info;
        CHECK(dpu_form_info(form, &info));
        CHECK(dpu_form_find(info.mnemonic, info.form) == form);
        for (int i = 0; i < 60; i++) {
            struct dpu_instruction before = {.form = form, .operand_count = info.operand_count};
            for (uint32_t j = 0; j < info.operand_count; j++)
                before.values[j] = random_value(state, form, (enum dpu_operand)info.operands[j],
                                                info.widths[j], info.is_signed[j] != 0);
            /* This form is for constants; the others take any register. */
            if (strcmp(info.form, "rki") == 0)
                before.values[1] = ZERO + before.values[1] % 8;
            struct dpu_instruction after;
            uint64_t word, again;
            CHECK(dpu_encode(&before, &word));
            CHECK((word & info.mask) == info.match && word >> 48 == 0);
            CHECK(dpu_decode(word, &after));
            CHECK(after.form == form && after.operand_count == before.operand_count);
            CHECK(memcmp(after.values, before.values, sizeof(before.values)) == 0);
            CHECK(dpu_encode(&after, &again) && again == word);
        }
    }
}

static uint32_t count_matches(uint64_t word, uint32_t *last)
{
    uint32_t count = 0;
    for (uint32_t form = 0; form < DPU_FORM_COUNT; form++)
        if (dpu_form_matches(form, word)) {
            *last = form;
            count++;
        }
    return count;
}

/* Words near each form, and words anywhere: one form or none, and the decoder finds that one. */
static void test_no_word_has_two_forms(uint64_t *state)
{
    uint32_t known = 0, unknown = 0;
    for (uint32_t i = 0; i < 20 * DPU_FORM_COUNT; i++) {
        struct dpu_form_info info;
        CHECK(dpu_form_info(i % DPU_FORM_COUNT, &info));
        uint64_t word = check_random(state) & DPU_WORD_MASK;
        if (i % 2 == 0)
            word = (word & ~info.mask) | info.match;
        struct dpu_instruction instruction;
        uint32_t form = DPU_FORM_NONE, count = count_matches(word, &form);
        CHECK(count <= 1);
        CHECK(dpu_decode(word, &instruction) == (count == 1));
        CHECK(instruction.form == form);
        known += count == 1;
        unknown += count == 0;
    }
    CHECK(known > 1000 && unknown > 1000);
}

static void test_values_that_do_not_fit_are_refused(void)
{
    static const struct {
        const char *mnemonic, *form;
        int64_t values[6];
        bool fits;
    } cases[] = {
        {"add", "rrr", {23, 31, 23}, true},
        {"add", "rrr", {24, 0, 0}, false},
        {"add", "rrr", {0, 0, 24}, false},
        {"add", "rrr", {0, 32, 0}, false},
        {"add", "rrr", {-1, 0, 0}, false},
        {"add.s", "rrr", {3, 0, 0}, false},
        {"add.s", "rrr", {22, 0, 0}, true},
        {"ld", "erri", {0, 5, 0, 0}, false},
        {"add", "rri", {0, 0, -1}, true},
        {"add", "rri", {0, 0, 0xFFFFFFFF}, true},
        {"add", "rri", {0, 0, INT64_C(0x100000000)}, false},
        {"add", "rrici", {0, 0, 127, 3, 0}, true},
        {"add", "rrici", {0, 0, 255, 3, 0}, true},
        {"add", "rrici", {0, 0, 256, 3, 0}, false},
        {"add", "rrici", {0, 0, -128, 3, 0}, true},
        {"add", "rrici", {0, 0, -129, 3, 0}, false},
        {"add", "rrici", {0, 0, 0, 0, 0}, false},
        {"add", "rrici", {0, 0, 0, 3, 65536}, false},
        {"lsl", "rri", {0, 0, 32}, false},
        {"lsl", "rri", {0, 0, -1}, false},
        {"and.s", "rki", {0, 31, 0}, true},
        {"and.s", "rki", {0, 23, 0}, false},
        {"mul_step", "rrrici", {0, 24, 0, 0, 0, 0}, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct dpu_instruction instruction = {.form =
                                                  dpu_form_find(cases[i].mnemonic, cases[i].form)};
        struct dpu_form_info info;
        uint64_t word;
        CHECK(dpu_form_info(instruction.form, &info));
        instruction.operand_count = info.operand_count;
        memcpy(instruction.values, cases[i].values, sizeof(cases[i].values));
        CHECK(dpu_encode(&instruction, &word) == cases[i].fits);
    }
    struct dpu_instruction none = {.form = DPU_FORM_COUNT};
    struct dpu_form_info info;
    uint64_t word;
    CHECK(!dpu_encode(&none, &word) && !dpu_form_info(DPU_FORM_COUNT, &info));
    CHECK(dpu_form_find("add", "nothing") == DPU_FORM_NONE);
    CHECK(dpu_form_find("nothing", "rri") == DPU_FORM_NONE);
}

/* Words that programs are made of, as known from elsewhere than this table's functions. */
static void test_words(void)
{
    check_text(UINT64_C(0x7EF320000000), "stop false, 0x0");
    check_text(UINT64_C(0x7C6300000000), "nop");
    check_text(UINT64_C(0x606300100000), "or r0, zero, 1");
    check_text(UINT64_C(0), ".word 0x000000000000");
    CHECK(STOP == UINT64_C(0x7EF320000000));
    CHECK(MOVE(0, 1) == UINT64_C(0x606300100000));
}

static void test_texts(void)
{
    check_text(W("add", "rrr", 0, 1, 2), "add r0, r1, r2");
    check_text(W("add", "zrif", 0, LNEG, 2, 0), "add zero, lneg, 2, false");
    check_text(W("sub", "zrici", 0, 5, -3, CC_LTU, 18), "sub zero, r5, -3, ltu, 0x12");
    check_text(W("sub", "rir", 7, 100, 3), "sub r7, 100, r3");
    check_text(W("lsl_add.u", "rrri", 4, 1, ID8, 31), "lsl_add.u d4, r1, id8, 31");
    check_text(W("lw", "erri", 0, 1, 22, -4), "lw r1, r22, -4");
    check_text(W("lw", "erri", 1, 1, 22, -4), "lw !big r1, r22, -4");
    check_text(W("lw", "ersi", 0, 1, 22, -4), "lws r1, r22, -4");
    check_text(W("sd", "erir", 0, ID8, 16, 6), "sd id8, 16, d6");
    check_text(W("add", "sss", 1, 2, 3), "adds r1, r2, r3");
    check_text(W("ldma", "rri", 0, 1, 255), "ldma r0, r1, 255");
    check_text(W("time", "zci", 0, 1, 9), "time zero, true, 0x9");

    /* Cut off, but with the whole length, as snprintf() does. */
    char text[8];
    bool known;
    CHECK(dpu_disassemble(W("add", "rrr", 0, 1, 2), text, sizeof(text), &known) == 14);
    CHECK(known && strcmp(text, "add r0,") == 0);
    CHECK(dpu_disassemble(0, text, sizeof(text), &known) > 8 && !known);
}

static void test_every_text_fits(uint64_t *state)
{
    for (uint32_t i = 0; i < 30 * DPU_FORM_COUNT; i++) {
        struct dpu_form_info info;
        CHECK(dpu_form_info(i % DPU_FORM_COUNT, &info));
        uint64_t word = (check_random(state) & ~info.mask & DPU_WORD_MASK) | info.match;
        char text[DPU_TEXT_MAX];
        CHECK(dpu_disassemble(word, text, sizeof(text), NULL) < sizeof(text));
    }
}

static void test_conditions_have_names(void)
{
    uint32_t code, form = dpu_form_find("sub", "zrici");
    CHECK(dpu_condition_code(form, "gtu", &code) && code == 27);
    CHECK(strcmp(dpu_condition_name(form, 27), "gtu") == 0);
    CHECK(!dpu_condition_code(form, "nc5", &code));
    CHECK(dpu_condition_name(form, 6) == NULL);
    CHECK(dpu_condition_name(DPU_FORM_COUNT, 1) == NULL);
    CHECK(strcmp(dpu_operand_name(DPU_OPERAND_IMMDMA), "immDma") == 0);
    CHECK(dpu_operand_name(DPU_OPERAND_COUNT) == NULL);
}

int main(void)
{
    uint64_t state = check_seed(20);
    test_every_form_survives_encode_and_decode(&state);
    test_no_word_has_two_forms(&state);
    test_values_that_do_not_fit_are_refused();
    test_words();
    test_texts();
    test_every_text_fits(&state);
    test_conditions_have_names();
    return 0;
}
