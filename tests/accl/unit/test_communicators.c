/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 *
 * Communicators that are refused, those that are made, and what happens without memory. Ranks are
 * reached by packets, so that one device is enough.
 */
#include "accl.h"

#include <string.h>
#include <unistd.h>

#include "accl/base/arena.h"
#include "tests/support/check.h"
#include "tests/support/failing_malloc.h"

enum { RANKS = 4, ME = 2 };

static struct accl_rank addresses[RANKS];

static accl_device *open_device(bool rx_buffers, uint64_t memory)
{
    static unsigned number;
    char job[32];
    snprintf(job, sizeof job, "unit %d %u", (int)getpid(), number++);
    struct accl_config config = {.size = sizeof config, .memory_bytes = memory, .job = job};
    accl_device *device;
    CHECK(accl_open(&config, &device) == ACCL_OK);
    if (rx_buffers)
        CHECK(accl_setup_rx_buffers(device, 4, 256) == ACCL_OK);
    return device;
}

static accl_device *open_world(uint64_t memory)
{
    accl_device *device = open_device(true, memory);
    uint32_t id = 99;
    CHECK(accl_create_communicator(device, addresses, RANKS, ME, &id) == ACCL_OK && id == 0);
    return device;
}

#define REFUSED(call, status, text) refused(call, status, text, __LINE__)
static void refused(int got, int status, const char *text, int line)
{
    if (got != status || strstr(accl_error_message(), text) == NULL) {
        fprintf(stderr, "line %d: %d, %s\n", line, got, accl_error_message());
        abort();
    }
}

static void test_the_first_communicator(void)
{
    uint32_t id = 99;
    accl_device *device = open_device(false, 1 << 20);
    REFUSED(accl_create_communicator(device, addresses, RANKS, ME, &id), ACCL_NOT_READY,
            "set up rx buffers before communicators");
    CHECK(id == 0);
    accl_close(device);

    device = open_device(true, 1 << 20);
    REFUSED(accl_create_communicator(device, addresses, RANKS, ME, NULL), ACCL_INVALID, "id");
    REFUSED(accl_create_communicator(device, NULL, RANKS, ME, &id), ACCL_INVALID, "ranks");
    REFUSED(accl_create_communicator(device, NULL, 0, 0, &id), ACCL_INVALID, "rank 0 of 0");
    REFUSED(accl_create_communicator(device, addresses, RANKS, RANKS, &id), ACCL_INVALID,
            "rank 4 of 4");

    struct accl_rank twice[RANKS];
    memcpy(twice, addresses, sizeof twice);
    twice[3] = twice[1];
    REFUSED(accl_create_communicator(device, twice, RANKS, ME, &id), ACCL_INVALID,
            "ranks 1 and 3 have the same address");

    static struct accl_rank many[4096];
    REFUSED(accl_create_communicator(device, many, 4096, 0, &id), ACCL_INVALID, "rank 0 of 4096");

    /* After all that it can still be made, and rx buffers are fixed from then on. */
    CHECK(accl_create_communicator(device, addresses, RANKS, ME, &id) == ACCL_OK);
    REFUSED(accl_setup_rx_buffers(device, 4, 256), ACCL_IN_USE, "before the first communicator");
    accl_close(device);
}

