/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libaccl: a message that its receiver copies from its sender's memory, and the receiver cannot map
 * that memory. Its receive says so. Two ranks of one process.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "accl.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: failed: %s (%s)\n", __FILE__, __LINE__, #condition, \
                    accl_error_message()); \
            exit(1); \
        } \
    } while (0)

/* Large: more than all rx buffers hold. */
enum { RANKS = 2, LARGE = 5000, NBUFS = 4, BUFSIZE = 1024, LIMIT_MS = 200, ATTEMPTS = 50 };

static _Thread_local bool fails;

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fails && fd >= 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

static accl_device *devices[RANKS];
static atomic_bool ended;
static accl_buffer *buffers[RANKS];

static void set_up(uint32_t number, const char *job)
{
    struct accl_config config = {.size = sizeof config, .job = job};
    struct accl_rank ranks[RANKS] = {{0}};
    for (uint32_t i = 0; i < RANKS; i++)
        ranks[i] = (struct accl_rank){
            .ip = 0x7F000001, .port = 9000 + i, .session = i, .max_segment_size = BUFSIZE};
    struct accl_call limit = {.size = sizeof limit,
                              .operation = ACCL_CONFIG,
                              .function = ACCL_CFG_TIMEOUT,
                              .count = LIMIT_MS};
    uint32_t id;
    CHECK(accl_open(&config, &devices[number]) == ACCL_OK);
    CHECK(accl_setup_rx_buffers(devices[number], NBUFS, BUFSIZE) == ACCL_OK);
    CHECK(accl_create_communicator(devices[number], ranks, RANKS, number, &id) == ACCL_OK);
    CHECK(accl_call_sync(devices[number], &limit, NULL) == ACCL_OK);
    CHECK(accl_buffer_create(devices[number], LARGE * sizeof(int32_t), 0, ACCL_BUFFER_ZERO,
                             &buffers[number]) == ACCL_OK);
}

static int run(uint32_t number, uint32_t operation, uint32_t *bits)
{
    struct accl_call call = {.size = sizeof call,
                             .operation = operation,
                             .count = LARGE,
                             .dtype = ACCL_INT32,
                             .root_src_dst = 1 - number,
                             .tag = ACCL_TAG_ANY};
    call.address[operation == ACCL_RECV ? 2 : 0] = accl_buffer_address(buffers[number]);
    return accl_call_sync(devices[number], &call, bits);
}

/* On a busy machine a send may end before the receive begins, and the other way round. */
static void *send_in_vain(void *argument)
{
    int *status = argument;
    do
        *status = run(1, ACCL_SEND, NULL);
    while (*status != ACCL_OK && !atomic_load(&ended));
    return NULL;
}

int main(void)
{
    char job[64];
    snprintf(job, sizeof job, "unmapped %d", (int)getpid());
    for (uint32_t i = 0; i < RANKS; i++)
        set_up(i, job);

    pthread_t thread;
    uint32_t bits = 0;
    int sent = ACCL_OK;
    CHECK(pthread_create(&thread, NULL, send_in_vain, &sent) == 0);
    fails = true;
    const char *text = "";
    for (int i = 0; i < ATTEMPTS && strstr(text, "cannot map") == NULL; i++) {
        CHECK(run(0, ACCL_RECV, &bits) != ACCL_OK);
        text = accl_error_message();
    }
    fails = false;
    atomic_store(&ended, true);
    CHECK(strstr(text, "cannot map the memory of rank 1"));
    CHECK(strstr(text, "Cannot allocate memory"));
    CHECK(bits & ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    CHECK(bits & ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sent != ACCL_OK);

    for (uint32_t i = 0; i < RANKS; i++) {
        accl_close(devices[i]);
        accl_buffer_free(buffers[i]);
    }
    return 0;
}
