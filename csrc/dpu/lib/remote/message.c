/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/remote/message.h"

#include "common/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define PAGE DPU_REMOTE_PAGE

static bool are_pages(const struct dpulib_message *message, const struct dpu_remote_copy *copy)
{
    return message->count != 0 && message->first < copy->count &&
           message->count <= copy->count - message->first;
}

bool dpulib_message_size(const struct dpulib_message *message, const struct dpu_remote_copy *copy,
                         size_t *size)
{
    *size = 0;
    switch ((enum dpulib_message_kind)message->kind) {
    case DPULIB_HELLO:
    case DPULIB_TROUBLE: *size = DPULIB_TEXT_MAX; return true;
    case DPULIB_ALIVE: return true;
    case DPULIB_CREATE:
        *size = sizeof(struct dpu_machine_options);
        return copy == NULL && message->dpu < DPULIB_REMOTE_DPUS_MAX;
    case DPULIB_FREE:
    case DPULIB_STOP: return copy != NULL;
    case DPULIB_PAGES:
        *size = (size_t)message->count * PAGE;
        return copy != NULL && are_pages(message, copy);
    case DPULIB_SAME:
        *size = sizeof(uint32_t);
        return copy != NULL && are_pages(message, copy) && message->first >= copy->mram;
    case DPULIB_ZEROS:
    case DPULIB_CHANGED:
    case DPULIB_READ: return copy != NULL && are_pages(message, copy);
    case DPULIB_LAUNCH:
    case DPULIB_ENDED:
        if (copy == NULL)
            return false;
        *size = dpu_packed_size(dpu_machine_thread_count(copy->machine));
        return true;
    case DPULIB_MESSAGE_KINDS: break;
    }
    return false;
}

void dpulib_hello(char text[DPULIB_TEXT_MAX])
{
    memset(text, 0, DPULIB_TEXT_MAX);
    snprintf(text, DPULIB_TEXT_MAX, "offchip %s, %s, structures of %zu and %zu bytes",
             OFFCHIP_VERSION,
#ifdef __x86_64__
             "x86-64",
#else
             "aarch64",
#endif
             sizeof(struct dpu_machine_options), sizeof(struct dpu_packed));
}

/* --- a stream --- */

/* 0 once the socket can be read or written. */
static int wait_for(int fd, short events, int64_t limit)
{
    struct pollfd one = {.fd = fd, .events = events};
    int64_t milliseconds = limit < 0 ? -1 : limit / CLOCK_MILLISECOND + 1;
    int ready = poll(&one, 1, milliseconds > INT32_MAX ? -1 : (int)milliseconds);
    if (ready < 0 && errno != EINTR)
        return errno;
    return ready == 0 ? ETIMEDOUT : 0;
}

static bool would_block(void)
{
    return errno == EAGAIN || errno == EINTR;
}

int dpulib_send(int fd, const struct dpulib_message *message, const void *data, size_t size,
                int64_t limit)
{
    struct dpulib_message copy = {0};
    struct iovec parts[2] = {{&copy, 0}, {(void *)(uintptr_t)data, size}};
    if (message != NULL) {
        copy = *message;
        parts[0].iov_len = sizeof copy;
    }

    while (parts[0].iov_len + parts[1].iov_len != 0) {
        struct msghdr header = {.msg_iov = parts, .msg_iovlen = 2};
        ssize_t sent = sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && !would_block())
            return errno == ECONNRESET ? EPIPE : errno;
        int error = sent < 0 ? wait_for(fd, POLLOUT, limit) : 0;
        if (error != 0)
            return error;

        size_t done = sent > 0 ? (size_t)sent : 0;
        for (int i = 0; i < 2; i++) {
            size_t part = done < parts[i].iov_len ? done : parts[i].iov_len;
            parts[i].iov_base = (uint8_t *)parts[i].iov_base + part;
            parts[i].iov_len -= part;
            done -= part;
        }
    }

    return 0;
}

int dpulib_receive(int fd, void *data, size_t size, int64_t limit)
{
    for (size_t done = 0; done < size;) {
        ssize_t some = recv(fd, (uint8_t *)data + done, size - done, MSG_DONTWAIT);
        if (some == 0 || (some < 0 && errno == ECONNRESET))
            return EPIPE;
        if (some < 0 && !would_block())
            return errno;
        int error = some < 0 ? wait_for(fd, POLLIN, limit) : 0;
        if (error != 0)
            return error;
        done += some > 0 ? (size_t)some : 0;
    }

    return 0;
}

/* --- pages --- */

static bool is_zero(const uint8_t *page)
{
    static const uint8_t zeros[PAGE];
    return memcmp(page, zeros, PAGE) == 0;
}

/* Pages up to END, or the next memory, that are zeros like the first one, or are not. */
static uint32_t find_run(const struct dpu_remote_copy *copy, uint32_t first, uint32_t end,
                         bool *zeros)
{
    const uint32_t memory = first < copy->wram ? copy->wram : first < copy->mram ? copy->mram : end;
    const uint8_t *at = dpu_remote_memory(copy, first);
    uint32_t count = 1;
    end = memory < end ? memory : end;
    *zeros = is_zero(at);
    while (first + count < end && is_zero(at + (size_t)count * PAGE) == *zeros)
        count++;
    return count;
}

int dpulib_send_pages(int fd, const struct dpu_remote_copy *copy,
                      const struct dpulib_message *pages, int64_t limit)
{
    const uint32_t end = pages->first + pages->count;
    int error = 0;
    for (uint32_t at = pages->first; error == 0 && at < end;) {
        bool zeros;
        const uint32_t count = find_run(copy, at, end, &zeros);
        const struct dpulib_message message = {zeros ? DPULIB_ZEROS : DPULIB_PAGES, pages->dpu, at,
                                               count};
        const size_t size = zeros ? 0 : (size_t)count * PAGE;
        error = dpulib_send(fd, &message, dpu_remote_memory(copy, at), size, limit);
        at += count;
    }
    return error;
}

int dpulib_receive_pages(int fd, struct dpu_remote_copy *copy, const struct dpulib_message *pages,
                         int64_t limit)
{
    const uint32_t end = pages->first + pages->count;
    const uint32_t limits[] = {copy->wram, copy->mram, end};
    uint32_t at = pages->first;
    int error = 0;
    for (int i = 0; i < 3 && error == 0; i++) {
        const uint32_t next = limits[i] < end ? limits[i] : end;
        if (at >= next)
            continue;
        uint8_t *memory = dpu_remote_memory(copy, at);
        const size_t size = (size_t)(next - at) * PAGE;
        if (pages->kind == DPULIB_PAGES)
            error = dpulib_receive(fd, memory, size, limit);
        else if (at < copy->mram)
            memset(memory, 0, size);
        else
            dpu_remote_drop(copy, at, next - at);
        at = next;
    }

    dpu_remote_written(copy, pages->first, pages->count);
    return error;
}
