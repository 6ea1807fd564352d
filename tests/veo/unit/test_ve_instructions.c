/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the Vector Engine's instructions: decode and text.
 *
 * build: @ve_machine
 */
#include "tests/veo/support/ve_code.h"

static void check_text(uint64_t word, const char *expected)
{
    char text[VE_TEXT_MAX];
    CHECK(ve_disassemble(word, text, sizeof text) == strlen(text));
    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "0x%016" PRIx64 ": \"%s\", expected \"%s\"\n", word, text, expected);
        CHECK(!"text");
    }
}

/* Words as clang's assembler writes them, of each format. */
static void test_words_have_the_assemblers_text(void)
{
    check_text(UINT64_C(0x0101828300000008), "ld %s1, 8(%s2, %s3)");
    check_text(UINT64_C(0x0301008b00000000), "ldl.sx %s1, (, %s11)");
    check_text(UINT64_C(0x060b008bffffff10), "lea %s11, -240(, %s11)");
    check_text(UINT64_C(0x0680000000100000), "lea.sl %s0, 1048576");
    check_text(UINT64_C(0x0600400000000005), "lea %s0, 5(-64)");
    check_text(UINT64_C(0x080a008c00000000), "bsic %s10, (, %s12)");
    check_text(UINT64_C(0x0c00008300000010), "pfch 16(, %s3)");
    check_text(UINT64_C(0x1201008900000004), "stu %s1, 4(, %s9)");
    check_text(UINT64_C(0x6281838200000008), "cas.w %s1, 8(%s2), %s3");
    check_text(UINT64_C(0x42017f8200000000), "ts1am.l %s1, (%s2), 127");
    check_text(UINT64_C(0x2100020000000008), "lhm.w %s0, 8()");
    check_text(UINT64_C(0x313f03bd00000008), "shm.l %s63, 8(%s61)");
    check_text(UINT64_C(0x1831818200000010), "brgt.l.t %s1, %s2, 16");
    check_text(UINT64_C(0x184b7f00fffffff8), "brnenan.d -1, 0, -8");
    check_text(UINT64_C(0x180f000000000018), "br.l 24");
    check_text(UINT64_C(0x18a0000000000008), "braf.w.nt 8");
    check_text(UINT64_C(0x1b05818200000008), "bge.w %s1, 8(, %s2)");
    check_text(UINT64_C(0x193f008a00000000), "b.l.t (, %s10)");
    check_text(UINT64_C(0x1c00000000000008), "baf.d 8");
    check_text(UINT64_C(0x4a017f0000000000), "adds.w.sx %s1, -1, (0)1");
    check_text(UINT64_C(0x4400816000000000), "and %s0, %s1, (32)0");
    check_text(UINT64_C(0x65013f8200000000), "sll %s1, %s2, 63");
    check_text(UINT64_C(0x7681820300000000), "sra.w.zx %s1, (3)1, %s2");
    check_text(UINT64_C(0x3b01838200000003), "cmov.l.ne %s1, %s2, %s3");
    check_text(UINT64_C(0x3b0100010000004f), "cmov.d.at %s1, (1)1, 0");
    check_text(UINT64_C(0x4e01820800000000), "cvt.w.d.sx.rz %s1, %s2");
    check_text(UINT64_C(0x4f01820000000000), "cvt.l.d %s1, %s2");
    check_text(UINT64_C(0x6c02848600000000), "fadd.q %s2, %s4, %s6");
    check_text(UINT64_C(0x2b01018200000000), "bswp %s1, %s2, 1");
    check_text(UINT64_C(0x5101820500000000), "fidcr %s1, %s2, 5");
    check_text(UINT64_C(0x2201000000000000), "smir %s1, %usrcc");
    check_text(UINT64_C(0x3a00850000000000), "lpm %s5");
    check_text(UINT64_C(0xaf003f0000000000), "lvix 63");
    check_text(UINT64_C(0xbf00400000000000), "lvl -64");
    check_text(UINT64_C(0x8e007f8201000000), "lsv %v1(127), %s2");
    check_text(UINT64_C(0x9e018200ff000000), "lvs %s1, %vix(%s2)");
    check_text(UINT64_C(0xb700038201000000), "lvm %vm1, 3, %s2");
    check_text(UINT64_C(0xa701020000000f00), "svm %s1, %vm15, 2");
    check_text(UINT64_C(0x2003000000000000), "fencem 3");
    check_text(UINT64_C(0x2000070000000000), "fencec 7");
    check_text(UINT64_C(0x2080000000000000), "fencei");
    check_text(UINT64_C(0x3000000000000000), "svob");
    check_text(UINT64_C(0x7900000000000000), "nop");
    check_text(UINT64_C(0x3f00000000000000), "monc");
    check_text(UINT64_C(0x3f80000000000000), "monc.hdb");
    check_text(UINT64_C(0x8140088100000000), "vld %v0, 8, %s1");
    check_text(UINT64_C(0x810082003f000000), "vld.nc %v63, %s2, 0");
    check_text(UINT64_C(0x9183088201000000), "vst.nc.ot %v1, 8, %s2, %vm3");
    check_text(UINT64_C(0x91c0788201000000), "vst.ot %v1, -8, %s2");
    check_text(UINT64_C(0xd340838201000000), "vstl2d %v1, %s3, %s2");
    check_text(UINT64_C(0xa140000001020000), "vgt %v1, %v2, 0, 0");
    check_text(UINT64_C(0xa3a5838401000002), "vgtl.zx.nc %v1, %s2, %s3, %s4, %vm5");
    check_text(UINT64_C(0xb240830001020000), "vscu %v1, %v2, %s3, 0");
    check_text(UINT64_C(0x8040088100000000), "pfchv 8, %s1");
    check_text(UINT64_C(0x8b00000001020300), "vadds.l %v1, %v2, %v3");
    check_text(UINT64_C(0x8b22050001000300), "vadds.l %v1, 5, %v3, %vm2");
    check_text(UINT64_C(0xcac4000001ff0300), "pvadds %v1, %vix, %v3, %vm4");
    check_text(UINT64_C(0xc420140001000300), "vand %v1, (20)1, %v3");
    check_text(UINT64_C(0xd4203f0001000200), "vsla.l %v1, %v2, 63");
    check_text(UINT64_C(0xf501000001030200), "vsrl %v1, %v2, %v3, %vm1");
    check_text(UINT64_C(0xdd10830001020000), "vfdiv.d %v1, %v2, %s3");
    check_text(UINT64_C(0xdd20830001000200), "vfdiv.d %v1, %s3, %v2");
    check_text(UINT64_C(0xe200000001020304), "vfmad.d %v1, %v2, %v3, %v4");
    check_text(UINT64_C(0xf2d6830001020004), "pvfmsb %v1, %v2, %s3, %v4, %vm6");
    check_text(UINT64_C(0xe3207f0001000304), "vfnmad.d %v1, -1, %v3, %v4");
    check_text(UINT64_C(0xe400050001020300), "vsld %v1, (%v2, %v3), 5");
    check_text(UINT64_C(0xbc000c0001020300), "vshf %v1, %v2, %v3, 12");
    check_text(UINT64_C(0xd682000001020300), "vmrg.w %v1, %v2, %v3, %vm2");
    check_text(UINT64_C(0xb400000001010200), "vfmk.l.gt %vm1, %v2");
    check_text(UINT64_C(0xb6000000010f0000), "vfmk.d.at %vm1");
    check_text(UINT64_C(0xb642000001000000), "pvfmk.s.lo.af %vm1, %vm2");
    check_text(UINT64_C(0xe800000001020c00), "vcvt.w.d.sx.ra %v1, %v2");
    check_text(UINT64_C(0x8c40820001000000), "vbrdl %v1, %s2");
    check_text(UINT64_C(0xea00000001020000), "vsum.w.sx %v1, %v2");
    check_text(UINT64_C(0x8400000001020300), "andm %vm1, %vm2, %vm3");
    check_text(UINT64_C(0x9500000001020000), "negm %vm1, %vm2");
    check_text(UINT64_C(0xa601000000020000), "tovm %s1, %vm2");
    check_text(UINT64_C(0x9900000001000000), "vseq %v1");
    check_text(UINT64_C(0xce00830001020000), "vfia.d %v1, %v2, %s3");
    check_text(UINT64_C(0x9c007f0001000200), "vmv %v1, 127, %v2");
}