static void test_communicators_of_some_ranks(void)
{
    accl_device *device = open_world(1 << 20);
    struct accl_rank some[] = {addresses[3], addresses[ME]};
    uint32_t id = 99;
    CHECK(accl_create_communicator(device, some, 2, 1, &id) == ACCL_OK && id == 1);

    struct accl_communicator_info info = {.size = sizeof info};
    CHECK(accl_communicator_info(device, 1, &info) == ACCL_OK);
    CHECK(info.ranks == 2 && info.local_rank == 1);
    struct accl_rank ranks[3];
    memset(ranks, 0x5A, sizeof ranks);
    CHECK(accl_communicator_ranks(device, 1, ranks, 3) == ACCL_OK);
    CHECK(ranks[0].port == addresses[3].port && ranks[1].port == addresses[ME].port);
    CHECK(ranks[0].reach == ACCL_REACH_PACKETS && ranks[2].port == 0x5A5A5A5A);
    CHECK(accl_communicator_ranks(device, 1, NULL, 0) == ACCL_OK);

    /* By its place in the exchange memory. */
    uint32_t found = 99;
    CHECK(accl_communicator_at(device, info.exchange_address, &found) == ACCL_OK && found == 1);
    REFUSED(accl_communicator_at(device, 1, &found), ACCL_NOT_FOUND, "exchange memory 0x1");
    CHECK(found == 0);

    /* A second one of the same ranks is another. */
    uint64_t key = info.key;
    CHECK(accl_create_communicator(device, some, 2, 1, &id) == ACCL_OK && id == 2);
    CHECK(accl_communicator_info(device, 2, &info) == ACCL_OK && info.key != key);

    REFUSED(accl_create_communicator(device, some, 2, 0, &id), ACCL_INVALID,
            "rank 0 of the list is not this device");
    some[0] = addresses[ME];
    REFUSED(accl_create_communicator(device, some, 2, 1, &id), ACCL_INVALID,
            "ranks 0 and 1 are the same");
    some[0].port = 1;
    REFUSED(accl_create_communicator(device, some, 2, 1, &id), ACCL_INVALID,
            "rank 0 (port 1) is not in communicator 0");
    some[0] = addresses[0];
    some[0].ip++;
    REFUSED(accl_create_communicator(device, some, 2, 1, &id), ACCL_INVALID,
            "is not in communicator 0");

    REFUSED(accl_communicator_info(device, 3, &info), ACCL_NOT_FOUND, "no communicator 3");
    REFUSED(accl_communicator_ranks(device, 3, ranks, 3), ACCL_NOT_FOUND, "no communicator 3");
    REFUSED(accl_communicator_ranks(device, 1, NULL, 3), ACCL_INVALID, "ranks");
    REFUSED(accl_communicator_info(device, 1, NULL), ACCL_INVALID, "info");
    accl_close(device);
}

static void test_freed_ones(void)
{
    accl_device *device = open_world(1 << 20);
    struct accl_rank some[] = {addresses[3], addresses[ME]};
    struct accl_communicator_info info = {.size = sizeof info};
    uint32_t id = 99, first;
    REFUSED(accl_free_communicator(device, 0), ACCL_INVALID, "as long as the device");
    REFUSED(accl_free_communicator(device, 1), ACCL_NOT_FOUND, "no communicator 1");

    CHECK(accl_create_communicator(device, some, 2, 1, &id) == ACCL_OK && id == 1);
    CHECK(accl_communicator_info(device, 1, &info) == ACCL_OK);
    uint64_t key = info.key;
    first = info.exchange_address;
    CHECK(accl_free_communicator(device, 1) == ACCL_OK);
    REFUSED(accl_free_communicator(device, 1), ACCL_NOT_FOUND, "communicator 1 was freed");
    REFUSED(accl_communicator_info(device, 1, &info), ACCL_NOT_FOUND, "communicator 1 was freed");
    REFUSED(accl_split_communicator(device, 1, &(uint32_t){0}, 1, &id), ACCL_NOT_FOUND,
            "communicator 1 was freed");
    REFUSED(accl_communicator_at(device, first, &id), ACCL_NOT_FOUND, "exchange memory");

    /* Neither the number nor the key is used again, but the place in the exchange memory. */
    CHECK(accl_create_communicator(device, some, 2, 1, &id) == ACCL_OK && id == 2);
    CHECK(accl_communicator_info(device, 2, &info) == ACCL_OK && info.key != key);
    CHECK(info.exchange_address == first);
    accl_close(device);
}

