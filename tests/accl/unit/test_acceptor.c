/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl -Wl,--wrap=read,--wrap=write
 *
 * The thread that answers other ranks ends when it is told to, also where that comes while it is
 * about to find out why it was woken before.
 */
#include "accl.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "accl/transport/shm/acceptor.h"
#include "tests/support/check.h"

enum { LIMIT_S = 30 };

static _Atomic int watched, reads, writes;

ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size);
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);

static void wait_for(const _Atomic int *word, int value)
{
    while (atomic_load(word) < value)
        usleep(100);
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    ssize_t n = __real_write(fd, data, size);
    atomic_fetch_add(&writes, atomic_load(&watched));
    return n;
}

/* The first one begins only when both wakes are there. */
ssize_t __wrap_read(int fd, void *data, size_t size)
{
    if (atomic_load(&watched)) {
        atomic_fetch_add(&reads, 1);
        wait_for(&writes, 2);
    }
    return __real_read(fd, data, size);
}

int main(void)
{
    char job[32];
    snprintf(job, sizeof job, "acceptor %d", (int)getpid());
    struct accl_config config = {.size = sizeof config, .job = job};
    struct accl_rank ranks[2];
    accl_device *device;
    uint32_t id;
    memset(ranks, 0, sizeof ranks);
    ranks[1].port = 1;
    CHECK(accl_open(&config, &device) == ACCL_OK);
    CHECK(accl_setup_rx_buffers(device, 2, 1024) == ACCL_OK);
    CHECK(accl_create_communicator(device, ranks, 2, 0, &id) == ACCL_OK);

    alarm(LIMIT_S); /* instead of a hang */
    atomic_store(&watched, 1);
    acclib_acceptor_ask(device);
    wait_for(&reads, 1);
    acclib_acceptor_stop(device);
    CHECK(atomic_load(&writes) == 2);
    accl_close(device);

    return 0;
}