static void test_unknown_words_are_data(void)
{
    check_text(0, ".quad 0x0000000000000000");
    check_text(UINT64_C(0x07170000ffffffc8), ".quad 0x07170000ffffffc8 # addi");
    check_text(UINT64_C(0x81600000000000ff), ".quad 0x81600000000000ff # vdld");
    CHECK(ve3_mnemonic(UINT64_C(0xff00000000000000)) == NULL);
}

/* A word of the operation, with random bits where the row has none; half of the words have few. */
static uint64_t random_word(uint64_t *state, uint32_t operation)
{
    const struct ve_operation_info *info = ve_operation_info(operation);
    uint64_t bits = check_random(state);
    if (check_random_below(state, 2) == 0)
        bits &= check_random(state) & check_random(state);
    return info->match | (bits & ~info->mask);
}

static void test_no_word_has_two_operations(uint64_t *state)
{
    for (uint32_t operation = 0; operation < VE_OPERATION_COUNT; operation++) {
        uint32_t found = 0;
        for (int i = 0; i < 4000; i++) {
            uint64_t word = random_word(state, operation);
            struct ve_instruction instruction;
            if (!ve_decode(word, &instruction))
                continue;
            CHECK(instruction.word == word);
            CHECK(instruction.y_source < VE_SOURCE_COUNT);
            CHECK(instruction.z_source < VE_SOURCE_COUNT);
            /* fencec 0 is fencem 0. */
            CHECK(instruction.operation == operation ||
                  (instruction.operation == VE_OP_FENCEM && operation == VE_OP_FENCEC));
            found++;
        }
        CHECK(found > 0);
    }
}

