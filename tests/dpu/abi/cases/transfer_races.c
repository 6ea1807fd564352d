/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies, checkpoints and callbacks by many threads. Also run under ThreadSanitizer. */
#include <dpu_checkpoint.h>
#include <pthread.h>

#include "cases.h"

#define THREADS 4
#define DPUS 66
#define SIZE 4096
/* So large that the threads of the library share a transfer. */
#define LARGE 65536
#define RANK_SIZE ((size_t)64 * LARGE)

static const struct dpu_symbol_t mram = {0x08000000, 64 << 20};

static int rounds(int otherwise)
{
    const char *text = getenv("ROUNDS_PERCENT");
    int n = text ? otherwise * atoi(text) / 100 : otherwise;
    return n ? n : 1;
}

struct user {
    pthread_t thread;
    struct dpu_set_t set;
    uint32_t number; /* it has a part of MRAM of its own */
};

static void start_users(struct user *users, struct dpu_set_t *sets, uint32_t count,
                        void *(*function)(void *))
{
    for (uint32_t i = 0; i < THREADS; i++) {
        users[i].set = sets[i % count];
        users[i].number = i;
        CHECK_EQUAL(pthread_create(&users[i].thread, NULL, function, &users[i]), 0);
    }
}

static void join_users(struct user *users)
{
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_join(users[i].thread, NULL), 0);
}

static dpu_error_t copy_in_callback(struct dpu_set_t set, uint32_t index, void *argument)
{
    const struct user *user = argument;
    uint64_t value = 0;
    (void)index;
    return dpu_copy_from_symbol(first_dpu(set), mram, user->number * SIZE, &value, sizeof value);
}

/* Everything that is queued keeps its order, so that the last value is there at the end. */
static void *copy_beside_others(void *argument)
{
    struct user *user = argument;
    const uint32_t at = user->number * SIZE;
    uint8_t *sent = malloc(SIZE), *seen = malloc(SIZE);
    CHECK_TRUE(sent != NULL && seen != NULL);
    for (int i = 0; i < rounds(60); i++) {
        memset(sent, i, SIZE);
        CHECK_OK(dpu_broadcast_to_symbol(user->set, mram, at, sent, SIZE, DPU_XFER_ASYNC));
        CHECK_OK(dpu_launch(user->set, DPU_ASYNCHRONOUS));
        CHECK_OK(dpu_callback(user->set, copy_in_callback, user, DPU_CALLBACK_ASYNC));
        CHECK_OK(dpu_copy_from_symbol(first_dpu(user->set), mram, at, seen, SIZE));
        CHECK_TRUE(memcmp(sent, seen, SIZE) == 0);
        CHECK_OK(dpu_sync(user->set));
    }
    free(sent);
    free(seen);
    return NULL;
}

CASE(threads_copy_to_two_sets)
{
    struct dpu_set_t sets[2] = {allocate(DPUS, NULL), allocate(3, NULL)};
    struct user users[THREADS];
    load_loop(sets[0], 20);
    load_loop(sets[1], 20);
    start_users(users, sets, 2, copy_beside_others);
    join_users(users);
    CHECK_EQUAL(read_counter(first_dpu(sets[0])), 2 * rounds(60));
    CHECK_OK(dpu_free(sets[0]));
    CHECK_OK(dpu_free(sets[1]));
}