static void test_splits(void)
{
    accl_device *device = open_world(1 << 20);
    const uint32_t chosen[] = {3, ME, 0, 3}, others[] = {0, 1}, beyond[] = {ME, RANKS};
    uint32_t id = 99;
    struct accl_communicator_info info = {.size = sizeof info};
    struct accl_rank ranks[3];

    /* In the order of the parent, each rank once. */
    CHECK(accl_split_communicator(device, 0, chosen, 4, &id) == ACCL_OK && id == 1);
    CHECK(accl_communicator_info(device, 1, &info) == ACCL_OK);
    CHECK(info.ranks == 3 && info.local_rank == 1);
    CHECK(accl_communicator_ranks(device, 1, ranks, 3) == ACCL_OK);
    CHECK(ranks[0].port == addresses[0].port && ranks[2].port == addresses[3].port);

    REFUSED(accl_split_communicator(device, 7, chosen, 4, &id), ACCL_NOT_FOUND,
            "no communicator 7");
    CHECK(id == 0);
    REFUSED(accl_split_communicator(device, 0, others, 2, &id), ACCL_INVALID,
            "the local rank 2 is not among the ranks");
    REFUSED(accl_split_communicator(device, 0, NULL, 0, &id), ACCL_INVALID, "not among the ranks");
    REFUSED(accl_split_communicator(device, 0, beyond, 2, &id), ACCL_INVALID,
            "communicator 0 has no rank 4");
    REFUSED(accl_split_communicator(device, 0, NULL, 1, &id), ACCL_INVALID, "indices");
    REFUSED(accl_split_communicator(device, 0, chosen, 4, NULL), ACCL_INVALID, "id");
    accl_close(device);
}

/* As many as a rank has lanes, or memory for them. */
static void test_too_many(uint64_t memory, const char *why)
{
    accl_device *device = open_world(memory);
    const uint32_t chosen[] = {ME};
    int status = ACCL_OK;
    uint32_t id = 0, last = 0;
    while ((status = accl_split_communicator(device, 0, chosen, 1, &id)) == ACCL_OK) {
        CHECK(id == last + 1 && id < ARENA_LANES);
        last = id;
    }
    CHECK(id == 0 && last > 8);
    REFUSED(status, ACCL_NO_MEMORY, why);

    struct accl_communicator_info info = {.size = sizeof info};
    CHECK(accl_communicator_info(device, last, &info) == ACCL_OK && info.ranks == 1);
    accl_close(device);
}

/* Each allocation fails in turn: the number is not used up, and nothing is left. */
static void test_no_memory(void)
{
    accl_device *device = open_world(1 << 20);
    const uint32_t chosen[] = {0, ME};
    uint32_t id = 0;
    long n = 0;
    for (int status = ACCL_NO_MEMORY; status != ACCL_OK; n++) {
        CHECK(n < 20);
        allocations_left = n;
        status = accl_split_communicator(device, 0, chosen, 2, &id);
        allocations_left = -1;
        if (status == ACCL_OK)
            break;
        CHECK(status == ACCL_NO_MEMORY && id == 0);
        CHECK(strstr(accl_error_message(), "out of memory"));
    }
    CHECK(n >= 4 && id == 1);
    accl_close(device);
}

/* Of the first communicator, and with it of all that reaches the other ranks. */
static void test_no_memory_for_the_first(void)
{
    long n = 0;
    for (int status = ACCL_NO_MEMORY; status != ACCL_OK; n++) {
        CHECK(n < 60);
        accl_device *device = open_device(true, 1 << 20);
        uint32_t id = 99;
        allocations_left = n;
        status = accl_create_communicator(device, addresses, RANKS, ME, &id);
        allocations_left = -1;
        CHECK(status == ACCL_OK || status == ACCL_NO_MEMORY || status == ACCL_SYSTEM);
        CHECK(status == ACCL_OK || accl_error_message()[0] != 0);
        accl_close(device);
    }
    CHECK(n > 5);
}

int main(void)
{
    for (uint32_t i = 0; i < RANKS; i++)
        addresses[i] = (struct accl_rank){
            .ip = 0x7F000001, .port = 9100 + i, .session = i, .reach = ACCL_REACH_PACKETS};

    test_the_first_communicator();
    test_communicators_of_some_ranks();
    test_freed_ones();
    test_splits();
    test_too_many(1 << 20, "out of memory (lane of a communicator)");
    test_too_many(64 << 20, "too many communicators: the limit is 512");
    test_no_memory();
    test_no_memory_for_the_first();
    return 0;
}