static void test_operands_that_do_not_exist_make_no_instruction(void)
{
    struct ve_instruction instruction;
    CHECK(ve_decode(WORD(ADDS_L, SX(63)), &instruction));
    CHECK(!ve_decode(WORD(ADDS_L, SX(64)), &instruction));
    CHECK(instruction.operation == VE_OP_NONE);
    CHECK(!ve_decode(WORD(ADDS_L, SY(64)), &instruction));
    CHECK(!ve_decode(WORD(ADDS_L, 1), &instruction));
    CHECK(ve_decode(WORD(FADD_Q, SX(2) | SY(4) | SZ(6)), &instruction));
    CHECK(!ve_decode(WORD(FADD_Q, SX(3) | SY(4) | SZ(6)), &instruction));
    CHECK(!ve_decode(WORD(FADD_Q, SX(2) | SY(5) | SZ(6)), &instruction));
    CHECK(ve_decode(WORD(VFADD_D, UINT64_C(63) << 24 | VE_VIX << 16), &instruction));
    CHECK(!ve_decode(WORD(VFADD_D, UINT64_C(64) << 24), &instruction));
    CHECK(ve_decode(WORD(PVFADD, UINT64_C(2) << 48), &instruction));
    CHECK(!ve_decode(WORD(PVFADD, UINT64_C(3) << 48), &instruction));
    CHECK(!ve_decode(WORD(VFMAD_D, UINT64_C(3) << 52), &instruction)); /* cs and cs2 */
    CHECK(!ve_decode(WORD(CVT_W_D_SX, IZ(13)), &instruction));         /* rounding */
}

static void test_any_word_has_a_text_that_fits(uint64_t *state)
{
    for (int i = 0; i < 400000; i++) {
        uint64_t word = i % 2 == 0 ? check_random(state)
                                   : random_word(state, (uint32_t)i / 2 % VE_OPERATION_COUNT);
        char text[VE_TEXT_MAX];
        CHECK(ve_disassemble(word, text, sizeof text) < sizeof text);
    }
    char none[1] = {'x'};
    CHECK(ve_disassemble(WORD(NOP, 0), none, 0) == 3);
    CHECK(none[0] == 'x');
    CHECK(ve_disassemble(WORD(NOP, 0), none, 1) == 3);
    CHECK(none[0] == '\0');
}

int main(void)
{
    uint64_t state = check_seed(1);
    test_words_have_the_assemblers_text();
    test_unknown_words_are_data();
    test_no_word_has_two_operations(&state);
    test_operands_that_do_not_exist_make_no_instruction();
    test_any_word_has_a_text_that_fits(&state);
    return 0;
}
