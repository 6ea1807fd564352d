/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two sides of a meeting have in common: attach.c asks, porter.c answers. */
#ifndef ACCL_ATTACH_H
#define ACCL_ATTACH_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "accl/engine/engine.h"

#define HELLO_MAGIC UINT32_C(0x6f61636c)

enum hello_flag {
    HELLO_INTRODUCES = 1, /* wants no file, only to be known */
};

struct hello {
    uint32_t magic, version;
    uint64_t job;
    uint32_t generation, rank;
    uint64_t bytes; /* of the answer's file */
    uint32_t refused;
    uint32_t flags;
};

/* The process at the other end of a socket. */
struct holder {
    uid_t uid;
    pid_t pid; /* 0 if it cannot be seen from here */
};

/* The name under which RANK listens; its length. */
socklen_t attach_name(const accl_device *device, uint32_t rank, struct sockaddr_un *name);
struct hello attach_hello(const accl_device *device, uint32_t flags);
/* False if the system does not say. */
bool attach_holder(int fd, struct holder *holder);
bool attach_same_user(int fd, struct holder *holder);
/* A pidfd of PID, -1 if there is none; *ENDED tells that the process is gone. */
int attach_pidfd(pid_t pid, bool *ended);
/* Watches the process of PEER from here on; PIDFD is the peer's then, or closed. */
void attach_watch(struct peer *peer, int pidfd, bool ended);

#endif
