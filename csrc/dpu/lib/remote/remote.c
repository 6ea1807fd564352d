/* SPDX-License-Identifier: BSD-3-Clause */
/* remote.c: launches of DPUs that are with a server, and the pages of their memories. */
#include "dpu/lib/remote/remote.h"

#include "common/clock.h"
#include "dpu/lib/core/settings.h"
#include "dpu/lib/remote/server.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that are brought beside those that were asked for. */
#define AHEAD_MOST (16u << 20)

/* DPUs that this thread works on. */
static _Thread_local struct {
    struct dpu_t *dpus;
    uint32_t count;
} together;

void dpulib_remote_together(struct dpu_t *dpus, uint32_t count)
{
    together.dpus = dpus;
    together.count = dpus != NULL ? count : 0;
}

/* --- pages --- */

static struct dpulib_remote *remote_of(struct dpu_remote_copy *copy)
{
    return (struct dpulib_remote *)((char *)copy - offsetof(struct dpulib_remote, copy));
}

/* Those of COUNT pages that are stale are brought. */
static void ask(struct dpulib_remote *remote, uint32_t first, uint32_t count)
{
    struct dpulib_server *server = remote->server;
    const struct dpulib_message message = {DPULIB_READ, remote->number, first, count};
    pthread_mutex_lock(&server->lock);
    bool asks = !server->lost;
    if (asks) {
        remote->first = first;
        remote->pages = count;
        dpulib_server_expect(server, &remote->brings);
    }
    pthread_mutex_unlock(&server->lock);
    if (!asks)
        return;

    pthread_mutex_lock(&server->sending);
    int error = dpulib_send(server->fd, &message, NULL, 0, dpulib_server_limit());
    pthread_mutex_unlock(&server->sending);
    dpulib_server_sent(server, error);
}

static void await(struct dpulib_remote *remote)
{
    struct dpulib_server *server = remote->server;
    pthread_mutex_lock(&server->lock);
    dpulib_server_wait(server, &remote->brings, CLOCK_NEVER);
    pthread_mutex_unlock(&server->lock);
}

/* A DPU of those that this thread works on, for which the same pages are stale. */
static bool is_like(const struct dpu_t *dpu, uint32_t first, uint32_t count)
{
    uint32_t some;
    return dpu->remote != NULL && dpu->remote->copy.count >= first + count &&
           dpu_remote_next(&dpu->remote->copy, dpu->remote->copy.stale, first, &some) == first &&
           some >= count;
}

static void fetch(struct dpu_remote_copy *copy, uint32_t first, uint32_t count)
{
    struct dpulib_remote *remote = remote_of(copy);
    const struct dpu_t *own = remote->dpu, *end = together.dpus + together.count;
    const bool more = own >= together.dpus && own < end &&
                      (uint64_t)count * together.count * DPU_REMOTE_PAGE <= AHEAD_MOST;
    ask(remote, first, count);
    for (struct dpu_t *at = together.dpus; more && at < end; at++)
        if (at != own && is_like(at, first, count))
            ask(at->remote, first, count);

    await(remote);
    for (struct dpu_t *at = together.dpus; more && at < end; at++)
        if (at != own && at->remote != NULL)
            await(at->remote);
}

/* The inner pages of a long run: of a broadcast, every DPU has the same, and the server gets them
 * once. */
static int send_run(struct dpulib_remote *remote, const struct dpulib_message *pages)
{
    struct dpulib_server *server = remote->server;
    const size_t size = (size_t)pages->count * DPU_REMOTE_PAGE;
    const uint8_t *memory = dpu_remote_memory(&remote->copy, pages->first);
    if (server->owner != NULL && server->run_first == pages->first &&
        server->run_count == pages->count && memcmp(server->run, memory, size) == 0) {
        struct dpulib_message same = *pages;
        same.kind = DPULIB_SAME;
        return dpulib_send(server->fd, &same, &server->owner->number, sizeof(uint32_t),
                           dpulib_server_limit());
    }

    server->owner = NULL;
    if (server->run_room < size) {
        free(server->run);
        server->run = malloc(size);
        server->run_room = server->run != NULL ? size : 0;
    }
    if (server->run != NULL) {
        memcpy(server->run, memory, size);
        server->owner = remote;
        server->run_first = pages->first;
        server->run_count = pages->count;
    }
    return dpulib_send_pages(server->fd, &remote->copy, pages, dpulib_server_limit());
}

