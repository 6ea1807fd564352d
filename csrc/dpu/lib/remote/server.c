/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/remote/server.h"

#include "common/clock.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/core/settings.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SERVERS_MAX 256
/* As in core/variables.h. */
#define SECONDS_LEAST (2 * DPULIB_ALIVE_SECONDS)
#define SECONDS_MOST 1000000
#define SECONDS_DEFAULT 30
/* How long a thread receives before it looks whether something else has ended its wait. */
#define RECEIVE_LIMIT (50 * CLOCK_MILLISECOND)

static struct {
    pthread_mutex_t lock; /* guards connecting and closing */
    struct dpulib_server servers[SERVERS_MAX];
    char *paths;
    uint32_t count;
    int64_t limit;
} all;

int64_t dpulib_server_limit(void)
{
    return all.limit;
}

struct dpulib_server *dpulib_server_of(const struct dpu_rank_t *rank)
{
    const enum dpulib_servers which = rank->configuration.servers;
    if (all.count == 0 || which == DPULIB_SERVERS_NONE)
        return NULL;
    uint32_t place =
        which == DPULIB_SERVERS_ONLY ? 1 + rank->id % all.count : rank->id % (all.count + 1);
    return place != 0 ? &all.servers[place - 1] : NULL;
}

/* --- settings --- */

