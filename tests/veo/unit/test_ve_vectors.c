/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vector instructions at their edges: lengths, masks, exceptions, memory.
 *
 * build: @ve_machine
 */
#include "csrc/veo/machine/vector.h"
#include "tests/support/check.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static struct ve_core *core;

/* A new core whose v1 and v2 are 1000 + i and 1 + i. */
static void start(uint32_t vl)
{
    ve_core_destroy(core);
    core = ve_core_create();
    CHECK(core != NULL);
    core->vl = vl;
    for (uint32_t i = 0; i < VE_VECTOR_LENGTH; i++) {
        core->v[1][i] = 1000 + i;
        core->v[2][i] = 1 + i;
    }
}

/* The word of an operation on vx = v0, vy = v1, vz = v2, vw = v3, and more bits. */
static uint64_t word_of(enum ve_operation operation, uint64_t more)
{
    return ve_operation_info(operation)->match | more;
}

#define VX(number) ((uint64_t)(number) << 24)
#define VY(number) ((uint64_t)(number) << 16)
#define VZ(number) ((uint64_t)(number) << 8)
#define MASK(number) ((uint64_t)(number) << 48)
#define SY(number) (UINT64_C(1) << 47 | (uint64_t)(number) << 40)
#define SZ(number) (UINT64_C(1) << 39 | (uint64_t)(number) << 32)

/* Executes a word with all tables that the processor has; the last result stays. */
static enum ve_fault_kind execute(uint64_t word)
{
    struct ve_instruction instruction;
    CHECK(ve_decode(word, &instruction));
    ve_vector_table table = NULL;
    for (int level = 0; level < VE_VECTOR_LEVELS; level++)
        if (ve_vector_executors((enum ve_vector_level)level) != NULL)
            table = ve_vector_executors((enum ve_vector_level)level);
    core->stopped = false;
    core->fault.kind = VE_FAULT_NONE;
    table[instruction.operation](core, &instruction);
    return core->fault.kind;
}

