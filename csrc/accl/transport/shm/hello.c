/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/hello.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

socklen_t acclib_hello_name(const accl_device *device, uint32_t rank, struct sockaddr_un *name)
{
    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    int n = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "offchip-accl-%u-%016llx-%u",
                     (unsigned)geteuid(), (unsigned long long)device->shm->job_hash, rank);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* Finds out who has died, with one question for all: each rank that starts asks each other one. */
static void look_for_deaths(const accl_device *device)
{
    struct pollfd fds[RANKS_MAX];
    for (uint32_t i = 0; i < device->ranks; i++)
        fds[i] = (struct pollfd){.fd = peer_of(device, i)->pidfd, .events = POLLIN};
    if (poll(fds, device->ranks, 0) <= 0)
        return;

    for (uint32_t i = 0; i < device->ranks; i++)
        if (fds[i].revents & POLLIN)
            atomic_store(&peer_of(device, i)->dead, true);
}

static bool is_gone(const struct peer *peer)
{
    const struct arena_header *arena = peer->arena;
    return (arena != NULL && atomic_load(&arena->closed)) || atomic_load(&peer->in->left) ||
           atomic_load(&peer->dead);
}

struct hello acclib_hello_make(accl_device *device)
{
    struct hello out = {.magic = HELLO_MAGIC,
                        .version = ACCL_ABI_VERSION,
                        .job = device->shm->job_hash,
                        .generation = device->shm->generation,
                        .rank = device->rank};
    look_for_deaths(device);
    for (uint32_t i = 0; i < device->ranks; i++) {
        const struct peer *peer = peer_of(device, i);
        if (i != device->rank && peer->reached && is_gone(peer))
            out.gone[i / 64] |= UINT64_C(1) << i % 64;
    }

    return out;
}

void acclib_hello_learn(accl_device *device, const struct hello *in)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        struct peer *peer = peer_of(device, i);
        bool unknown = peer->reached && peer->arena == NULL && peer->pidfd < 0 &&
                       atomic_load(&peer->handed) == NO_FILE;
        if (i != device->rank && unknown && in->gone[i / 64] >> i % 64 & 1)
            atomic_store(&peer->dead, true);
    }
}

/* Room for one file. */
union control {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

bool acclib_hello_send(const accl_device *device, int fd, const struct hello *hello)
{
    struct hello out = *hello;
    struct iovec part = {.iov_base = &out, .iov_len = sizeof out};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union control control;
    memset(&control, 0, sizeof control);

    if (!hello->refused) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &device->heap->fd, sizeof(int));
    }

    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof out;
}

ssize_t acclib_hello_receive(int fd, void *data, size_t space, int flags, int *file)
{
    struct iovec part = {.iov_base = data, .iov_len = space};
    union control control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    *file = NO_FILE;
    ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | flags);
    if (n < 0)
        return n;

    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(file, CMSG_DATA(header), sizeof *file);

    return n;
}

bool acclib_hello_holder(int fd, struct holder *holder)
{
    struct ucred cred;
    socklen_t length = sizeof cred;
    *holder = (struct holder){.uid = (uid_t)-1};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &length) != 0)
        return false;

    *holder = (struct holder){.uid = cred.uid, .pid = cred.pid};
    return true;
}

bool acclib_hello_same_user(int fd, struct holder *holder)
{
    return acclib_hello_holder(fd, holder) && holder->uid == geteuid();
}

int acclib_peer_pidfd(pid_t pid, bool *ended)
{
    int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    *ended = pid > 0 && fd < 0 && errno == ESRCH;
    return fd;
}

void acclib_peer_watch(struct peer *peer, int pidfd, bool ended)
{
    int known = -1;
    if (ended && peer->pidfd < 0)
        atomic_store(&peer->dead, true);
    if (pidfd >= 0 && !atomic_compare_exchange_strong(&peer->pidfd, &known, pidfd))
        close(pidfd);
}

bool acclib_peer_is_dead(struct peer *peer)
{
    if (atomic_load_explicit(&peer->dead, memory_order_relaxed))
        return true;
    if (peer->pidfd < 0)
        return false;

    struct pollfd p = {.fd = peer->pidfd, .events = POLLIN};
    if (poll(&p, 1, 0) != 1 || !(p.revents & POLLIN))
        return false;

    atomic_store_explicit(&peer->dead, true, memory_order_relaxed);
    return true;
}