/* Its first and last page may have something else besides, and stay here as well. */
static int send_long(struct dpulib_remote *remote, const struct dpulib_message *pages)
{
    struct dpu_remote_copy *copy = &remote->copy;
    const uint32_t first = pages->first + 1, count = pages->count - 2;
    const struct dpulib_message inner = {DPULIB_PAGES, pages->dpu, first, count};
    int error = send_run(remote, &inner);
    for (uint32_t i = 0; i < 2 && error == 0; i++) {
        const struct dpulib_message edge = {DPULIB_PAGES, pages->dpu,
                                            pages->first + i * (pages->count - 1), 1};
        error = dpulib_send_pages(remote->server->fd, copy, &edge, dpulib_server_limit());
    }

    dpu_remote_drop(copy, first, count);
    dpu_remote_mark(copy->stale, first, count, true);
    return error;
}

/* The server's DPU is about to have other pages. */
static void disown_run(struct dpulib_remote *remote)
{
    if (remote->server->owner == remote)
        remote->server->owner = NULL;
}

/* Sends what was changed, to a server that may not know the DPU yet. Long runs are not kept here as
 * well. */
static int send_changes(struct dpulib_remote *remote)
{
    struct dpu_remote_copy *copy = &remote->copy;
    const int64_t limit = dpulib_server_limit();
    const int fd = remote->server->fd;
    struct dpu_machine_options options;
    const struct dpulib_message create = {.kind = DPULIB_CREATE, .dpu = remote->number};
    int error = 0;
    if (!remote->exists) {
        dpu_machine_get_options(copy->machine, &options);
        error = dpulib_send(fd, &create, &options, sizeof options, limit);
        remote->exists = true;
    }

    disown_run(remote);
    uint32_t count, at = 0;
    while (error == 0 && (at = dpu_remote_next(copy, copy->changed, at, &count)) < copy->count) {
        const struct dpulib_message pages = {DPULIB_PAGES, remote->number, at, count};
        if (at >= copy->mram && count >= DPU_REMOTE_MUCH)
            error = send_long(remote, &pages);
        else
            error = dpulib_send_pages(fd, copy, &pages, limit);
        at += count;
    }

    dpu_remote_mark(copy->changed, 0, copy->count, false);
    copy->has_much = false;
    return error;
}

void dpulib_remote_flush(struct dpu_t *dpu)
{
    struct dpulib_remote *remote = dpu->remote;
    if (remote == NULL || !remote->copy.has_much || dpu->recalled ||
        dpulib_remote_check(dpu) != DPU_OK)
        return;

    struct dpulib_server *server = remote->server;
    pthread_mutex_lock(&server->sending);
    int error = send_changes(remote);
    pthread_mutex_unlock(&server->sending);
    dpulib_server_sent(server, error);
}

/* --- launches --- */

static int send_launch(struct dpulib_remote *remote)
{
    const struct dpu_machine *machine = remote->copy.machine;
    const struct dpulib_message message = {.kind = DPULIB_LAUNCH, .dpu = remote->number};
    struct dpu_packed packed;
    int error = send_changes(remote);
    if (error != 0)
        return error;

    disown_run(remote);
    dpu_machine_pack(machine, &packed);
    return dpulib_send(remote->server->fd, &message, &packed,
                       dpu_packed_size(dpu_machine_thread_count(machine)), dpulib_server_limit());
}

bool dpulib_remote_launch(struct dpu_t *dpu)
{
    struct dpulib_remote *remote = dpu->remote;
    if (remote == NULL || dpu->recalled)
        return false;

    struct dpulib_server *server = remote->server;
    pthread_mutex_lock(&server->lock);
    bool sends = !server->lost;
    if (sends)
        dpulib_server_expect(server, &remote->away);
    pthread_mutex_unlock(&server->lock);
    remote->launched = sends;
    if (!sends)
        return true;

    pthread_mutex_lock(&server->sending);
    int error = send_launch(remote);
    pthread_mutex_unlock(&server->sending);
    dpulib_server_sent(server, error);
    return true;
}