static void test_every_vector_operation_has_an_executor_in_every_table(void)
{
    static const ve_vector_table tables[] = {ve_vectors_plain, ve_vectors_avx2, ve_vectors_avx512};
    static const enum ve_operation vectors[] = {
#define INSTRUCTION(operation, ...) VE_OP_##operation,
#include "veo/isa/vector.def"
#undef INSTRUCTION
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        for (size_t level = 0; level < 3; level++)
            CHECK(tables[level][vectors[i]] != NULL);
}

static void test_elements_from_the_length_on_are_kept(void)
{
    start(3);
    CHECK(execute(word_of(VE_OP_VADDS_L, VX(1) | VY(1) | VZ(2))) == VE_FAULT_NONE);
    CHECK(core->v[1][2] == 1005 && core->v[1][3] == 1003 && core->v[1][255] == 1255);

    start(0);
    execute(word_of(VE_OP_VADDS_L, VX(1) | VY(1) | VZ(2)));
    CHECK(core->v[1][0] == 1000);
}

static void test_a_field_of_255_is_the_register_that_vix_names(void)
{
    start(256);
    core->vix = 2;
    execute(word_of(VE_OP_VADDS_L, VX(0) | VY(255) | VZ(255)));
    CHECK(core->v[0][0] == 2 && core->v[0][255] == 512);
}

static void test_mask_0_stays_all_ones(void)
{
    start(256);
    execute(word_of(VE_OP_XORM, VX(0) | VY(1) | VZ(1)));
    execute(word_of(VE_OP_VFMK_L, VX(0) | VY(2) | VZ(2)));
    CHECK(core->vm[0][0] == UINT64_MAX && core->vm[0][3] == UINT64_MAX);
}

static void test_a_comparison_keeps_mask_bits_from_the_length_on(void)
{
    start(65);
    core->vm[3][1] = 1;
    core->v[2][64] = 0;
    execute(word_of(VE_OP_VFMK_L, VX(3) | VY(1) | VZ(2)));
    CHECK(core->vm[3][0] == UINT64_MAX && core->vm[3][1] == 1 && core->vm[3][2] == 0);
}

static void test_masks_of_a_packed_operation_are_of_its_halves(void)
{
    start(2);
    core->vm[2][0] = UINT64_C(1) << 63;
    core->vm[3][0] = UINT64_C(1) << 62;
    core->s[5] = UINT64_C(0x1111111122222222);
    execute(word_of(VE_OP_PVBRD, VX(1) | SY(5) | MASK(2)));
    CHECK(core->v[1][0] == (UINT64_C(0x11111111) << 32 | 1000));
    CHECK(core->v[1][1] == 0x22222222);
}

static void test_division_by_zero_gives_0_and_raises_if_enabled(void)
{
    start(4);
    core->v[2][1] = 0;
    CHECK(execute(word_of(VE_OP_VDIVS_L, VX(3) | VY(1) | VZ(2))) == VE_FAULT_NONE);
    CHECK(core->v[3][0] == 1000 && core->v[3][1] == 0 && (core->psw & VE_PSW_DIVIDE) != 0);

    core->psw |= (uint64_t)VE_PSW_DIVIDE << VE_PSW_ENABLE_SHIFT;
    CHECK(execute(word_of(VE_OP_VDIVS_L, VX(3) | VY(1) | VZ(2))) == VE_FAULT_DIVE);
}

static void test_the_least_number_divided_by_minus_1_overflows(void)
{
    start(1);
    core->v[1][0] = (uint64_t)INT64_MIN;
    core->v[2][0] = UINT64_MAX;
    execute(word_of(VE_OP_VDIVS_L, VX(3) | VY(1) | VZ(2)));
    CHECK(core->v[3][0] == (uint64_t)INT64_MIN && (core->psw & VE_PSW_FIXED_OVERFLOW) != 0);
}

static void test_a_masked_division_by_zero_does_nothing(void)
{
    start(1);
    core->v[2][0] = 0;
    execute(word_of(VE_OP_VDIVU_L, VX(1) | VY(1) | VZ(2) | MASK(4)));
    CHECK(core->v[1][0] == 1000 && (core->psw & VE_PSW_FLAGS) == 0);
}

static void set_doubles(unsigned number, double value)
{
    for (uint32_t i = 0; i < VE_VECTOR_LENGTH; i++)
        memcpy(&core->v[number][i], &value, sizeof value);
}

static double double_of(unsigned number)
{
    double value;
    memcpy(&value, &core->v[number][0], sizeof value);
    return value;
}

static void test_operations_raise_what_they_may_and_no_more(void)
{
    start(256);
    set_doubles(1, 1.0);
    set_doubles(2, 0.0);
    feclearexcept(FE_ALL_EXCEPT);
    execute(word_of(VE_OP_VFDIV_D, VX(3) | VY(1) | VZ(2) | MASK(4)));
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
    execute(word_of(VE_OP_VFDIV_D, VX(3) | VY(1) | VZ(2)));
    CHECK(fetestexcept(FE_ALL_EXCEPT) == FE_DIVBYZERO && isinf(double_of(3)));

    feclearexcept(FE_ALL_EXCEPT);
    set_doubles(1, 1e300);
    set_doubles(2, 3.0);
    execute(word_of(VE_OP_VFCMP_D, VX(3) | VY(1) | VZ(2)));
    execute(word_of(VE_OP_VRCP_D, VX(3) | VY(2)));
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
    set_doubles(2, -1.0);
    execute(word_of(VE_OP_VRSQRT_D_NEX, VX(3) | VY(2)));
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0 && isnan(double_of(3)));
    execute(word_of(VE_OP_VRSQRT_D, VX(3) | VY(2)));
    CHECK((fetestexcept(FE_ALL_EXCEPT) & FE_INVALID) != 0);
    feclearexcept(FE_ALL_EXCEPT);
}

static void test_a_conversion_that_does_not_fit_is_invalid(void)
{
    start(1);
    set_doubles(1, 3e9);
    execute(word_of(VE_OP_VCVT_W_D_ZX, VX(3) | VY(1)));
    CHECK(core->v[3][0] == 0x80000000 && (core->psw & VE_PSW_FLAGS) == VE_PSW_INVALID);
    core->psw &= ~(uint64_t)VE_PSW_FLAGS;
    set_doubles(1, 2.5);
    execute(word_of(VE_OP_VCVT_W_D_SX, VX(3) | VY(1) | VZ(VE_ROUND_AWAY)));
    CHECK(core->v[3][0] == 3 && (core->psw & VE_PSW_FLAGS) == VE_PSW_INEXACT);
}