static void set_up_server(struct dpulib_server *server, const char *path)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    *server = (struct dpulib_server){.path = path, .fd = -1};
    pthread_mutex_init(&server->lock, NULL);
    pthread_mutex_init(&server->sending, NULL);
    pthread_cond_init(&server->heard, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* The connections are the parent's. */
static void reset(void)
{
    pthread_mutex_init(&all.lock, NULL);
    for (uint32_t i = 0; i < all.count; i++) {
        if (all.servers[i].fd >= 0)
            close(all.servers[i].fd);
        set_up_server(&all.servers[i], all.servers[i].path);
    }
}

static void read_limit(void)
{
    const char *text = dpulib_setting(DPULIB_DPU_SOFT_SERVER_SECONDS);
    char *end = NULL, problem[80];
    long seconds = text != NULL ? strtol(text, &end, 10) : SECONDS_DEFAULT;
    if (text != NULL && (*end != 0 || seconds < SECONDS_LEAST || seconds > SECONDS_MOST)) {
        snprintf(problem, sizeof problem, "it is a number from %d to %d", SECONDS_LEAST,
                 SECONDS_MOST);
        dpulib_refuse_setting(DPULIB_DPU_SOFT_SERVER_SECONDS, problem);
        seconds = SECONDS_DEFAULT;
    }
    all.limit = seconds * CLOCK_SECOND;
}

static void read_paths(void)
{
    const size_t room = sizeof(struct sockaddr_un) - offsetof(struct sockaddr_un, sun_path);
    const char *text = dpulib_setting(DPULIB_DPU_SOFT_SERVERS);
    all.paths = text != NULL ? strdup(text) : NULL;
    char *rest = all.paths, *path, problem[120];
    while ((path = strsep(&rest, ":")) != NULL) {
        if (*path == 0 || strlen(path) >= room || all.count == SERVERS_MAX) {
            snprintf(problem, sizeof problem,
                     "it has names of sockets with colons between them, at most %d, each of at "
                     "most %zu bytes",
                     SERVERS_MAX, room - 1);
            dpulib_refuse_setting(DPULIB_DPU_SOFT_SERVERS, problem);
            all.count = 0;
            return;
        }
        set_up_server(&all.servers[all.count++], path);
    }
}

__attribute__((constructor)) static void set_up(void)
{
    pthread_mutex_init(&all.lock, NULL);
    read_limit();
    read_paths();
    dpulib_on_fork(reset);
}

__attribute__((destructor)) static void free_paths(void)
{
    free(all.paths);
}

/* --- losing --- */

static const char *reason(int error)
{
    switch (error) {
    case EPIPE: return "it has ended";
    case ETIMEDOUT: return "it said nothing for too long (DPU_SOFT_SERVER_SECONDS)";
    case EPROTO: return "it sent what no server sends";
    default: return strerror(error);
    }
}

/* A text of another process, for messages. */
static void make_printable(char text[DPULIB_TEXT_MAX])
{
    text[DPULIB_TEXT_MAX - 1] = 0;
    for (char *at = text; *at != 0; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
}

/* With the lock. The first reason counts. */
static void lose(struct dpulib_server *server, const char *why)
{
    if (!server->lost)
        snprintf(server->why, sizeof server->why,
                 "the server at %s, which runs DPUs of this program, is lost: %s. Their memories "
                 "are lost with it: start the program and its servers again",
                 server->path, why);
    server->lost = true;
    server->expected = 0;
    for (uint32_t i = 0; i < server->room; i++)
        if (server->dpus[i] != NULL)
            server->dpus[i]->away = server->dpus[i]->brings = false;
    if (server->fd >= 0)
        shutdown(server->fd, SHUT_RDWR);
    pthread_cond_broadcast(&server->heard);
}

void dpulib_server_sent(struct dpulib_server *server, int error)
{
    if (error == 0)
        return;
    pthread_mutex_lock(&server->lock);
    /* It may have said why before it ended. */
    char text[DPULIB_TEXT_MAX];
    struct dpulib_message message;
    bool says = error == EPIPE && !server->receiving &&
                dpulib_receive(server->fd, &message, sizeof message, 0) == 0 &&
                message.kind == DPULIB_TROUBLE &&
                dpulib_receive(server->fd, text, sizeof text, 0) == 0;
    if (says)
        make_printable(text);
    lose(server, says ? text : reason(error));
    pthread_mutex_unlock(&server->lock);
}

/* --- receiving --- */

static void answered(struct dpulib_server *server, bool *flag)
{
    if (*flag && server->expected != 0)
        server->expected--;
    *flag = false;
}

/* The state at the end of a launch. */
static int receive_end(struct dpulib_server *server, struct dpulib_remote *remote,
                       const struct dpulib_message *message, size_t size)
{
    struct dpu_packed packed;
    memset(&packed, 0, sizeof packed);
    int error = dpulib_receive(server->fd, &packed, size, all.limit);
    if (error != 0)
        return error;
    if (message->first > DPU_RUN_NO_MEMORY || !dpu_machine_unpack(remote->copy.machine, &packed))
        return EPROTO;

    pthread_mutex_lock(&server->lock);
    remote->status = message->first;
    remote->translated = message->count != 0;
    answered(server, &remote->away);
    pthread_mutex_unlock(&server->lock);
    return 0;
}

static bool is_asked_for(const struct dpulib_remote *remote, const struct dpulib_message *message)
{
    return remote->brings && message->first >= remote->first &&
           message->first - remote->first + message->count <= remote->pages;
}

/* A message about a DPU. */
static int receive_about(struct dpulib_server *server, struct dpulib_remote *remote,
                         const struct dpulib_message *message, size_t size)
{
    struct dpu_remote_copy *copy = &remote->copy;
    int error = EPROTO;
    switch ((enum dpulib_message_kind)message->kind) {
    case DPULIB_PAGES:
    case DPULIB_ZEROS:
        if (!is_asked_for(remote, message))
            return EPROTO;
        error = dpulib_receive_pages(server->fd, copy, message, all.limit);
        dpu_remote_mark(copy->stale, message->first, message->count, false);
        return error;
    case DPULIB_READ:
        if (!is_asked_for(remote, message))
            return EPROTO;
        pthread_mutex_lock(&server->lock);
        answered(server, &remote->brings);
        pthread_mutex_unlock(&server->lock);
        return 0;
    case DPULIB_CHANGED:
        if (remote->away)
            dpu_remote_mark(copy->stale, message->first, message->count, true);
        return remote->away ? 0 : EPROTO;
    case DPULIB_ENDED: return remote->away ? receive_end(server, remote, message, size) : EPROTO;
    default: return EPROTO;
    }
}

/* One message, if there is one within LIMIT. Its text, if it has one, is told as the reason. */
static int receive(struct dpulib_server *server, int64_t limit, char text[DPULIB_TEXT_MAX])
{
    struct pollfd one = {.fd = server->fd, .events = POLLIN};
    struct dpulib_message message;
    size_t size;
    if (poll(&one, 1, (int)((limit + CLOCK_MILLISECOND - 1) / CLOCK_MILLISECOND)) <= 0)
        return 0;
    int error = dpulib_receive(server->fd, &message, sizeof message, all.limit);
    if (error != 0)
        return error;

    pthread_mutex_lock(&server->lock);
    struct dpulib_remote *remote = message.dpu < server->room ? server->dpus[message.dpu] : NULL;
    server->last = clock_now();
    pthread_mutex_unlock(&server->lock);

    if (message.kind == DPULIB_ALIVE)
        return 0;
    if (message.kind == DPULIB_TROUBLE) {
        error = dpulib_receive(server->fd, text, DPULIB_TEXT_MAX, all.limit);
        make_printable(text);
        return error != 0 ? error : EPIPE;
    }
    if (remote == NULL || !dpulib_message_size(&message, &remote->copy, &size))
        return EPROTO;
    return receive_about(server, remote, &message, size);
}

void dpulib_server_expect(struct dpulib_server *server, bool *flag)
{
    *flag = true;
    if (server->expected++ == 0)
        server->last = clock_now();
}

/* With the lock, which it releases meanwhile: lets another thread receive, or does so itself. */
static void receive_or_wait(struct dpulib_server *server, int64_t deadline)
{
    int64_t until = clock_now() + RECEIVE_LIMIT;
    until = deadline < until ? deadline : until;
    if (server->receiving) {
        struct timespec at = {until / CLOCK_SECOND, until % CLOCK_SECOND};
        pthread_cond_timedwait(&server->heard, &server->lock, &at);
        return;
    }

    char text[DPULIB_TEXT_MAX] = "";
    server->receiving = true;
    pthread_mutex_unlock(&server->lock);
    int64_t limit = until - clock_now();
    int error = receive(server, limit > 0 ? limit : 0, text);

    pthread_mutex_lock(&server->lock);
    server->receiving = false;
    if (error == 0 && server->expected != 0 && clock_now() - server->last > all.limit)
        error = ETIMEDOUT;
    if (error != 0)
        lose(server, *text != 0 ? text : reason(error));
    pthread_cond_broadcast(&server->heard);
}

/* With the lock: after a loss, the thread that receives may still be writing to a DPU. It ends at
 * once, as nothing comes any more. */
static void let_receiver_end(struct dpulib_server *server)
{
    while (server->lost && server->receiving)
        pthread_cond_wait(&server->heard, &server->lock);
}

void dpulib_server_wait(struct dpulib_server *server, const bool *flag, int64_t deadline)
{
    while (*flag) {
        receive_or_wait(server, deadline);
        if (*flag && clock_now() >= deadline)
            return;
    }
    let_receiver_end(server);
}

/* --- connections --- */

/* Both tell each other who they are. */
static int greet(struct dpulib_server *server, char theirs[DPULIB_TEXT_MAX])
{
    char mine[DPULIB_TEXT_MAX];
    struct dpulib_message hello = {.kind = DPULIB_HELLO};
    dpulib_hello(mine);
    int error = dpulib_send(server->fd, &hello, mine, sizeof mine, all.limit);
    if (error == 0)
        error = dpulib_receive(server->fd, &hello, sizeof hello, all.limit);
    if (error == 0 && hello.kind != DPULIB_HELLO)
        error = EPROTO;
    if (error == 0)
        error = dpulib_receive(server->fd, theirs, DPULIB_TEXT_MAX, all.limit);
    make_printable(theirs);
    return error == 0 && strcmp(mine, theirs) != 0 ? EPROTONOSUPPORT : error;
}

static dpu_error_t connect_to(struct dpulib_server *server)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, server->path, strlen(server->path) + 1);
    server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->fd < 0)
        return dpulib_fail(DPU_ERR_SYSTEM, "no socket: %s", strerror(errno));
    if (connect(server->fd, (struct sockaddr *)&address, sizeof address) != 0)
        return dpulib_fail(DPU_ERR_ALLOCATION,
                           "the server at %s (DPU_SOFT_SERVERS) cannot be reached: %s. Start it by "
                           "python -m dpu.serve %s, or all of them by python -m dpu.hosts",
                           server->path, strerror(errno), server->path);

    char theirs[DPULIB_TEXT_MAX] = "", mine[DPULIB_TEXT_MAX];
    int error = greet(server, theirs);
    dpulib_hello(mine);
    if (error == EPROTONOSUPPORT)
        return dpulib_fail(DPU_ERR_ALLOCATION,
                           "the server at %s is '%s', and this library is '%s': install the same "
                           "version on all hosts",
                           server->path, theirs, mine);
    if (error != 0)
        return dpulib_fail(DPU_ERR_ALLOCATION, "the server at %s does not answer: %s", server->path,
                           reason(error));
    return DPU_OK;
}

