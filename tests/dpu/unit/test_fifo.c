/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FIFOs and other transfers beside a program that runs.
 *
 * build: @libdpu tsan
 */
#include "echo_program.h"

#include "dpu_fifo.h"
#include "dpu_management.h"
#include "dpu_memory.h"

static void set_active(struct dpu_set_t set, uint32_t value)
{
    OK(dpu_broadcast_to(set, "active", 0, &value, 4, DPU_XFER_PARALLEL));
}

static void test_links(void)
{
    struct dpu_set_t set = echo_set(2, NULL), empty;
    struct dpu_fifo_link_t link;
    static const struct {
        char name[16];
        dpu_error_t error;
    } cases[] = {
        {"input", DPU_OK},
        {"nothing", DPU_ERR_UNKNOWN_SYMBOL},
        {"alone", DPU_ERR_UNKNOWN_SYMBOL}, /* without __alone_data */
        {"wrong", DPU_ERR_INVALID_WRAM_ACCESS},
        {"buffer", DPU_ERR_INVALID_WRAM_ACCESS}, /* in MRAM */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[16];
        memcpy(name, cases[i].name, sizeof name);
        CHECK_RESULT(dpu_link_input_fifo(set, &link, name), cases[i].error);
        OK(dpu_fifo_link_free(&link));
        CHECK_RESULT(dpu_link_output_fifo(echo_dpu(set, 1), &link, name), cases[i].error);
        OK(dpu_fifo_link_free(&link));
        OK(dpu_fifo_link_free(&link));
    }
    char name[] = "input";
    CHECK_RESULT(dpu_fifo_push_xfer(set, &link, DPU_XFER_DEFAULT), DPU_ERR_INVALID_DPU_SET);
    OK(dpu_alloc(1, NULL, &empty));
    CHECK_RESULT(dpu_link_input_fifo(empty, &link, name), DPU_ERR_NO_PROGRAM_LOADED);
    OK(dpu_link_input_fifo(set, &link, name));
    CHECK_RESULT(dpu_fifo_prepare_xfer(empty, &link, name), DPU_ERR_INVALID_DPU_SET);
    CHECK(get_fifo_size(&link, empty) == 0 && get_fifo_elem_index(&link, empty, 1) == 0);
    CHECK(get_fifo_elem_index(NULL, echo_dpu(set, 1), 1) == 0);
    OK(dpu_fifo_link_free(&link));
    OK(dpu_free(empty));
    OK(dpu_free(set));
}

static void check_positions(struct dpu_set_t dpu, const struct dpu_fifo_link_t *link,
                            uint64_t pushed)
{
    struct dpu_fifo_rank_t *fifo = link->rank_fifos;
    CHECK(get_fifo_abs_rd_ptr(fifo, dpu.dpu) == 0 && get_fifo_rd_ptr(fifo, dpu.dpu) == 0);
    CHECK(get_fifo_abs_wr_ptr(fifo, dpu.dpu) == pushed);
    CHECK(get_fifo_wr_ptr(fifo, dpu.dpu) == pushed % FIFO_COUNT);
    CHECK(get_fifo_max_size(dpu_get_rank(dpu.dpu), fifo) == pushed);
    CHECK(get_fifo_abs_wr_ptr(NULL, dpu.dpu) == 0 && get_fifo_abs_wr_ptr(fifo, NULL) == 0);
    CHECK(get_fifo_wr_ptr(NULL, dpu.dpu) == 0 && get_fifo_rd_ptr(fifo, NULL) == 0);
    CHECK(get_fifo_max_size(NULL, fifo) == 0);
    CHECK(get_fifo_max_size(dpu_get_rank(dpu.dpu), NULL) == 0);
}

/* Nobody takes elements: eight fit. */
static void test_a_full_fifo(void)
{
    struct dpu_set_t set = echo_set(2, NULL);
    struct dpu_fifo_link_t link;
    char name[] = "input";
    uint32_t element[2] = {0, 7}, seen[16];
    OK(dpu_link_input_fifo(set, &link, name));
    dpu_fifo_set_push_max_retries(&link, set, 2);
    dpu_fifo_set_time_for_push_retries(&link, set, 1);
    check_positions(echo_dpu(set, 1), &link, 0);
    OK(dpu_fifo_prepare_xfer(set, &link, element));
    for (element[0] = 0; element[0] < FIFO_COUNT; element[0]++) {
        OK(dpu_fifo_push_xfer(set, &link, DPU_XFER_NO_RESET));
        check_positions(echo_dpu(set, 1), &link, element[0] + 1);
    }
    CHECK_RESULT(dpu_fifo_push_xfer(set, &link, DPU_XFER_DEFAULT), DPU_ERR_WRAM_FIFO_FULL);
    /* Nothing is prepared any more. */
    OK(dpu_fifo_push_xfer(set, &link, DPU_XFER_DEFAULT));
    OK(dpu_copy_from(echo_dpu(set, 1), "__input_data", 0, seen, sizeof seen));
    for (uint32_t i = 0; i < FIFO_COUNT; i++)
        CHECK(seen[2 * i] == i && seen[2 * i + 1] == 7);
    OK(dpu_fifo_link_free(&link));
    OK(dpu_free(set));
}

