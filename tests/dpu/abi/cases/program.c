/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPU program that the cases run, instruction by instruction. */
#include "cases.h"

#include "tests/support/dpu_elf_builder.h"
#include "tests/dpu/support/program.h"

enum { CMD = 0x40, COUNTER = 0x44, LOOPS = 0x48, CLOCK = 0x4C, WBUF = 0x50, PLAIN = 0xC0 };

static void add_sections(struct dpu_program *p, const struct program *program)
{
    const uint64_t text[] = {
        W("lw", "erri", 0, 0, ZERO, CMD),
        W("lw", "erri", 0, 5, ZERO, CLOCK),
        JUMP_IF(0, ASSERT, CC_Z, PC_OF_FAULT),
        JUMP_IF(0, BAD_LOAD, CC_Z, 13),
        JUMP_IF(0, BAD_TRANSFER, CC_Z, 16),
        JUMP_IF(0, SPIN, CC_Z, PC_OF_SPIN),
        JUMP_IF(0, LOOP, CC_Z, 21),
        /* 7: again, counting */
        W("lw", "erri", 0, 1, ZERO, COUNTER),
        W("add", "rri", 1, 1, 1),
        W("sw", "erir", 0, ZERO, COUNTER, 1),
        STOP,
        STOP,
        W("fault", "i", 3),
        /* 13 */
        MOVE(2, 0x20000),
        W("lw", "erri", 0, 3, 2, 0),
        STOP,
        /* 16 */
        MOVE(0, 0xFFF8),
        MOVE(1, 0),
        W("ldma", "rri", 0, 1, 255),
        STOP,
        /* 20 */
        JUMP(PC_OF_SPIN),
        W("lw", "erri", 0, 1, ZERO, LOOPS),
        W("add", "rrici", 1, 1, -1, CC_NZ, 22),
        JUMP(7),
    };
    uint32_t host[(PLAIN - CMD) / 4] = {(uint32_t)program->command, 0, program->loops};
    const uint32_t plain[2] = {7, 8};
    uint8_t mram[64];
    memset(mram, 'm', sizeof mram);
    uint16_t section = dpu_program_section(p, ".text", SHT_PROGBITS, 0x80000000, text, sizeof text);
    dpu_program_segment(p, section, 0);
    dpu_program_symbol(p, "__bootstrap", 0x80000000, 16, STB_GLOBAL, STT_FUNC, section);
    dpu_program_symbol(p, "main", 0x80000010, sizeof text - 16, STB_GLOBAL, STT_FUNC, section);
    section = dpu_program_section(p, ".data.__sys_host", SHT_PROGBITS, CMD, host, sizeof host);
    dpu_program_segment(p, section, 0);
    static const struct {
        const char *name;
        uint32_t address, size;
    } variables[] = {
        {"cmd", CMD, 4},     {"counter", COUNTER, 4},
        {"loops", LOOPS, 4}, {"CLOCKS_PER_SEC", CLOCK, 4},
        {"wbuf", WBUF, 64},
    };
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        dpu_program_symbol(p, variables[i].name, variables[i].address, variables[i].size,
                           STB_GLOBAL, STT_OBJECT, section);
    section = dpu_program_section(p, ".data", SHT_PROGBITS, PLAIN, plain, sizeof plain);
    dpu_program_segment(p, section, 0);
    dpu_program_symbol(p, "plain", PLAIN, 4, STB_GLOBAL, STT_OBJECT, section);
    section = dpu_program_section(p, ".mram", SHT_PROGBITS, 0x08000100, mram, program->mram_size);
    dpu_program_segment(p, section, 0);
    dpu_program_symbol(p, "mbuf", 0x08000100, 4096, STB_GLOBAL, STT_OBJECT, section);
    dpu_program_symbol(p, "__sys_used_mram_end", 0x08010000, 0, STB_GLOBAL, STT_NOTYPE, section);
}

void make_program(struct program *program)
{
    struct dpu_program p;
    dpu_program_start(&p);
    add_sections(&p, program);
    if (program->tasklets >= 0)
        dpu_program_symbol(&p, "NR_TASKLETS", (uint32_t)program->tasklets, 0, STB_GLOBAL,
                           STT_NOTYPE, SHN_ABS);
    if (program->chip != NULL) {
        /* "A", then the length of what follows: the name, and a subsection with tag 5. */
        uint8_t attributes[64] = {'A'};
        uint32_t name = (uint32_t)sizeof "upmem";
        uint32_t inner = 1 + 4 + 1 + (uint32_t)strlen(program->chip) + 1;
        uint32_t total = 4 + name + inner;
        memcpy(attributes + 1, &total, 4);
        memcpy(attributes + 5, "upmem", name);
        attributes[5 + name] = 1;
        memcpy(attributes + 6 + name, &inner, 4);
        attributes[10 + name] = 5;
        strcpy((char *)attributes + 11 + name, program->chip);
        dpu_program_section(&p, ".dpu.attributes", SHT_LOPROC + 3, 0, attributes, 1 + total);
    }
    program->image = dpu_program_image(&p, &program->size);
}

static void load(struct dpu_set_t set, struct program *program)
{
    make_program(program);
    CHECK_OK(dpu_load_from_memory(set, program->image, program->size, NULL));
    free(program->image);
}

void load_command(struct dpu_set_t set, enum command command)
{
    load(set, &(struct program){.command = command, .tasklets = 1, .mram_size = 64});
}

void load_loop(struct dpu_set_t set, uint32_t loops)
{
    load(set, &(struct program){.command = LOOP, .loops = loops, .tasklets = 1, .mram_size = 64});
}

void write_program(const char *path, enum command command)
{
    struct program program = {.command = command, .tasklets = 1, .mram_size = 64};
    make_program(&program);
    FILE *file = fopen(path, "wb");
    CHECK_TRUE(file != NULL);
    CHECK_TRUE(fwrite(program.image, program.size, 1, file) == 1);
    CHECK_TRUE(fclose(file) == 0);
    free(program.image);
}
