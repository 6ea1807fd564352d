/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @dpu_isa
 *
 * Fuzz target: decoder, encoder and disassembler of DPU instructions. An input is a row of words
 * of 6 bytes; the three agree on each.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpu/isa/instructions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what, uint64_t word)
{
    if (!condition) {
        fprintf(stderr, "contract broken: %s: %012llx\n", what, (unsigned long long)word);
        abort();
    }
}

/* The text is whole in a buffer that is long enough, and cut off with a 0 in one that is not. */
static void check_text(uint64_t word, bool decoded)
{
    char text[DPU_TEXT_MAX], cut[DPU_TEXT_MAX];
    bool known = !decoded;
    size_t length = dpu_disassemble(word, text, sizeof text, &known);
    require(known == decoded, "text and decoder agree on what is known", word);
    require(length > 0 && length < sizeof text && strlen(text) == length, "text fits", word);
    for (size_t room = 1; room < 24; room += 11) {
        memset(cut, 'x', sizeof cut);
        require(dpu_disassemble(word, cut, room, NULL) == length, "the same length", word);
        size_t kept = length < room ? length : room - 1;
        require(strlen(cut) == kept && memcmp(cut, text, kept) == 0, "a part of it", word);
        require(cut[room] == 'x', "no more than there is room for", word);
    }
}

static void check_operands(const struct dpu_instruction *instruction, uint64_t word)
{
    struct dpu_form_info info;
    require(dpu_form_info(instruction->form, &info), "a form that exists", word);
    require(instruction->operand_count == info.operand_count, "as many operands", word);
    require((word & info.mask) == info.match, "the form's bits", word);
    for (uint32_t i = 0; i < info.operand_count; i++) {
        int64_t value = instruction->values[i], limit = INT64_C(1) << info.widths[i];
        require(value < limit && value >= (info.is_signed[i] ? -limit / 2 : 0), "width", word);
        const char *name = dpu_operand_name((enum dpu_operand)info.operands[i]);
        require(name != NULL, "operands have names", word);
        if (info.operands[i] == DPU_OPERAND_CC) {
            const char *condition = dpu_condition_name(instruction->form, (uint32_t)value);
            uint32_t code;
            require(condition == NULL || (dpu_condition_code(instruction->form, condition, &code) &&
                                          code == (uint32_t)value),
                    "conditions have one name", word);
        }
    }
    require(dpu_form_find(info.mnemonic, info.form) == instruction->form, "a name", word);
}

static void check_word(uint64_t word)
{
    struct dpu_instruction instruction, again;
    uint64_t encoded = 1;
    bool decoded = dpu_decode(word, &instruction);
    require(decoded == (instruction.form != DPU_FORM_NONE), "none or a form", word);
    check_text(word, decoded);
    if (!decoded)
        return;
    require(dpu_form_matches(instruction.form, word), "the form it says", word);
    check_operands(&instruction, word);
    /* Pairs of registers are encoded only if even; the decoder takes the odd bit too. */
    for (uint32_t i = 0; i < instruction.operand_count; i++) {
        struct dpu_form_info info;
        (void)dpu_form_info(instruction.form, &info);
        if (info.operands[i] == DPU_OPERAND_DC || info.operands[i] == DPU_OPERAND_DB)
            instruction.values[i] &= ~INT64_C(1);
    }
    require(dpu_encode(&instruction, &encoded), "what was decoded can be encoded", word);
    require(dpu_decode(encoded, &again), "what was encoded can be decoded", word);
    require(again.form == instruction.form, "the same form", word);
    require(memcmp(again.values, instruction.values,
                   instruction.operand_count * sizeof *again.values) == 0,
            "the same operands", word);
}

/* Names and codes that may not exist. */
static void check_names(uint32_t form, uint8_t code)
{
    struct dpu_form_info info;
    uint32_t found;
    bool exists = dpu_form_info(form, &info);
    require(exists == (form < DPU_FORM_COUNT), "forms that exist", form);
    const char *name = dpu_condition_name(form, code);
    require(name == NULL || (dpu_condition_code(form, name, &found) && found == code),
            "a condition's name and code", form);
    require(!dpu_condition_code(form, "nonsense", &found) && found == 0, "no such name", form);
    require(dpu_form_find(exists ? info.mnemonic : "nonsense", "nonsense") == DPU_FORM_NONE,
            "no such form", form);
}

/* Any operands, which may fit or not: a form, how many operands too many, and their values. */
static void check_encoder(const uint8_t *data, size_t size)
{
    struct dpu_instruction instruction = {0};
    struct dpu_form_info info;
    uint64_t word = 1;
    uint16_t form = 0;
    if (size < 4)
        return;
    memcpy(&form, data, sizeof form);
    instruction.form = form % (DPU_FORM_COUNT + 2U);
    check_names(instruction.form, data[2]);
    (void)dpu_form_info(instruction.form, &info);
    instruction.operand_count = info.operand_count + (data[3] < 8);
    data += 4;
    size -= 4;
    for (uint32_t i = 0; i < DPU_OPERANDS_MAX && size > 5 * i + 5; i++) {
        int32_t value;
        memcpy(&value, data + 5 * i, sizeof value);
        instruction.values[i] = value >> data[5 * i + 4] % 32;
    }
    if (dpu_encode(&instruction, &word)) {
        require((word & ~DPU_WORD_MASK) == 0, "48 bits", word);
        require(dpu_form_matches(instruction.form, word), "of the form", word);
        check_word(word);
    } else {
        require(word == 0, "no word", word);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_encoder(data, size);
    for (size_t at = 0; at + 6 <= size && at < 6 * 512; at += 6) {
        uint64_t word = 0;
        memcpy(&word, data + at, 6);
        check_word(word);
        check_word(word | UINT64_C(0xABCD) << 48);
    }
    return 0;
}
