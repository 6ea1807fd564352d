/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The side that asks for a rank's memory file. What comes is checked: another process of this user
 * may hold the address.
 */
#include "accl/transport/shm/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accl/base/huge_pages.h"
#include "accl/transport/shm/hello.h"
#include "accl/transport/wait.h"
#include "accl/transport/shm/peer_memory.h"
#include "common/clock.h"
#include "common/cores.h"

/* Limits socket operations to the time that the call has left, at most a second. */
static void limit_time(accl_device *device, int fd)
{
    int64_t left = acclib_call_deadline(device) - clock_now();
    if (left > CLOCK_SECOND)
        left = CLOCK_SECOND;
    if (left < CLOCK_MILLISECOND)
        left = CLOCK_MILLISECOND;
    struct timeval limit = {.tv_sec = (time_t)(left / CLOCK_SECOND),
                            .tv_usec = (suseconds_t)(left % CLOCK_SECOND / 1000)};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

const char acclib_meeting_rule[] =
    "; ranks find each other within one network namespace (container), as one user, with equal "
    "names of the job";

enum asked { ASKED_AGAIN, ASKED_OK, ASKED_REFUSED, ASKED_NEVER };

static int receive_file(int fd, struct hello *in)
{
    int file;
    memset(in, 0, sizeof *in);
    ssize_t n = acclib_hello_receive(fd, in, sizeof *in, 0, &file);
    if (n != (ssize_t)sizeof *in)
        in->magic = 0;

    return file;
}

/* True if a block of N parts of SIZE bytes can be at OFFSET of a file of BYTES. */
static bool has_place(uint64_t offset, uint64_t n, uint64_t size, uint64_t bytes)
{
    return offset >= ARENA_HEADER_BYTES && offset % ARENA_LINE == 0 && offset <= bytes &&
           size <= (bytes - offset) / n;
}

/* Takes from the file of RANK where its rings and its pool are; false if that cannot be. */
static bool read_header(accl_device *device, uint32_t rank, struct peer *peer,
                        struct arena_header *a, uint64_t bytes)
{
    uint64_t rings = READ_ONCE(a->rings), slots = READ_ONCE(a->slots), pool = READ_ONCE(a->pool);
    uint64_t slot_bytes = READ_ONCE(a->slot_bytes);
    uint32_t slot_count = READ_ONCE(a->slot_count);
    bool sound = READ_ONCE(a->magic) == ARENA_MAGIC && READ_ONCE(a->bytes) == bytes &&
                 READ_ONCE(a->rank) == rank && READ_ONCE(a->ranks) == device->ranks &&
                 slot_count >= 1 && slot_count <= ARENA_RX_MAX && slot_bytes >= ARENA_LINE &&
                 slot_bytes % ARENA_LINE == 0 &&
                 has_place(rings, device->ranks, sizeof(struct ring), bytes) &&
                 has_place(slots, slot_count, sizeof(struct rx_slot), bytes) &&
                 has_place(pool, slot_count, slot_bytes, bytes);

    if (!sound)
        return false;

    uint8_t *base = (uint8_t *)a;
    peer->pool = (struct pool){.slots = (struct rx_slot *)(void *)(base + slots),
                               .data = base + pool,
                               .slot_bytes = slot_bytes,
                               .slot_count = slot_count};
    peer->out = (struct ring *)(void *)(base + rings) + device->rank;

    return true;
}

static enum asked map_peer(accl_device *device, uint32_t rank, struct peer *peer, int file,
                           pid_t pid)
{
    struct stat st;

    /* Reading a file that shrinks would kill this process. */
    bool sound = fstat(file, &st) == 0 && acclib_heap_is_sealed(file);
    uint64_t bytes = sound ? (uint64_t)st.st_size : 0;
    if (bytes < ARENA_HEADER_BYTES) {
        acclib_call_fail(device, 0, "the memory file of rank %u is not one of this library", rank);
        return ASKED_NEVER;
    }

    void *map = acclib_huge_map(file, bytes);
    if (map == MAP_FAILED) {
        acclib_call_fail(device, 0, "cannot map the memory of rank %u (%llu bytes): %s%s", rank,
                         (unsigned long long)bytes, strerror(errno), acclib_heap_limits());
        return ASKED_NEVER;
    }

    if (!read_header(device, rank, peer, map, bytes)) {
        acclib_call_fail(device, 0, "rank %u has a different list of ranks or a different library",
                         rank);
        munmap(map, bytes);
        return ASKED_NEVER;
    }

    peer->arena_bytes = bytes;
    peer->arena = map;
    bool ended;
    int pidfd = acclib_peer_pidfd(pid, &ended);
    acclib_peer_watch(peer, pidfd, ended);
    acclib_peer_memory_try(device, peer, pid);

    /* Launchers bind each rank to cores of its own: what matters is whether all have enough. */
    if (pid > 0)
        cores_add(&device->core_set, pid);
    atomic_store(&device->cores, cores_count(&device->core_set));

    return ASKED_OK;
}

static enum asked ask(accl_device *device, uint32_t rank, struct peer *peer)
{
    struct sockaddr_un name;
    socklen_t length = acclib_hello_name(device, rank, &name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        acclib_call_fail(device, 0, "cannot create a socket: %s", strerror(errno));
        return ASKED_NEVER;
    }

    enum asked result = ASKED_AGAIN;
    struct hello out = acclib_hello_make(device);
    struct holder holder;
    limit_time(device, fd);
    if (connect(fd, (struct sockaddr *)&name, length) == 0) {
        if (!acclib_hello_same_user(fd, &holder)) {
            acclib_call_fail(
                device, 0,
                "the address of rank %u is held by process %d of user %u, and this is user %u",
                rank, (int)holder.pid, (unsigned)holder.uid, (unsigned)geteuid());
            result = ASKED_NEVER;
        } else if (acclib_hello_send(device, fd, &out)) {
            struct hello in;
            int file = receive_file(fd, &in);
            if (in.magic == HELLO_MAGIC && in.refused) {
                acclib_call_fail(
                    device, 0,
                    "rank %u has its device number %u of this job open, and this is number "
                    "%u here: open and close devices alike on all ranks, or name a new job",
                    rank, in.generation + 1, device->shm->generation + 1);
                result = ASKED_REFUSED;
            } else if (in.magic == HELLO_MAGIC && file >= 0) {
                result = map_peer(device, rank, peer, file, holder.pid);
            }
            if (file >= 0)
                close(file);
        }
    }

    close(fd);
    return result;
}

/* Attaches to a file that was handed over, else asks for it. */
static enum asked reach(accl_device *device, uint32_t rank, struct peer *peer)
{
    int file = atomic_load(&peer->handed);
    if (file < 0)
        return ask(device, rank, peer);

    atomic_store(&peer->handed, FILE_TAKEN);
    enum asked asked = map_peer(device, rank, peer, file, peer->handed_by);
    close(file);
    return asked;
}

uint32_t acclib_attach_try(accl_device *device, struct peer *peer)
{
    if (peer->arena != NULL || !peer->reached)
        return 0;
    return reach(device, peer_rank(device, peer), peer) == ASKED_NEVER
               ? ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED)
               : 0;
}

