/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces of Vector Engine code.
 *
 * build: @ve_machine csrc/veo/run/trace.c csrc/veo/link/elf_file.c
 */
#include "tests/veo/support/ve_code.h"
#include "veo/machine/trace.h"
#include "veo/run/trace.h"

#include <sys/syscall.h>
#include <unistd.h>

static void check_line(const struct ve_core *core, uint64_t word, const char *expected)
{
    struct ve_instruction instruction;
    char text[VE_TRACE_MAX];
    CHECK(ve_decode(word, &instruction));
    CHECK(ve_trace_text(core, &instruction, 0x1000, 4, text) == strlen(text));
    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "\"%s\", expected \"%s\"\n", text, expected);
        CHECK(!"text");
    }
}

static void test_a_line_has_the_first_operand(struct ve_core *core)
{
    core->s[2] = 5;
    core->s[3] = 6;
    core->v[1][0] = 1;
    core->v[1][1] = 2;
    core->vl = 2;
    core->vm[1][0] = 15;
    check_line(core, WORD(NOP, 0), "0x1000: nop");
    check_line(core, WORD(OR, SX(2) | IY(5)), "0x1000: or %s2, 5, (0)1  s2=0x5");
    check_line(core, WORD(FADD_Q, SX(2) | SY(4) | SZ(6)),
               "0x1000: fadd.q %s2, %s4, %s6  s2=0x5,0x6");
    check_line(core, WORD(VSEQ, UINT64_C(1) << 24), "0x1000: vseq %v1  vl=2 v1=0x1,0x2");
    check_line(core, WORD(NEGM, UINT64_C(1) << 24), "0x1000: negm %vm1, %vm0  vm1=0xf,0x0,0x0,0x0");
}

static void test_the_longest_line_fits(struct ve_core *core)
{
    memset(core->s, 0xff, sizeof core->s);
    memset(core->v, 0xff, sizeof core->v);
    core->vl = VE_VECTOR_LENGTH;
    struct ve_instruction instruction;
    char text[VE_TRACE_MAX];
    uint64_t word = WORD(PVFNMSB, UINT64_C(14) << 48 | UINT64_C(0x3F3F3F3F));
    CHECK(ve_decode(word, &instruction));
    CHECK(ve_trace_text(core, &instruction, UINT64_MAX, VE_VECTOR_LENGTH, text) < VE_TRACE_MAX);
    CHECK(text[strlen(text) - 1] == 'f');
}

static uint64_t code[3];

/* The first and the second instruction are a function each. */
static void place(uint64_t address, struct text *text, uint64_t *low, uint64_t *high)
{
    uint64_t number = (address - (uint64_t)(uintptr_t)code) / sizeof *code;
    *low = (uint64_t)(uintptr_t)(code + number);
    *high = *low + sizeof *code * (number == 1 ? 2 : 1);
    text_add(text, " f%d", (int)number);
}

/* The trace of two instructions and the return, as VEORUN_TRACE has it. */
static void test_a_core_writes_what_it_executes(struct ve_core *core)
{
    char path[] = "/tmp/ve_trace_XXXXXX";
    char line[VE_TRACE_MAX];
    char expected[5][80];
    struct velink_error error = {""};
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    CHECK(close(descriptor) == 0);
    CHECK(setenv("VEORUN_TRACE", path, 1) == 0);
    CHECK(verun_trace_ready(place, &error));
    verun_trace_attach(core);
    CHECK(core->observe != NULL);

    code[0] = SET(0, 3);
    code[1] = SET(0, 4);
    code[2] = RETURN;
    CHECK(ve_core_run(core, (uint64_t)(uintptr_t)code));
    snprintf(expected[0], sizeof *expected, "# thread %ld: f0\n", syscall(SYS_gettid));
    snprintf(expected[1], sizeof *expected, "%p: or %%s0, 3, (0)1  s0=0x3\n", (void *)code);
    snprintf(expected[2], sizeof *expected, "# thread %ld: f1\n", syscall(SYS_gettid));
    snprintf(expected[3], sizeof *expected, "%p: or %%s0, 4, (0)1  s0=0x4\n", (void *)(code + 1));
    snprintf(expected[4], sizeof *expected, "%p: b.l (, %%s10)\n", (void *)(code + 2));
    FILE *file = fopen(path, "re");
    CHECK(file != NULL);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        CHECK(fgets(line, sizeof line, file) != NULL);
        CHECK(strcmp(line, expected[i]) == 0);
    }
    CHECK(fgets(line, sizeof line, file) == NULL);
    CHECK(fclose(file) == 0);
    CHECK(unlink(path) == 0);
}

int main(void)
{
    struct ve_core *core = ve_core_create();
    CHECK(core != NULL);
    test_a_line_has_the_first_operand(core);
    test_a_core_writes_what_it_executes(core);
    test_the_longest_line_fits(core);
    ve_core_destroy(core);
    return 0;
}