/* Each thread has a rank, and with it the buffers that are prepared there. */
static void *push_to_a_rank(void *argument)
{
    struct user *user = argument;
    struct dpu_set_t rank = dpu_set_from_rank(&user->set.list.ranks[user->number]), dpu;
    uint8_t *buffers = malloc(RANK_SIZE), *back = malloc(RANK_SIZE);
    uint32_t i;
    CHECK_TRUE(buffers != NULL && back != NULL);
    for (int k = 0; k < rounds(20); k++) {
        memset(buffers, k + (int)user->number, RANK_SIZE);
        DPU_FOREACH(rank, dpu, i)
        CHECK_OK(dpu_prepare_xfer(dpu, buffers + (size_t)i * LARGE));
        CHECK_OK(dpu_push_xfer_symbol(rank, DPU_XFER_TO_DPU, mram, 0, LARGE, DPU_XFER_ASYNC));
        DPU_FOREACH(rank, dpu, i)
        CHECK_OK(dpu_prepare_xfer(dpu, back + (size_t)i * LARGE));
        CHECK_OK(dpu_push_xfer_symbol(rank, DPU_XFER_FROM_DPU, mram, 0, LARGE, DPU_XFER_ASYNC));
        CHECK_OK(dpu_sync(rank));
        CHECK_TRUE(memcmp(buffers, back, RANK_SIZE) == 0);
    }
    free(buffers);
    free(back);
    return NULL;
}

CASE(threads_push_to_ranks_of_a_set)
{
    struct dpu_set_t set;
    struct user users[THREADS];
    CHECK_OK(dpu_alloc_ranks(THREADS, NULL, &set));
    start_users(users, &set, 1, push_to_a_rank);
    join_users(users);
    CHECK_OK(dpu_free(set));
}

static void *save_and_restore(void *argument)
{
    struct user *user = argument;
    struct dpu_set_t dpu = first_dpu(user->set);
    const dpu_checkpoint_flags_t flags =
        (dpu_checkpoint_flags_t)(DPU_CHECKPOINT_INTERNAL | DPU_CHECKPOINT_IRAM |
                                 DPU_CHECKPOINT_WRAM);
    for (int i = 0; i < rounds(60); i++) {
        struct dpu_context_t context;
        if (user->number == 0) {
            CHECK_OK(dpu_launch(user->set, DPU_ASYNCHRONOUS));
            CHECK_OK(dpu_sync(user->set));
            continue;
        }
        CHECK_OK(dpu_checkpoint_save(dpu, flags, &context));
        CHECK_EQUAL(context.nr_of_running_threads, 0);
        CHECK_OK(dpu_checkpoint_restore(dpu, flags, &context));
        CHECK_OK(dpu_checkpoint_free(&context));
    }
    return NULL;
}

/* A checkpoint waits for the queue, so it never sees a program that runs. */
CASE(threads_save_and_restore_beside_launches)
{
    struct dpu_set_t set = allocate(2, NULL);
    struct user users[THREADS];
    load_loop(set, 1000);
    start_users(users, &set, 1, save_and_restore);
    join_users(users);
    CHECK_OK(dpu_free(set));
}

/* By its name, by its address, from it, and a buffer that is prepared and pushed: until it is gone.
 */
static void *copy_until_freed(void *argument)
{
    struct user *user = argument;
    uint64_t word = 0;
    struct dpu_set_t dpu = {.kind = DPU_SET_DPU, .dpu = user->set.dpu};
    for (;;) {
        dpu_error_t status = DPU_OK;
        switch (user->number) {
        case 0: status = dpu_copy_to_symbol(dpu, mram, 0, &word, sizeof word); break;
        case 1: status = dpu_copy_from_symbol(dpu, mram, 0, &word, sizeof word); break;
        case 2: status = dpu_copy_to(dpu, "counter", 0, &word, 4); break;
        default:
            status = dpu_prepare_xfer(dpu, &word);
            if (status == DPU_OK)
                status = dpu_push_xfer(dpu, DPU_XFER_FROM_DPU, "counter", 0, 4, DPU_XFER_DEFAULT);
            break;
        }
        if (status == DPU_ERR_INVALID_DPU_SET)
            return NULL;
        CHECK_EQUAL(status, DPU_OK);
    }
}

CASE(a_set_is_freed_while_others_copy)
{
    for (int i = 0; i < rounds(60); i++) {
        struct dpu_set_t set = allocate(3, NULL), dpu = first_dpu(set);
        struct user users[THREADS];
        load_command(set, COUNT);
        start_users(users, &dpu, 1, copy_until_freed);
        CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
        CHECK_OK(dpu_free(set));
        join_users(users);
    }
}
