/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices whose entries are lists of blocks. */
#include "cases.h"

#include <dpu_memory.h>
#include <dpu_transfer_matrix.h>

#define ROOM 3

struct list {
    uint8_t *addresses[ROOM];
    uint32_t lengths[ROOM];
    struct sg_xfer_buffer blocks;
};

static void give_list(struct dpu_transfer_matrix *matrix, struct dpu_t *dpu, struct list *list)
{
    list->blocks = (struct sg_xfer_buffer){ROOM, list->addresses, list->lengths, 0};
    dpu_transfer_matrix_add_dpu(dpu, matrix, &list->blocks);
}

static struct dpu_set_t dpu_at(struct dpu_set_t set, uint32_t number)
{
    struct dpu_set_t dpu;
    uint32_t i;
    DPU_FOREACH(set, dpu, i)
    {
        if (i == number)
            return dpu;
    }
    exit(1);
}

/* Both sides have their own blocks; a third DPU takes no part. */
CASE(blocks_of_a_matrix_follow_each_other)
{
    struct dpu_set_t set = allocate(3, NULL);
    struct dpu_rank_t *rank = set.list.ranks[0];
    struct dpu_t *first = dpu_at(set, 0).dpu, *second = dpu_at(set, 1).dpu;
    struct dpu_transfer_matrix matrix;
    struct list lists[2];
    char head[] = "0123456", tail[] = "789abcdef", whole[33] = "", parts[2][12] = {"", ""};
    dpu_transfer_matrix_clear_all(rank, &matrix);
    CHECK_EQUAL(matrix.type, DPU_DEFAULT_XFER_MATRIX);
    matrix.type = DPU_SG_XFER_MATRIX;
    matrix.offset = 24;
    matrix.size = 16;
    give_list(&matrix, first, &lists[0]);
    give_list(&matrix, second, &lists[1]);
    CHECK_OK(dpu_transfer_matrix_add_dpu_block(first, &matrix, head, 7));
    CHECK_OK(dpu_transfer_matrix_add_dpu_block(first, &matrix, NULL, 0));
    CHECK_OK(dpu_transfer_matrix_add_dpu_block(first, &matrix, tail, 9));
    /* Too much: the rest of MRAM stays as it was. */
    CHECK_OK(dpu_transfer_matrix_add_dpu_block(second, &matrix, tail, 9));
    CHECK_OK(dpu_transfer_matrix_add_dpu_block(second, &matrix, tail, 9));
    CHECK_OK(dpu_copy_to_mrams(rank, &matrix));
    CHECK_OK(dpu_copy_from_mram(first, (uint8_t *)whole, 16, 32));
    CHECK_TRUE(memcmp(whole, "\0\0\0\0\0\0\0\0000123456789abcdef\0\0\0\0\0\0\0", 32) == 0);
    CHECK_OK(dpu_copy_from_mram(second, (uint8_t *)whole, 16, 32));
    CHECK_TRUE(memcmp(whole, "\0\0\0\0\0\0\0\000789abcdef789abcd\0\0\0\0\0\0\0", 32) == 0);
    CHECK_OK(dpu_copy_from_mram(dpu_at(set, 2).dpu, (uint8_t *)whole, 24, 16));
    CHECK_EQUAL(whole[0], 0);

    give_list(&matrix, first, &lists[0]);
    dpu_transfer_matrix_clear_dpu(second, &matrix);
    CHECK_OK(dpu_transfer_matrix_add_dpu_block(first, &matrix, parts[0], 5));
    CHECK_OK(dpu_transfer_matrix_add_dpu_block(first, &matrix, parts[1], 11));
    CHECK_OK(dpu_copy_from_mrams(rank, &matrix));
    CHECK_TRUE(strcmp(parts[0], "01234") == 0 && strcmp(parts[1], "56789abcdef") == 0);

    /* Too little: what is missing becomes 0. */
    give_list(&matrix, first, &lists[0]);
    CHECK_OK(dpu_transfer_matrix_add_dpu_block(first, &matrix, tail, 3));
    CHECK_OK(dpu_copy_to_mrams(rank, &matrix));
    CHECK_OK(dpu_copy_from_mram(first, (uint8_t *)whole, 24, 16));
    CHECK_TRUE(memcmp(whole, "789\0\0\0\0\0\0\0\0\0\0\0\0", 16) == 0);
    CHECK_OK(dpu_free(set));
}

CASE(blocks_are_for_matrices_that_have_lists)
{
    struct dpu_set_t set = allocate(1, NULL);
    struct dpu_rank_t *rank = set.list.ranks[0];
    struct dpu_t *dpu = first_dpu(set).dpu;
    struct dpu_transfer_matrix matrix = {.size = 8};
    struct list list;
    uint64_t word = 0;
    CHECK_EQUAL(dpu_transfer_matrix_add_dpu_block(dpu, &matrix, &word, 8), DPU_ERR_INTERNAL);
    CHECK_DETAIL("not of type DPU_SG_XFER_MATRIX");
    matrix.type = DPU_SG_XFER_MATRIX;
    CHECK_EQUAL(dpu_transfer_matrix_add_dpu_block(dpu, &matrix, &word, 8), DPU_ERR_INTERNAL);
    CHECK_DETAIL("no list of blocks");
    give_list(&matrix, dpu, &list);
    CHECK_EQUAL(dpu_transfer_matrix_add_dpu_block(NULL, &matrix, &word, 8),
                DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpu_transfer_matrix_add_dpu_block(dpu, NULL, &word, 8), DPU_ERR_INTERNAL);
    for (int i = 0; i < ROOM; i++)
        CHECK_OK(dpu_transfer_matrix_add_dpu_block(dpu, &matrix, NULL, 8));
    CHECK_EQUAL(dpu_transfer_matrix_add_dpu_block(dpu, &matrix, &word, 8), DPU_ERR_INTERNAL);
    CHECK_DETAIL("room for 3 blocks");
    CHECK_EQUAL(dpu_copy_to_mrams(rank, &matrix), DPU_ERR_INVALID_MEMORY_TRANSFER);
    CHECK_DETAIL("block 0 of DPU 0 is NULL");
    CHECK_EQUAL(dpu_copy_to_wram_for_matrix(rank, &matrix), DPU_ERR_SG_NOT_MRAM_SYMBOL);
    CHECK_EQUAL(dpu_copy_from_iram_for_matrix(rank, &matrix), DPU_ERR_SG_NOT_MRAM_SYMBOL);
    matrix.size = 12;
    CHECK_EQUAL(dpu_copy_from_mrams(rank, &matrix), DPU_ERR_INVALID_MRAM_ACCESS);
    CHECK_OK(dpu_free(set));
}
