/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/peer_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "accl/transport/shm/hello.h"
#include "common/clock.h"

void acclib_peer_memory_offer(accl_device *device)
{
    uint64_t *trial = &device->shm->trial;
    *trial = (uint64_t)clock_now() * UINT64_C(0x9E3779B97F4A7C15) | 1;
    device->header->trial = *trial;
    device->header->trial_at = (uintptr_t)trial;
}

/* Reads all BYTES, or sets errno: one call moves less than 2 GiB. */
static bool read_memory(pid_t pid, uint64_t at, uint64_t bytes, uint8_t *to)
{
    while (bytes > 0) {
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): of another process */
        struct iovec remote = {.iov_base = (void *)(uintptr_t)at, .iov_len = bytes};
        struct iovec local = {.iov_base = to, .iov_len = bytes};
        ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
        if (n <= 0)
            return false;
        at += (uint64_t)n;
        to += n;
        bytes -= (uint64_t)n;
    }

    return true;
}

void acclib_peer_memory_try(accl_device *device, struct peer *peer, pid_t pid)
{
    const char *setting = secure_getenv("ACCL_PROCESS_MEMORY");
    if (pid <= 0 || (setting != NULL && strcmp(setting, "never") == 0))
        return;

    const struct arena_header *arena = peer->arena;
    uint64_t word = 0, at = READ_ONCE(arena->trial_at), trial = READ_ONCE(arena->trial);
    if (!trial || !read_memory(pid, at, sizeof word, (uint8_t *)&word) || word != trial)
        return;

    uint32_t rank = peer_rank(device, peer);
    peer->readable = pid;
    atomic_fetch_or(&device->header->reads[rank / 64], UINT64_C(1) << rank % 64);
}

bool acclib_peer_memory_is_read(const accl_device *device, const struct communicator *comm)
{
    for (uint32_t i = 0; i < comm->n; i++) {
        const struct arena_header *arena = peer_of(device, comm->members[i].rank)->arena;
        uint32_t me = device->rank;
        if (i != comm->me &&
            (arena == NULL || !(atomic_load(&arena->reads[me / 64]) >> me % 64 & 1)))
            return false;
    }

    return true;
}

/* The process is looked at afterwards, as its number may be that of another one by now. */
uint32_t acclib_peer_memory_read(accl_device *device, uint32_t rank, uint64_t at, uint64_t bytes,
                                 void *to)
{
    struct peer *peer = peer_of(device, rank);
    errno = ESRCH;
    bool done = peer->readable > 0 && read_memory(peer->readable, at, bytes, to);
    int error = errno;
    if (acclib_peer_is_dead(peer))
        return acclib_call_fail(device, ACCL_ERROR(PEER_LOST_ERROR),
                                "rank %u (of communicator 0) died during the call", rank);
    if (!done)
        return acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                                "cannot read the memory of rank %u (of communicator 0): %s; "
                                "ACCL_PROCESS_MEMORY=never on all ranks does without",
                                rank, strerror(error));

    return 0;
}
