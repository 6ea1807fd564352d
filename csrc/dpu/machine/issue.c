/* SPDX-License-Identifier: BSD-3-Clause */
#include "issue.h"

#include <stdlib.h>

#define CARRY (1u << DPU_MACHINE_REGISTERS)
#define EVEN 0x555555u

/* Of an instruction: bits of the registers, and of the carry flag. */
struct registers {
    uint32_t reads, writes;
    bool jumps;
};

/* Of the instruction at a place: valid for this word, and the one behind it. */
struct dpu_issue_fact {
    uint64_t word, next;
    bool is_known;
    bool depends;      /* the next one of the tasklet needs what it makes */
    uint8_t conflicts; /* reads that wait for others of the same bank */
};

static uint32_t register_bits(int64_t first, uint32_t count)
{
    return first < DPU_MACHINE_REGISTERS ? ((1u << count) - 1) << first : 0;
}

static struct registers registers_of(uint64_t word)
{
    struct registers found = {0};
    struct dpu_instruction instruction;
    if (!dpu_decode(word, &instruction))
        return found;

    const struct dpu_form *form = &dpu_forms[instruction.form];
    uint32_t result = form->destination > DPU_DEST_R32 ? 2 : 1;
    for (uint32_t i = 0; i < form->operand_count; i++) {
        int64_t value = instruction.values[i];
        switch ((enum dpu_operand)dpu_fields[form->fields[i]].operand) {
        case DPU_OPERAND_RC:
        case DPU_OPERAND_DC: found.writes |= register_bits(value, result); break;
        case DPU_OPERAND_RA:
        case DPU_OPERAND_RB: found.reads |= register_bits(value, 1); break;
        case DPU_OPERAND_DB: found.reads |= register_bits(value, 2); break;
        case DPU_OPERAND_PC: found.jumps = true; break;
        default: break;
        }
    }

    found.jumps |= form->operation == DPU_OP_CALL;
    if (form->operation == DPU_OP_ADDC || form->operation == DPU_OP_SUBC)
        found.reads |= CARRY;
    if (form->flags == DPU_FLAGS_ZC)
        found.writes |= CARRY;
    return found;
}

/* A bank has the even registers, the other one the odd ones; each is read once in a cycle. */
static uint32_t conflicts_of(uint32_t reads)
{
    uint32_t even = dpu_count_bits(reads & EVEN), odd = dpu_count_bits(reads & EVEN << 1);
    return (even > 1 ? even - 1 : 0) + (odd > 1 ? odd - 1 : 0);
}

static struct dpu_issue_fact look_at(uint64_t word, uint64_t next)
{
    const struct registers one = registers_of(word), following = registers_of(next);
    return (struct dpu_issue_fact){
        .word = word,
        .next = next,
        .is_known = true,
        .depends = one.jumps || (one.writes & following.reads) != 0,
        .conflicts = (uint8_t)conflicts_of(one.reads),
    };
}

/* Kept where there is memory for it. */
static struct dpu_issue_fact fact_at(struct dpu_machine *m, uint32_t pc)
{
    uint64_t word = m->iram[pc], next = m->iram[(pc + 1) % DPU_MACHINE_IRAM];
    if (m->issue_facts == NULL)
        m->issue_facts = calloc(DPU_MACHINE_IRAM, sizeof *m->issue_facts);
    if (m->issue_facts == NULL)
        return look_at(word, next);

    struct dpu_issue_fact *fact = &m->issue_facts[pc];
    if (!fact->is_known || fact->word != word || fact->next != next)
        *fact = look_at(word, next);
    return *fact;
}

void dpu_issue_free(struct dpu_machine *m)
{
    free(m->issue_facts);
    m->issue_facts = NULL;
}

uint64_t dpu_issue_rounds(struct dpu_machine *m, uint64_t rounds)
{
    if (!dpu_issue_varies(m))
        return rounds;

    uint32_t stalls = 0;
    bool depends = false;
    for (uint32_t i = 0; i < m->runnable; i++) {
        const struct dpu_issue_fact fact = fact_at(m, dpu_pc(m, m->order[i]->op));
        stalls += fact.conflicts * m->options.hazard;
        depends |= fact.depends;
    }

    uint32_t issuing = m->issue_length[m->runnable] + stalls, least = m->options.round_cycles;
    if (m->options.forwarding != 0)
        least = depends ? m->options.forwarding : 1;
    m->round_length[m->runnable] = (uint16_t)(issuing > least ? issuing : least);
    return 1;
}
