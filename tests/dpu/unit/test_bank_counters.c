/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of DMA instructions, over launches and while a program runs.
 *
 * build: @libdpu tsan
 */
#include "echo_program.h"

#include "dpu_bank_interface_pmc.h"

/* Per launch a read of 32 bytes and two writes of 8; if `words` is not 0, again and again. */
static struct dpu_set_t load(uint32_t nr_dpus, const char *profile)
{
    enum { AGAIN = 2, FOREVER_AT = WORDS };
    const uint64_t words[] = {
        MOVE(0, 1024),
        MOVE(1, 4096),
        W("ldma", "rri", 0, 1, 3),
        W("sdma", "rri", 0, 1, 0),
        W("sdma", "rri", 0, 1, 0),
        LOAD_WORD(2, ZERO, FOREVER_AT),
        JUMP_IF(2, 0, CC_NZ, AGAIN),
        STOP,
    };
    struct dpu_set_t set = echo_set(nr_dpus, profile);
    const struct dpu_symbol_t text = {0x80000000, sizeof words};
    OK(dpu_broadcast_to_symbol(set, text, 0, words, sizeof words, DPU_XFER_DEFAULT));
    return set;
}

static void enable(struct dpu_set_t dpu, bank_interface_pmc_event_t first,
                   bank_interface_pmc_event_t second)
{
    OK(dpu_bank_interface_pmc_enable(
        dpu, (bank_interface_pmc_config_t){BANK_INTERFACE_PMC_32BIT_MODE, first, second}));
}

static void check(struct dpu_set_t dpu, uint32_t first, uint32_t second)
{
    bank_interface_pmc_result_t result;
    memset(&result, 0xee, sizeof result);
    OK(dpu_bank_interface_pmc_read_counters(dpu, &result));
    CHECK(result.two_32bits.counter_1 == first && result.two_32bits.counter_2 == second);
}

static void test_events(void)
{
    struct dpu_set_t set = load(2, NULL), dpu = echo_dpu(set, 1);
    bank_interface_pmc_result_t result;
    OK(dpu_launch(set, DPU_SYNCHRONOUS));
    enable(dpu, BANK_INTERFACE_PMC_LDMA_INSTRUCTION, BANK_INTERFACE_PMC_SDMA_INSTRUCTION);
    check(dpu, 0, 0);
    for (uint32_t n = 1; n <= 3; n++) {
        OK(dpu_launch(set, DPU_SYNCHRONOUS));
        check(dpu, n, 2 * n);
    }
    OK(dpu_bank_interface_pmc_stop_counters(dpu));
    OK(dpu_launch(set, DPU_SYNCHRONOUS));
    OK(dpu_bank_interface_pmc_stop_counters(dpu));
    check(dpu, 3, 6);
    enable(dpu, BANK_INTERFACE_PMC_WRITE_64BIT_INSTRUCTION, BANK_INTERFACE_PMC_NONE);
    OK(dpu_launch(set, DPU_SYNCHRONOUS));
    check(dpu, 2, 0);

    const bank_interface_pmc_event_t reads = BANK_INTERFACE_PMC_READ_64BIT_INSTRUCTION;
    OK(dpu_bank_interface_pmc_enable(
        dpu, (bank_interface_pmc_config_t){BANK_INTERFACE_PMC_64BIT_MODE, reads, reads}));
    OK(dpu_launch(set, DPU_SYNCHRONOUS));
    OK(dpu_launch(set, DPU_SYNCHRONOUS));
    OK(dpu_bank_interface_pmc_read_counters(dpu, &result));
    CHECK(result.one_64bits.counter_1 == 8);

    OK(dpu_bank_interface_pmc_disable(dpu));
    CHECK_RESULT(dpu_bank_interface_pmc_read_counters(dpu, &result), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_bank_interface_pmc_read_counters(echo_dpu(set, 0), &result), DPU_ERR_INTERNAL);
    OK(dpu_free(set));
}

static void test_a_program_that_runs(void)
{
    struct dpu_set_t set = load(1, NULL), dpu = echo_dpu(set, 0);
    bank_interface_pmc_result_t seen = {0}, later;
    uint32_t forever = 1;
    OK(dpu_broadcast_to(set, "words", 0, &forever, 4, DPU_XFER_DEFAULT));
    OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    enable(dpu, BANK_INTERFACE_PMC_LDMA_INSTRUCTION, BANK_INTERFACE_PMC_SDMA_INSTRUCTION);
    while (seen.two_32bits.counter_1 < 2)
        OK(dpu_bank_interface_pmc_read_counters(dpu, &seen));
    OK(dpu_bank_interface_pmc_stop_counters(dpu));
    OK(dpu_bank_interface_pmc_read_counters(dpu, &seen));
    forever = 0;
    OK(dpu_broadcast_to(set, "words", 0, &forever, 4, DPU_XFER_PARALLEL));
    OK(dpu_sync(set));
    OK(dpu_bank_interface_pmc_read_counters(dpu, &later));
    CHECK(memcmp(&seen, &later, sizeof seen) == 0);
    OK(dpu_free(set));
}

static void test_what_is_refused(void)
{
    struct dpu_set_t set = load(1, NULL), dpu = echo_dpu(set, 0), old;
    const bank_interface_pmc_event_t ldma = BANK_INTERFACE_PMC_LDMA_INSTRUCTION;
    const bank_interface_pmc_mode_t narrow = BANK_INTERFACE_PMC_32BIT_MODE;
    const bank_interface_pmc_config_t good = {narrow, ldma, ldma};
    const bank_interface_pmc_config_t bad[] = {
        {(bank_interface_pmc_mode_t)2, ldma, ldma},
        {BANK_INTERFACE_PMC_64BIT_MODE, ldma, BANK_INTERFACE_PMC_SDMA_INSTRUCTION},
        {narrow, BANK_INTERFACE_PMC_HOST_ACTIVATE_COMMAND, ldma},
        {narrow, ldma, BANK_INTERFACE_PMC_CYCLES},
        {narrow, ldma, (bank_interface_pmc_event_t)3},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_RESULT(dpu_bank_interface_pmc_enable(dpu, bad[i]), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_bank_interface_pmc_read_counters(dpu, NULL), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_bank_interface_pmc_enable(set, good), DPU_ERR_INTERNAL);
    OK(dpu_bank_interface_pmc_stop_counters(dpu));
    OK(dpu_alloc(1, "chipId=8", &old));
    CHECK_RESULT(dpu_bank_interface_pmc_enable(echo_dpu(old, 0), good), DPU_ERR_INTERNAL);
    OK(dpu_free(old));
    OK(dpu_alloc(1, "chipId=9", &old));
    OK(dpu_bank_interface_pmc_enable(echo_dpu(old, 0), good));
    OK(dpu_free(old));
    OK(dpu_free(set));
    CHECK_RESULT(dpu_bank_interface_pmc_disable(dpu), DPU_ERR_INVALID_DPU_SET);
}

int main(void)
{
    test_events();
    test_a_program_that_runs();
    test_what_is_refused();
    return 0;
}