void acclib_attach_handed(accl_device *device)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = peer_of(device, i);
        if (peer->arena == NULL && atomic_load(&peer->handed) >= 0)
            reach(device, i, peer);
    }
}

uint32_t acclib_attach_peer(accl_device *device, uint32_t rank)
{
    struct peer *peer = peer_of(device, rank);
    if (peer->arena != NULL)
        return 0;
    if (!peer->reached)
        return acclib_call_fail(device, ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED),
                                "rank %u is not on this host", rank);
    struct waiter w;
    int64_t pause = ATTACH_FIRST_NS;
    uint32_t bits = 0;
    acclib_wait_begin(&w, device, NULL, rank, false, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    while (!bits && peer->arena == NULL) {
        enum asked asked = reach(device, rank, peer);
        if (asked == ASKED_NEVER)
            bits = ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED);
        else if (asked == ASKED_OK) /* Its file may have outlived it. */
            bits = acclib_wait_inspect_rank(&w, rank, false);
        else
            bits = acclib_wait_pause_briefly(&w, pause);
        if (bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) && asked == ASKED_REFUSED)
            /* Once more, for the text. */
            bits = ask(device, rank, peer) == ASKED_OK ? 0 : ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED);
        else if (bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR))
            bits = acclib_call_fail(device, bits | ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED),
                                    "rank %u (port %u) of job '%s' did not start in %u ms%s", rank,
                                    device->world[rank].address.port, device->job,
                                    device->timeout_ms, acclib_meeting_rule);
        if (pause < ATTACH_LAST_NS)
            pause *= 2;
    }
    acclib_wait_end(&w);

    return bits;
}

void acclib_attach_drop(accl_device *device)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = peer_of(device, i);
        if (peer->arena != NULL && i != device->rank)
            munmap(peer->arena, peer->arena_bytes);
        if (peer->pidfd >= 0)
            close(peer->pidfd);
        if (peer->handed >= 0)
            close(peer->handed);
    }
}