/* All that a DPU has given, which is the numbers from 1 on. */
struct received {
    uint32_t ring[2 * FIFO_COUNT];
    uint32_t count;
};

static void receive(struct dpu_set_t set, struct dpu_fifo_link_t *link, struct received *received)
{
    struct dpu_set_t dpu;
    uint32_t i;
    DPU_FOREACH(set, dpu, i)
    OK(dpu_fifo_prepare_xfer(dpu, link, received[i].ring));
    OK(dpu_fifo_push_xfer(set, link, DPU_XFER_DEFAULT));
    DPU_FOREACH(set, dpu, i)
    {
        uint16_t count = get_fifo_size(link, dpu);
        CHECK(count <= FIFO_COUNT);
        for (uint8_t j = 0; j < count; j++) {
            uint32_t seen[2];
            uint8_t index = get_fifo_elem_index(link, dpu, j);
            memcpy(seen, get_fifo_elem(link, dpu, (uint8_t *)received[i].ring, j), sizeof seen);
            CHECK(index == received[i].count % FIFO_COUNT);
            CHECK(memcmp(seen, &received[i].ring[2 * index], sizeof seen) == 0);
            CHECK(seen[0] == ++received[i].count && seen[1] == i);
        }
    }
}

static void test_a_program_that_runs(const char *profile, uint32_t nr_dpus, uint32_t elements)
{
    struct dpu_set_t set = echo_set(nr_dpus, profile), dpu;
    struct dpu_fifo_link_t in, out;
    char in_name[] = "input", out_name[] = "output";
    uint32_t i, sent[64][2];
    static struct received received[64];
    memset(received, 0, sizeof received);
    OK(dpu_link_input_fifo(set, &in, in_name));
    OK(dpu_link_output_fifo(set, &out, out_name));
    dpu_fifo_set_push_max_retries(&in, set, 100000);
    set_active(set, 1);
    OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    for (uint32_t n = 0; n < elements; n++) {
        DPU_FOREACH(set, dpu, i)
        {
            sent[i][0] = n;
            sent[i][1] = i;
            OK(dpu_fifo_prepare_xfer(dpu, &in, sent[i]));
        }
        OK(dpu_fifo_push_xfer(set, &in, n % 2 != 0 ? DPU_XFER_ASYNC : DPU_XFER_DEFAULT));
        if (n % 3 == 2)
            receive(set, &out, received);
    }
    for (bool complete = false; !complete;) {
        receive(set, &out, received);
        complete = true;
        for (i = 0; i < nr_dpus; i++)
            complete = complete && received[i].count == elements;
    }
    bool done = true;
    OK(dpu_status(set, &done, NULL));
    CHECK(!done);
    set_active(set, 0);
    OK(dpu_sync(set));
    OK(dpu_fifo_link_free(&in));
    OK(dpu_fifo_link_free(&out));
    OK(dpu_free(set));
}

/* One of three DPUs takes no part. */
static void test_ranks_of_a_program_that_runs(void)
{
    struct dpu_set_t set = echo_set(3, NULL);
    struct dpu_rank_t *rank = set.list.ranks[0];
    struct dpu_fifo_link_t in, out;
    struct dpu_transfer_matrix sent = {0}, received = {0};
    char in_name[] = "input", out_name[] = "output";
    uint32_t element[2] = {41, 5}, rings[3][2 * FIFO_COUNT];
    uint16_t counts[3] = {0};
    memset(rings, 0xee, sizeof rings);
    OK(dpu_link_input_fifo(set, &in, in_name));
    OK(dpu_link_output_fifo(set, &out, out_name));
    set_active(set, 1);
    OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    for (uint32_t i = 0; i < 3; i += 2) {
        dpu_transfer_matrix_add_dpu(echo_dpu(set, i).dpu, &sent, element);
        dpu_transfer_matrix_add_dpu(echo_dpu(set, i).dpu, &received, rings[i]);
    }
    OK(dpu_copy_to_wram_fifo(rank, in.rank_fifos, &sent));
    while (counts[0] == 0 || counts[2] == 0) {
        OK(dpu_copy_from_wram_fifo(rank, out.rank_fifos, &received));
        for (uint32_t i = 0; i < 3; i++)
            counts[i] = (uint16_t)(counts[i] + get_fifo_size(&out, echo_dpu(set, i)));
    }
    CHECK(counts[0] == 1 && counts[1] == 0 && counts[2] == 1);
    CHECK(rings[0][0] == 42 && rings[0][1] == 5 && rings[2][0] == 42 && rings[2][1] == 5);
    CHECK(rings[1][0] == 0xeeeeeeee);
    set_active(set, 0);
    OK(dpu_sync(set));

    /* Nobody takes elements any more. */
    dpu_fifo_set_push_max_retries(&in, set, 0);
    for (uint32_t n = 0; n < FIFO_COUNT; n++)
        OK(dpu_copy_to_wram_fifo(rank, in.rank_fifos, &sent));
    CHECK_RESULT(dpu_copy_to_wram_fifo(rank, in.rank_fifos, &sent), DPU_ERR_WRAM_FIFO_FULL);
    dpu_transfer_matrix_clear_all(rank, &sent);
    OK(dpu_copy_to_wram_fifo(rank, in.rank_fifos, &sent));
    OK(dpu_fifo_link_free(&in));
    OK(dpu_fifo_link_free(&out));
    OK(dpu_free(set));
}