/* With the lock of all. */
static void disconnect(struct dpulib_server *server)
{
    if (server->fd >= 0)
        close(server->fd);
    free(server->dpus);
    free(server->run);
    server->fd = -1;
    server->dpus = NULL;
    server->run = NULL;
    server->run_room = 0;
    server->owner = NULL;
    server->room = server->expected = 0;
    server->lost = false;
}

/* With both locks: a free number. False if out of memory. */
static bool take_number(struct dpulib_server *server, struct dpulib_remote *remote)
{
    uint32_t number = server->count == server->room ? server->room : 0;
    while (number < server->room && server->dpus[number] != NULL)
        number++;
    if (number == server->room) {
        uint32_t room = 2 * server->room + 64;
        struct dpulib_remote **dpus =
            number < DPULIB_REMOTE_DPUS_MAX ? realloc(server->dpus, room * sizeof *dpus) : NULL;
        if (dpus == NULL)
            return false;
        memset(dpus + server->room, 0, (room - server->room) * sizeof *dpus);
        server->dpus = dpus;
        server->room = room;
    }

    server->dpus[number] = remote;
    server->count++;
    remote->number = number;
    return true;
}

dpu_error_t dpulib_server_add(struct dpulib_server *server, struct dpulib_remote *remote)
{
    dpu_error_t status = DPU_OK;
    pthread_mutex_lock(&all.lock);
    if (server->count == 0) {
        status = connect_to(server);
        if (status != DPU_OK)
            disconnect(server);
    }
    if (status == DPU_OK) {
        pthread_mutex_lock(&server->lock);
        if (server->lost)
            status = dpulib_fail(DPU_ERR_ALLOCATION, "%s", server->why);
        else if (!take_number(server, remote))
            status = dpulib_fail(DPU_ERR_ALLOCATION, "out of memory (servers)");
        pthread_mutex_unlock(&server->lock);
        if (status != DPU_OK && server->count == 0)
            disconnect(server);
    }
    pthread_mutex_unlock(&all.lock);
    return status;
}

void dpulib_server_remove(struct dpulib_remote *remote)
{
    struct dpulib_server *server = remote->server;
    pthread_mutex_lock(&all.lock);
    pthread_mutex_lock(&server->lock);
    let_receiver_end(server);
    const bool tells = remote->exists && !server->lost;
    server->dpus[remote->number] = NULL;
    server->count--;
    pthread_mutex_unlock(&server->lock);

    const struct dpulib_message message = {.kind = DPULIB_FREE, .dpu = remote->number};
    int error = 0;
    pthread_mutex_lock(&server->sending);
    if (server->owner == remote)
        server->owner = NULL;
    if (tells && server->count != 0)
        error = dpulib_send(server->fd, &message, NULL, 0, all.limit);
    pthread_mutex_unlock(&server->sending);
    dpulib_server_sent(server, error);
    if (server->count == 0)
        disconnect(server);
    pthread_mutex_unlock(&all.lock);
}
