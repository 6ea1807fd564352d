/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/peer_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/transport/shm/hello.h"
#include "common/clock.h"

#define PIECE_BYTES 16384

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

bool acclib_peer_memory_is_read_by(const accl_device *device, uint32_t rank)
{
    const struct arena_header *arena = peer_of(device, rank)->arena;
    uint32_t me = device->rank;
    return arena != NULL && (atomic_load(&arena->reads[me / 64]) >> me % 64 & 1);
}

bool acclib_peer_memory_is_read(const accl_device *device, const struct communicator *comm)
{
    for (uint32_t i = 0; i < comm->n; i++)
        if (i != comm->me && !acclib_peer_memory_is_read_by(device, comm->members[i].rank))
            return false;

    return true;
}

/* By way of a piece, if they are not copied as they are. */
static bool read_elements(pid_t pid, const struct peer_elements *from, uint8_t *to)
{
    size_t size = acclib_dtype_bytes(from->type), to_size = acclib_dtype_bytes(from->to_type);
    if (from->type == from->to_type && !from->via16)
        return read_memory(pid, from->at, from->count * size, to);

    uint8_t piece[PIECE_BYTES];
    for (uint64_t done = 0, n; done < from->count; done += n) {
        n = from->count - done < PIECE_BYTES / size ? from->count - done : PIECE_BYTES / size;
        if (!read_memory(pid, from->at + done * size, n * size, piece))
            return false;
        acclib_convert(to + done * to_size, from->to_type, piece, from->type, n, from->via16);
    }

    return true;
}

/* The process is looked at afterwards, as its number may be that of another one by now. */
bool acclib_peer_memory_read(accl_device *device, uint32_t rank, const struct peer_elements *from,
                             uint8_t *to)
{
    struct peer *peer = peer_of(device, rank);
    if (peer->readable > 0 && read_elements(peer->readable, from, to))
        return !acclib_peer_is_dead(peer);

    peer->readable = 0;
    atomic_fetch_and(&device->header->reads[rank / 64], ~(UINT64_C(1) << rank % 64));
    return false;
}
