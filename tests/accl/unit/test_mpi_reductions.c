/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl -Wl,--wrap=dlsym tsan
 *
 * Reductions that MPI makes itself: which ones, their results, and what is left of those that fail.
 */
#include <stddef.h>

#include "accl.h"

#include "tests/accl/unit/mpi_sides.h"

static uint32_t retcode_of(const struct side *side, const struct accl_call *call)
{
    uint32_t retcode = 0;
    int status = accl_call_sync(side->device, call, &retcode);
    if (status != ACCL_OK && status != ACCL_CALL_FAILED)
        fprintf(stderr, "rank %u: %s\n", side->rank, accl_error_message());
    CHECK(status == ACCL_OK || status == ACCL_CALL_FAILED);
    return retcode;
}

static int made(uint32_t rank)
{
    pthread_mutex_lock(&fake.lock);
    int n = fake.reduced[rank];
    pthread_mutex_unlock(&fake.lock);
    return n;
}

static void reduce_to_one(const struct side *side, uint64_t count)
{
    struct accl_call call = call_of(side, ACCL_REDUCE, count);
    call.root_src_dst = 1;
    if (side->rank == 0)
        call.address[2] = 0;
    CHECK(retcode_of(side, &call) == 0);
    if (side->rank == 1)
        check_result(side, count, 3);
}

static void *reduce_all(void *argument)
{
    struct side *side = argument;
    bool asked = side->mpi.size == sizeof side->mpi;
    int expected = 0;
    open_side(side, ACCL_REACH_PACKETS);
    CHECK(accl_mpi_start(side->device, &side->mpi) == ACCL_OK);
    fill(side, (float)(side->rank + 1));

    for (uint64_t count = 1; count < MANY; count *= 10) {
        run(side, ACCL_ALLREDUCE, count);
        check_result(side, count, 3);
        reduce_to_one(side, count);
        run(side, ACCL_REDUCE_SCATTER, count);
        check_result(side, count, 3);
        expected += asked ? 3 : 0;
        CHECK(made(side->rank) == expected);
    }

    /* Reductions that the engine makes all the same. */
    struct accl_call larger = call_of(side, ACCL_ALLREDUCE, 100);
    larger.function = ACCL_MAX;
    CHECK(retcode_of(side, &larger) == 0);
    check_result(side, 100, 2);
    run(side, ACCL_ALLREDUCE, 0);
    CHECK(made(side->rank) == expected);

    /* In the buffer of the operands. */
    struct accl_call there = call_of(side, ACCL_ALLREDUCE, 1000);
    there.address[2] = there.address[0];
    CHECK(retcode_of(side, &there) == 0);
    const float *sums = accl_buffer_host(side->source);
    CHECK(sums[0] == 3 && sums[999] == 3);

    CHECK(accl_mpi_stop(side->device, INT64_C(60000000000)) == ACCL_OK);
    close_side(side);
    return NULL;
}

static void *fail_in_time(void *argument)
{
    struct side *side = argument;
    open_side(side, ACCL_REACH_PACKETS);
    CHECK(accl_mpi_start(side->device, &side->mpi) == ACCL_OK);
    fill(side, 1);
    set_timeout(side, 300);

    struct accl_call call = call_of(side, ACCL_ALLREDUCE, 1000);
    uint32_t bits = retcode_of(side, &call);
    CHECK(bits & (ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) | ACCL_ERROR(PEER_GAVE_UP_ERROR)));
    if (bits & ACCL_ERROR(RECEIVE_TIMEOUT_ERROR))
        CHECK(strstr(accl_error_message(), "MPI's own ALLREDUCE of communicator 0 did not end "
                                           "within 300 ms") != NULL);
    fill(side, 7); /* nobody sees that */
    CHECK(retcode_of(side, &call) & ACCL_ERROR(PEER_GAVE_UP_ERROR));
    CHECK(strstr(accl_error_message(), "make a new communicator") != NULL);

    CHECK(accl_mpi_stop(side->device, 1000000) == ACCL_PENDING);
    close_side(side);
    return NULL;
}

static void *fail_at_once(void *argument)
{
    struct side *side = argument;
    open_side(side, ACCL_REACH_PACKETS);
    CHECK(accl_mpi_start(side->device, &side->mpi) == ACCL_OK);
    fill(side, 1);
    struct accl_call call = call_of(side, ACCL_ALLREDUCE, 1000);
    uint32_t bits = retcode_of(side, &call);
    CHECK(bits & (ACCL_ERROR(DMA_INTERNAL_ERROR) | ACCL_ERROR(PEER_GAVE_UP_ERROR)));
    if (bits & ACCL_ERROR(DMA_INTERNAL_ERROR))
        CHECK(strstr(accl_error_message(), "MPI's own ALLREDUCE: MPI error: planted 17") != NULL);
    CHECK(accl_mpi_stop(side->device, 1000000) == ACCL_PENDING);
    close_side(side);
    return NULL;
}

static void run_sides(void *(*function)(void *), bool pointers, bool any_thread, uint32_t size)
{
    struct side sides[FAKE_RANKS] = {{.rank = 0}, {.rank = 1}};
    pthread_t threads[FAKE_RANKS];
    memset(fake.reductions, 0, sizeof fake.reductions);
    memset(fake.reduced, 0, sizeof fake.reduced);
    fake_symbols = pointers ? of_pointer_symbols : of_int_symbols;
    for (uint32_t i = 0; i < FAKE_RANKS; i++) {
        sides[i].mpi = setup_of(i, pointers, any_thread);
        set_reductions(&sides[i].mpi, i);
        sides[i].mpi.size = size;
        CHECK(pthread_create(&threads[i], NULL, function, &sides[i]) == 0);
    }
    for (uint32_t i = 0; i < FAKE_RANKS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(void)
{
    const uint32_t whole = sizeof(struct accl_mpi);
    run_sides(reduce_all, false, true, whole);
    run_sides(reduce_all, true, false, whole);
    check_nothing_is_left();

    /* A caller of an earlier header, with anything in the place of what it does not have. */
    run_sides(reduce_all, false, true, offsetof(struct accl_mpi, reduction_comm));
    check_nothing_is_left();

    fake.holds_reductions = true;
    run_sides(fail_in_time, false, true, whole);
    fake.holds_reductions = false;

    memset(fake.messages, 0, sizeof fake.messages);
    fake.failing_reductions = 1;
    run_sides(fail_at_once, false, true, whole);
    return 0;
}
