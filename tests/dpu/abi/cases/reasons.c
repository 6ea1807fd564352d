/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that fail, of whose reasons test_reasons.py reads on stderr. */
#include "tests/dpu/abi/cases/cases.h"

CASE(asks_for_what_is_not_there)
{
    struct dpu_set_t set;
    uint32_t word = 0;
    CHECK_EQUAL(dpu_alloc(262144, NULL, &set), DPU_ERR_ALLOCATION);
    CHECK_EQUAL(dpu_alloc(262145, NULL, &set), DPU_ERR_ALLOCATION);
    CHECK_EQUAL(dpu_alloc(1, "chipId=none", &set), DPU_ERR_INVALID_PROFILE);
    CHECK_OK(dpu_alloc(1, NULL, &set));
    CHECK_EQUAL(dpu_load(set, "./nowhere", NULL), DPU_ERR_SYSTEM);
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_NO_PROGRAM_LOADED);
    load_command(set, COUNT);
    CHECK_EQUAL(dpu_copy_to(set, "counter", 2, &word, 4), DPU_ERR_INVALID_SYMBOL_ACCESS);
    CHECK_OK(dpu_free(set));
}

CASE(asks_for_real_dpus)
{
    static const char *const profiles[] = {"backend=hw", "backend=hw,rankPath=/dev/dpu_rank0",
                                           "backend=spi", "backend=scenario", "backend=model"};
    struct dpu_set_t set;
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
        printf("%d\n", (int)dpu_alloc(1, profiles[i], &set));
}

CASE(misspells_symbols)
{
    struct dpu_set_t set = allocate(1, NULL);
    load_command(set, COUNT);
    uint32_t word;
    char name[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "nosuch%d", i / 100);
        CHECK_EQUAL(dpu_copy_from(first_dpu(set), name, 0, &word, 4), DPU_ERR_UNKNOWN_SYMBOL);
    }
    CHECK_OK(dpu_free(set));
}

CASE(fails_in_an_asynchronous_launch)
{
    struct dpu_set_t set = allocate(2, NULL);
    load_command(set, ASSERT);
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_TRUE(dpu_sync(set) != DPU_OK);
    CHECK_OK(dpu_free(set));
}
