/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers that the threads of the library share. */
#include "cases.h"

#define DPUS 70
#define SIZE 65536

static const struct dpu_symbol_t mram = {0x08000000, 64 << 20};

/* Two DPUs get too little. */
static bool short_for_some(struct sg_block_info *out, uint32_t dpu, uint32_t block, void *argument)
{
    uint8_t *bytes = *(uint8_t **)argument;
    bool too_short = dpu == 9 || dpu == 41;
    *out = (struct sg_block_info){bytes + (size_t)dpu * SIZE, too_short ? SIZE - 8 : SIZE};
    return block == 0;
}

CASE(error_of_a_transfer_is_that_of_the_first_dpu)
{
    struct dpu_set_t set = allocate(DPUS, "sgXferEnable=true"), dpu;
    uint8_t *sent = malloc((size_t)DPUS * SIZE), *seen = malloc(SIZE);
    uint32_t i;
    CHECK_TRUE(sent != NULL && seen != NULL);
    for (size_t k = 0; k < (size_t)DPUS * SIZE; k++)
        sent[k] = (uint8_t)(k % 251 + k / SIZE);
    get_block_t blocks = {short_for_some, &sent, sizeof sent};
    CHECK_EQUAL(
        dpu_push_sg_xfer_symbol(set, DPU_XFER_TO_DPU, mram, 0, SIZE, &blocks, DPU_SG_XFER_DEFAULT),
        DPU_ERR_SG_LENGTH_MISMATCH);
    CHECK_DETAIL("DPU 9 ");
    /* The others have theirs. */
    DPU_FOREACH(set, dpu, i)
    {
        CHECK_OK(dpu_copy_from_symbol(dpu, mram, 0, seen, SIZE));
        CHECK_EQUAL(memcmp(seen, sent + (size_t)i * SIZE, SIZE) == 0, i != 9 && i != 41);
    }
    free(sent);
    free(seen);
    CHECK_OK(dpu_free(set));
}

/* Some of the last DPUs of a rank are not there. */
CASE(large_transfers_reach_every_dpu_once)
{
    static const uint32_t counts[] = {2, 33, 37, 63, 64, DPUS};
    uint8_t *sent = malloc((size_t)DPUS * SIZE), *seen = malloc((size_t)DPUS * SIZE);
    CHECK_TRUE(sent != NULL && seen != NULL);
    for (size_t k = 0; k < (size_t)DPUS * SIZE; k++)
        sent[k] = (uint8_t)(k % 249 + k / SIZE);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        struct dpu_set_t set = allocate(counts[k], NULL), dpu;
        uint32_t i;
        memset(seen, 0, (size_t)DPUS * SIZE);
        DPU_FOREACH(set, dpu, i)
        CHECK_OK(dpu_prepare_xfer(dpu, sent + (size_t)i * SIZE));
        CHECK_OK(dpu_push_xfer_symbol(set, DPU_XFER_TO_DPU, mram, 0, SIZE, DPU_XFER_DEFAULT));
        DPU_FOREACH(set, dpu, i)
        CHECK_OK(dpu_prepare_xfer(dpu, seen + (size_t)i * SIZE));
        CHECK_OK(dpu_push_xfer_symbol(set, DPU_XFER_FROM_DPU, mram, 0, SIZE, DPU_XFER_ASYNC));
        CHECK_OK(dpu_sync(set));
        CHECK_TRUE(memcmp(seen, sent, (size_t)counts[k] * SIZE) == 0);
        CHECK_OK(dpu_free(set));
    }
    free(sent);
    free(seen);
}

/* 65 DPUs in two ranks: for the modelled time of each call. */
CASE(launches_and_transfers)
{
    struct dpu_set_t set = allocate(65, NULL), dpu;
    uint32_t index, value = COUNT;
    uint64_t block[128] = {0};
    static uint64_t blocks[65][128];
    load_loop(set, 1000);

    CHECK_OK(dpu_broadcast_to(set, "mbuf", 0, block, sizeof block, DPU_XFER_DEFAULT));
    DPU_FOREACH(set, dpu, index)
    {
        CHECK_OK(dpu_prepare_xfer(dpu, index == 3 ? NULL : blocks[index]));
    }
    CHECK_OK(dpu_push_xfer(set, DPU_XFER_TO_DPU, "mbuf", 0, 1024, DPU_XFER_ASYNC));
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpu_sync(set));
    CHECK_OK(dpu_launch(first_dpu(set), DPU_SYNCHRONOUS));
    CHECK_OK(dpu_copy_from(first_dpu(set), "counter", 0, &value, sizeof value));
    CHECK_OK(dpu_copy_to(first_dpu(set), "mbuf", 0, block, 512));
    DPU_FOREACH(set, dpu, index)
    {
        CHECK_OK(dpu_prepare_xfer(dpu, blocks[index]));
    }
    CHECK_OK(dpu_push_xfer(set, DPU_XFER_FROM_DPU, "mbuf", 0, 1024, DPU_XFER_DEFAULT));
    /* Without dpu_free(). */
}
