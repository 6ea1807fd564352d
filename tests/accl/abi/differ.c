/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * Ranks that make different collective calls: the error says who called what. usage: differ CASE
 */
#include "ranks.h"

static char job[64];

struct made {
    uint32_t operation, root;
    uint64_t count;
};

static uint32_t call_it(struct rank *r, accl_buffer *b, const struct made *made)
{
    struct accl_call call = make_call(made->operation, made->count, ACCL_FLOAT32);
    call.root_src_dst = made->root;
    call.address[0] = call.address[2] = accl_buffer_address(b);
    return run_call(r, &call);
}

/* Until it fails: whoever waits for nobody learns of it in its next call. */
static void call_both(uint32_t rank, uint32_t n, const struct made *made, const char *expected)
{
    struct rank r;
    accl_buffer *b;
    rank_open(&r, job, rank, n, ACCL_MEMORY_UNIFIED, 4, 1024);
    set_timeout(&r, 20000);
    CHECK(accl_buffer_create(r.device, 4096, 0, ACCL_BUFFER_ZERO, &b) == ACCL_OK);
    uint32_t bits = call_it(&r, b, made);
    if (!bits)
        bits = call_it(&r, b, &(struct made){.operation = ACCL_BARRIER});
    if (bits != ACCL_ERROR(CALL_MISMATCH_ERROR) || !strstr(accl_error_message(), expected)) {
        fprintf(stderr, "rank %u has 0x%x: %s\nand not: %s\n", rank, bits, accl_error_message(),
                expected);
        _Exit(1);
    }
    rank_close(&r);
    accl_buffer_free(b);
}

static void roots(uint32_t rank, uint32_t n)
{
    call_both(rank, n, &(struct made){ACCL_BCAST, rank, 10},
              "rank 0 BCAST with root 0, rank 1 BCAST with root 1");
}

static void operations(uint32_t rank, uint32_t n)
{
    call_both(rank, n, &(struct made){rank ? ACCL_ALLREDUCE : ACCL_BARRIER, 0, rank ? 10 : 0},
              "rank 0 BARRIER, rank 1 ALLREDUCE");
}

static void counts(uint32_t rank, uint32_t n)
{
    call_both(rank, n, &(struct made){ACCL_ALLREDUCE, 0, 10 + rank},
              "has another count, element type or function there");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*body)(uint32_t, uint32_t);
    } cases[] = {{"roots", roots}, {"operations", operations}, {"counts", counts}};
    CHECK(argc == 2);
    snprintf(job, sizeof job, "differ %d", (int)getpid());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, argv[1]))
            continue;
        run_ranks(2, cases[i].body);
        puts("ok");
        return 0;
    }
    return 2;
}