bool dpulib_remote_is_away(const struct dpu_t *dpu)
{
    return dpu->remote != NULL && dpu->remote->launched;
}

static enum dpu_run_status end_of(struct dpu_t *dpu, bool away)
{
    /* Its state may come at any time. */
    if (away)
        return DPU_RUN_STEPPED;
    dpu_machine_get_result(dpu->machine, &dpu->result);
    dpu->remote->launched = false;
    dpu->result.status = dpu->remote->status;
    return (enum dpu_run_status)dpu->remote->status;
}

enum dpu_run_status dpulib_remote_wait(struct dpu_t *dpu, int64_t limit)
{
    struct dpulib_remote *remote = dpu->remote;
    struct dpulib_server *server = remote->server;
    pthread_mutex_lock(&server->lock);
    dpulib_server_wait(server, &remote->away, clock_deadline(limit));
    bool away = remote->away;
    pthread_mutex_unlock(&server->lock);
    return end_of(dpu, away);
}

enum dpu_run_status dpulib_remote_recall(struct dpu_t *dpu)
{
    struct dpulib_remote *remote = dpu->remote;
    struct dpulib_server *server = remote->server;
    const struct dpulib_message message = {.kind = DPULIB_STOP, .dpu = remote->number};
    pthread_mutex_lock(&server->sending);
    int error = dpulib_send(server->fd, &message, NULL, 0, dpulib_server_limit());
    pthread_mutex_unlock(&server->sending);
    dpulib_server_sent(server, error);
    return dpulib_remote_wait(dpu, -1);
}

dpu_error_t dpulib_remote_check(const struct dpu_t *dpu)
{
    if (dpu->remote == NULL)
        return DPU_OK;

    struct dpulib_server *server = dpu->remote->server;
    pthread_mutex_lock(&server->lock);
    dpu_error_t status = server->lost ? dpulib_fail(DPU_ERR_SYSTEM, "%s", server->why) : DPU_OK;
    pthread_mutex_unlock(&server->lock);
    return status;
}

bool dpulib_remote_was_translated(const struct dpu_t *dpu)
{
    return dpu->remote != NULL && dpu->remote->translated;
}

/* --- allocation --- */

static void release(struct dpulib_attachment *attachment)
{
    struct dpulib_remote *remote = (struct dpulib_remote *)attachment;
    dpulib_server_remove(remote);
    remote->dpu->remote = NULL;
    dpu_remote_end(&remote->copy);
    free(remote);
}

static dpu_error_t assign(struct dpu_t *dpu, struct dpulib_server *server)
{
    struct dpulib_remote *remote = calloc(1, sizeof *remote);
    if (remote == NULL)
        return dpulib_fail(DPU_ERR_ALLOCATION, "out of memory (servers)");

    *remote = (struct dpulib_remote){.dpu = dpu, .server = server};
    remote->attachment.release = release;
    dpu_error_t status = dpu_remote_begin(&remote->copy, dpu->machine, fetch)
                             ? dpulib_server_add(server, remote)
                             : dpulib_fail(DPU_ERR_ALLOCATION, "out of memory (servers)");
    if (status != DPU_OK) {
        dpu_remote_end(&remote->copy);
        free(remote);
        return status;
    }

    remote->attachment.next = dpu->attachments;
    dpu->attachments = &remote->attachment;
    dpu->remote = remote;
    return DPU_OK;
}

dpu_error_t dpulib_remote_assign(struct dpu_rank_t *rank)
{
    struct dpulib_server *server = dpulib_server_of(rank);
    if (server == NULL || !dpu_remote_is_possible(&rank->configuration.machine) ||
        dpulib_setting(DPULIB_DPU_PROFILE) != NULL || dpulib_setting(DPULIB_DPU_CHECK) != NULL ||
        dpulib_setting(DPULIB_DPU_DEBUG) != NULL)
        return DPU_OK;

    dpu_error_t status = DPU_OK;
    for (uint32_t i = 0; i < dpulib_rank_size(rank) && status == DPU_OK; i++)
        if (rank->dpus[i].enabled)
            status = assign(&rank->dpus[i], server);
    return status;
}
