/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries packets between ranks of one host over sockets: one thread sends, one receives. */
#ifndef ACCL_TEST_PUMP_H
#define ACCL_TEST_PUMP_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "accl.h"

#define PUMP_RANKS 16

/* sockets[i][j] is what rank i has to rank j; made before the ranks are. */
static int pump_sockets[PUMP_RANKS][PUMP_RANKS];

struct pump {
    accl_device *device;
    uint32_t rank, n;
    _Atomic int stops;
    pthread_t sender, receiver;
};

static inline void pump_require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "pump: %s failed: %s, %s\n", what, strerror(errno), accl_error_message());
        _Exit(1);
    }
}

static inline void pump_connect(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < i; j++) {
            int pair[2];
            pump_require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0, "socket");
            pump_sockets[i][j] = pair[0];
            pump_sockets[j][i] = pair[1];
        }
    }
}

/* In the process of RANK: closes the ends that are not its own. RANK >= N: all. */
static inline void pump_keep(uint32_t rank, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            if (i != j && i != rank)
                close(pump_sockets[i][j]);
}

static inline int pump_move(int fd, void *data, size_t bytes, int out)
{
    uint8_t *at = data;
    while (bytes) {
        ssize_t n = out ? send(fd, at, bytes, MSG_NOSIGNAL) : recv(fd, at, bytes, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        at += n;
        bytes -= (size_t)n;
    }
    return 1;
}

static inline void *pump_send(void *argument)
{
    struct pump *pump = argument;
    struct accl_packet p = {.size = sizeof p};
    while (!atomic_load(&pump->stops)) {
        accl_packet_wait(pump->device, 100000000);
        while (accl_packet_next(pump->device, &p) == ACCL_OK) {
            int fd = pump_sockets[pump->rank][p.rank];
            if (!pump_move(fd, &p.bytes, sizeof p.bytes, 1) || !pump_move(fd, p.data, p.bytes, 1))
                accl_packet_lost(pump->device, p.rank, "its connection broke");
            pump_require(accl_packet_done(pump->device, p.id) == ACCL_OK, "accl_packet_done");
        }
    }
    return NULL;
}

static inline void *pump_receive(void *argument)
{
    struct pump *pump = argument;
    struct pollfd fds[PUMP_RANKS];
    for (uint32_t i = 0; i < pump->n; i++)
        fds[i] = (struct pollfd){.fd = i == pump->rank ? -1 : pump_sockets[pump->rank][i],
                                 .events = POLLIN};
    while (!atomic_load(&pump->stops)) {
        poll(fds, pump->n, 20);
        for (uint32_t i = 0; i < pump->n; i++) {
            struct accl_packet p = {.size = sizeof p};
            uint64_t bytes;
            if (fds[i].fd < 0 || !fds[i].revents)
                continue;
            int whole = pump_move(fds[i].fd, &bytes, sizeof bytes, 0);
            if (whole) {
                pump_require(accl_packet_space(pump->device, bytes, &p) == ACCL_OK, "space");
                whole = pump_move(fds[i].fd, p.data, bytes, 0);
            }
            if (whole)
                pump_require(accl_packet_arrived(pump->device, i, p.id) == ACCL_OK, "arrived");
            else
                accl_packet_lost(pump->device, i, "its connection has ended");
            if (!whole)
                fds[i].fd = -1;
        }
    }
    return NULL;
}

static inline struct pump *pump_start(accl_device *device, uint32_t rank, uint32_t n)
{
    struct pump *pump = calloc(1, sizeof *pump);
    pump_require(pump != NULL, "calloc");
    pump->device = device;
    pump->rank = rank;
    pump->n = n;
    pump_require(pthread_create(&pump->sender, NULL, pump_send, pump) == 0, "thread");
    pump_require(pthread_create(&pump->receiver, NULL, pump_receive, pump) == 0, "thread");
    return pump;
}

/* To be followed by accl_close(). */
static inline void pump_stop(struct pump *pump)
{
    uint64_t left = 1;
    pump_require(accl_packet_leave(pump->device) == ACCL_OK, "leave");
    while (accl_packet_outstanding(pump->device, &left) == ACCL_OK && left)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    atomic_store(&pump->stops, 1);
    accl_packet_wake(pump->device);
    pthread_join(pump->sender, NULL);
    pthread_join(pump->receiver, NULL);
    free(pump);
}

#endif