static void test_rounding_is_that_of_the_host_while_a_core_runs(void)
{
    start(256);
    set_doubles(1, 1.0);
    set_doubles(2, 0x1p-60);
    fesetround(FE_UPWARD);
    execute(word_of(VE_OP_VFADD_D, VX(3) | VY(1) | VZ(2)));
    fesetround(FE_TONEAREST);
    CHECK(double_of(3) > 1.0);
}

static void test_sums_are_in_the_order_of_elements(void)
{
    start(3);
    set_doubles(1, 1.0);
    double large = 0x1p53;
    memcpy(&core->v[1][0], &large, sizeof large);
    execute(word_of(VE_OP_VFSUM_D, VX(3) | VY(1)));
    CHECK(double_of(3) == 0x1p53);
}

static void test_an_extreme_of_nothing_writes_nothing(void)
{
    start(256);
    execute(word_of(VE_OP_VRMAXS_L_FST, VX(1) | VY(2) | MASK(4)));
    CHECK(core->v[1][0] == 1000 && core->v[1][1] == 1001);
    execute(word_of(VE_OP_VRMAXS_L_FST, VX(1) | VY(2)));
    CHECK(core->v[1][0] == 256 && core->v[1][1] == 255);
}

static void test_misaligned_accesses_are_exceptions_with_their_address(void)
{
    static _Alignas(8) uint64_t memory[300];
    start(2);
    core->s[3] = 8;
    core->s[4] = (uint64_t)(uintptr_t)memory + 4;
    CHECK(execute(word_of(VE_OP_VLD, VX(0) | SY(3) | SZ(4) | UINT64_C(1) << 54)) == VE_FAULT_ILSA);
    CHECK(core->fault.address == core->s[4]);

    core->s[3] = 4;
    core->s[4] = (uint64_t)(uintptr_t)memory;
    CHECK(execute(word_of(VE_OP_VST, VX(1) | SY(3) | SZ(4) | UINT64_C(1) << 54)) == VE_FAULT_ILSA);
    CHECK(core->fault.address == core->s[4] + 4);
    CHECK(memory[0] == 0);

    core->v[2][0] = (uint64_t)(uintptr_t)memory;
    core->v[2][1] = (uint64_t)(uintptr_t)memory + 2;
    CHECK(execute(word_of(VE_OP_VGTU, VX(0) | VY(2) | SZ(0) | UINT64_C(1) << 54)) == VE_FAULT_ILSA);
    CHECK(core->fault.address == core->v[2][1]);
}

static void test_a_length_of_0_reads_no_memory(void)
{
    start(0);
    core->s[4] = 1;
    CHECK(execute(word_of(VE_OP_VLD, VX(0) | SY(3) | SZ(4) | UINT64_C(1) << 54)) == VE_FAULT_NONE);
}

static void test_of_equal_addresses_the_last_element_is_stored(void)
{
    static _Alignas(8) uint64_t memory[1];
    start(256);
    for (uint32_t i = 0; i < VE_VECTOR_LENGTH; i++)
        core->v[2][i] = (uint64_t)(uintptr_t)memory;
    execute(word_of(VE_OP_VSC, VX(1) | VY(2) | SZ(0) | UINT64_C(1) << 54));
    CHECK(memory[0] == 1255);
}

int main(void)
{
    test_every_vector_operation_has_an_executor_in_every_table();
    test_elements_from_the_length_on_are_kept();
    test_a_field_of_255_is_the_register_that_vix_names();
    test_mask_0_stays_all_ones();
    test_a_comparison_keeps_mask_bits_from_the_length_on();
    test_masks_of_a_packed_operation_are_of_its_halves();
    test_division_by_zero_gives_0_and_raises_if_enabled();
    test_the_least_number_divided_by_minus_1_overflows();
    test_a_masked_division_by_zero_does_nothing();
    test_operations_raise_what_they_may_and_no_more();
    test_a_conversion_that_does_not_fit_is_invalid();
    test_rounding_is_that_of_the_host_while_a_core_runs();
    test_sums_are_in_the_order_of_elements();
    test_an_extreme_of_nothing_writes_nothing();
    test_misaligned_accesses_are_exceptions_with_their_address();
    test_a_length_of_0_reads_no_memory();
    test_of_equal_addresses_the_last_element_is_stored();
    ve_core_destroy(core);
    return 0;
}