/* The host may have changed the structures, and they may be its own. */
static void test_fifos_that_are_none(void)
{
    struct dpu_set_t set = echo_set(1, NULL);
    struct dpu_rank_t *rank = set.list.ranks[0];
    struct dpu_fifo_link_t link;
    struct dpu_transfer_matrix matrix = {0}, lists = {.type = DPU_SG_XFER_MATRIX};
    struct dpu_fifo_rank_t *fifo, was;
    char name[] = "input";
    uint32_t element[2] = {0};
    OK(dpu_link_input_fifo(set, &link, name));
    fifo = link.rank_fifos;
    was = *fifo;
    dpu_transfer_matrix_add_dpu(echo_dpu(set, 0).dpu, &matrix, element);
    CHECK_RESULT(dpu_copy_to_wram_fifo(NULL, fifo, &matrix), DPU_ERR_INVALID_DPU_SET);
    CHECK_RESULT(dpu_copy_to_wram_fifo(rank, NULL, &matrix), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_copy_from_wram_fifo(rank, fifo, NULL), DPU_ERR_INVALID_MEMORY_TRANSFER);
    CHECK_RESULT(dpu_copy_from_wram_fifo(rank, fifo, &lists), DPU_ERR_INVALID_MEMORY_TRANSFER);
    for (int i = 0; i < 4; i++) {
        *fifo = was;
        if (i == 0)
            fifo->dpu_fifo_ptr_size = 11;
        else if (i == 1)
            fifo->dpu_fifo_address = 0x4000 - 1;
        else if (i == 2)
            fifo->dpu_fifo_data_size = UINT32_MAX;
        else
            fifo->fifo_pointers_matrix.offset = 0x4000 - 3;
        CHECK_RESULT(dpu_copy_to_wram_fifo(rank, fifo, &matrix), DPU_ERR_INVALID_WRAM_ACCESS);
        CHECK_RESULT(dpu_copy_from_wram_fifo(rank, fifo, &matrix), DPU_ERR_INVALID_WRAM_ACCESS);
        CHECK_RESULT(dpu_fifo_push_xfer(set, &link, DPU_XFER_DEFAULT), DPU_ERR_INVALID_WRAM_ACCESS);
    }
    *fifo = was;
    OK(dpu_copy_to_wram_fifo(rank, fifo, &matrix));
    OK(dpu_fifo_link_free(&link));
    OK(dpu_free(set));
}

static void test_prepared_transfers_beside_a_program(void)
{
    struct dpu_set_t set = echo_set(3, NULL), dpu;
    uint32_t values[3] = {11, 22, 33}, back[3] = {0}, i;
    bool done = true;
    set_active(set, 1);
    OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    DPU_FOREACH(set, dpu, i)
    OK(dpu_prepare_xfer(dpu, &values[i]));
    OK(dpu_push_xfer(set, DPU_XFER_TO_DPU, "words", 0, 4, DPU_XFER_PARALLEL | DPU_XFER_ASYNC));
    DPU_FOREACH(set, dpu, i)
    OK(dpu_prepare_xfer(dpu, &back[i]));
    OK(dpu_push_xfer(set, DPU_XFER_FROM_DPU, "words", 0, 4, DPU_XFER_PARALLEL));
    CHECK(memcmp(values, back, sizeof back) == 0);
    OK(dpu_status(set, &done, NULL));
    CHECK(!done);
    set_active(set, 0);
    OK(dpu_sync(set));
    OK(dpu_status(set, &done, NULL));
    CHECK(done);
    OK(dpu_free(set));
}

int main(void)
{
    test_links();
    test_a_full_fifo();
    test_a_program_that_runs(NULL, 1, 100);
    test_a_program_that_runs("softEngine=turns", 1, 20);
    test_a_program_that_runs("softEngine=drift", 9, 20);
    test_a_program_that_runs("softEngine=translated", 1, 20);
#ifdef __x86_64__
    /* Groups of DPUs that others work on between their slices. */
    if (__builtin_cpu_supports("avx2"))
        test_a_program_that_runs("softEngine=lockstep,softThreads=3", 24, 20);
#endif
    test_ranks_of_a_program_that_runs();
    test_fifos_that_are_none();
    test_prepared_transfers_beside_a_program();
    return 0;
}
