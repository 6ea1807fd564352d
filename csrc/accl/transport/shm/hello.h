/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and code that both sides of a meeting share: attach.c asks, acceptor.c answers.
 *
 * A rank listens on an abstract unix socket whose name comes from the user, the job and its
 * number. Both sides check the other's user. The name is gone with the socket, so nothing can be
 * left behind, and a rank that starts again has the same name: therefore each side also says which
 * of its devices in this job it is (generation), and only equal ones meet. Each side gives the
 * other its memory file, so what a rank leaves there can be read after it has closed its device.
 * And each says which ranks it has seen that are gone, as nothing else of them may be left.
 *
 * Nothing here waits, but for connecting and looking at /proc.
 */
#ifndef ACCL_HELLO_H
#define ACCL_HELLO_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "accl/transport/shm/peer.h"

#define HELLO_MAGIC UINT32_C(0x6f61636d)

struct hello {
    uint32_t magic, version;
    uint64_t job;
    uint32_t generation, rank;
    uint32_t refused;
    uint32_t reserved;
    uint64_t gone[RANKS_MAX / 64]; /* ranks that have left or died, by bits */
};

/* The process at the other end of a socket. */
struct holder {
    uid_t uid;
    pid_t pid; /* 0 if it cannot be seen from here */
};

/* The name under which RANK listens; its length. */
socklen_t acclib_hello_name(const accl_device *device, uint32_t rank, struct sockaddr_un *name);
struct hello acclib_hello_make(accl_device *device);
/* Sends HELLO, with the memory file of DEVICE if that is not refused; whether it was sent. */
bool acclib_hello_send(const accl_device *device, int fd, const struct hello *hello);
/* Receives up to SPACE bytes of a hello, and in *FILE (NO_FILE: none) a file that comes along,
 * which is the caller's. As recv(). */
ssize_t acclib_hello_receive(int fd, void *data, size_t space, int flags, int *file);
/* False if the system does not say. */
bool acclib_hello_holder(int fd, struct holder *holder);
bool acclib_hello_same_user(int fd, struct holder *holder);
/* Ranks that are gone, as IN says, of which nothing else is known here. */
void acclib_hello_learn(accl_device *device, const struct hello *in);
/* A pidfd of PID, or -1; *ENDED is set if the process has ended. */
int acclib_peer_pidfd(pid_t pid, bool *ended);
/* Watches the process of PEER from here on; PIDFD is the peer's then, or closed. */
void acclib_peer_watch(struct peer *peer, int pidfd, bool ended);
/* True if the process of PEER has ended. Any thread. */
bool acclib_peer_is_dead(struct peer *peer);

#endif
