/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listens under the rank's name, exchanges files with ranks that connect, and introduces the rank
 * to those that are already running.
 *
 * One thread serves all connections at once, so a silent one does not block the others. A rank that
 * starts introduces itself to all others: of two ranks the later one knows the earlier one's
 * process and is known to it, so the death of a rank before its first call is noticed. The two also
 * have each other's file: whoever has that of another rank may leave, as the other one has its own
 * or finds it in a socket.
 *
 * A rank that starts later hears of one that is gone from those that saw it. They have its file or
 * have connected to its process, which they watch as long as it does not answer. A rank that closes
 * its device answers all that have connected, and then tells those whose file it has. As one may
 * notice a death after it was asked, a rank that waits for one that it has not met asks the others
 * again and again, one at a time: what one knows, all know soon.
 */
#include "accl/transport/shm/acceptor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "accl/transport/shm/hello.h"
#include "common/clock.h"

#define GUESTS 128
#define GUEST_NS CLOCK_SECOND
#define NOBODY UINT32_MAX

/* One connection. */
struct guest {
    int fd;
    uint32_t introduced_to; /* the rank that this one connected to; NOBODY: it connected */
    int pidfd;              /* of that rank's process, or -1 */
    bool hung_up;           /* without an answer: its process may be ending */
    struct holder holder;
    int64_t deadline;
    size_t have;
    struct hello in;
    int file; /* that came along, or NO_FILE */
};

/* At most GUESTS that connected, then the oldest has to go; and one for each rank that this one
 * connected to. */
struct acceptor {
    uint32_t n;
    uint32_t asked; /* the rank that was asked again last */
    struct guest guests[GUESTS + RANKS_MAX];
};

static void guest_leave(struct acceptor *acceptor, uint32_t i)
{
    struct guest *guest = &acceptor->guests[i];
    close(guest->fd);
    if (guest->pidfd >= 0)
        close(guest->pidfd);
    if (guest->file >= 0)
        close(guest->file);
    *guest = acceptor->guests[--acceptor->n];
}

/* Returns the number of connections to RANK, or with NOBODY of those that came in. */
static uint32_t guests_of(const struct acceptor *acceptor, uint32_t rank)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < acceptor->n; i++)
        n += acceptor->guests[i].introduced_to == rank;
    return n;
}

/* The oldest that connected is closed; a rank asks again. */
static void make_room(struct acceptor *acceptor)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < acceptor->n; i++)
        if (acceptor->guests[i].deadline < acceptor->guests[oldest].deadline)
            oldest = i;
    guest_leave(acceptor, oldest);
}

static struct guest *guest_add(struct acceptor *acceptor, int fd, const struct holder *holder)
{
    struct guest *guest = &acceptor->guests[acceptor->n++];
    *guest = (struct guest){.fd = fd,
                            .introduced_to = NOBODY,
                            .pidfd = -1,
                            .file = NO_FILE,
                            .holder = *holder,
                            .deadline = clock_now() + GUEST_NS};

    return guest;
}

static void introduce(accl_device *device, struct acceptor *acceptor, uint32_t rank)
{
    struct sockaddr_un name;
    struct holder holder;
    socklen_t length = acclib_hello_name(device, rank, &name);
    struct hello out = acclib_hello_make(device);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return;
    if (connect(fd, (struct sockaddr *)&name, length) != 0 ||
        !acclib_hello_same_user(fd, &holder)) {
        close(fd); /* it is not there yet, and will introduce itself */
        return;
    }

    bool ended;
    struct guest *guest = guest_add(acceptor, fd, &holder);
    guest->introduced_to = rank;
    guest->pidfd = acclib_peer_pidfd(holder.pid, &ended);
    guest->deadline = CLOCK_NEVER;
    acclib_hello_send(device, fd, &out); /* if it is closing, its socket shows that */
}

/* Introduces this rank again to the next one that it has met, and so learns what that one knows. */
static void ask_again(accl_device *device, struct acceptor *acceptor)
{
    for (uint32_t i = 0; i < device->ranks; i++) {
        acceptor->asked = (acceptor->asked + 1) % device->ranks;
        if (peer_of(device, acceptor->asked)->pidfd >= 0 &&
            guests_of(acceptor, acceptor->asked) == 0) {
            introduce(device, acceptor, acceptor->asked);
            return;
        }
    }
}

/* Notes that the process which GUEST is connected to has ended: it was the rank, if it was not one
 * of an earlier job. A later one will introduce itself. */
static void note_death(struct peer *peer, const struct guest *guest)
{
    struct pollfd p = {.fd = guest->pidfd, .events = POLLIN};
    if (poll(&p, 1, 0) == 1 && peer->pidfd < 0)
        atomic_store(&peer->dead, true);
}

static bool makes_sense(const accl_device *device, const struct guest *guest)
{
    const struct hello *in = &guest->in;
    return in->magic == HELLO_MAGIC && in->version == ACCL_ABI_VERSION &&
           in->job == device->shm->job_hash && in->rank < device->ranks && in->rank != device->rank;
}

static void know(accl_device *device, struct guest *guest)
{
    struct peer *peer = peer_of(device, guest->in.rank);
    bool ended = false;

    /* Knowledge of an earlier process does not hold for this one. */
    if (peer->pidfd < 0)
        atomic_store(&peer->dead, false);
    if (guest->pidfd < 0)
        guest->pidfd = acclib_peer_pidfd(guest->holder.pid, &ended);
    acclib_peer_watch(peer, guest->pidfd, ended);
    guest->pidfd = -1;
}

/* Notes that a rank has closed its device before it had an answer. One that closes it later has the
 * answer, and says so itself. */
static void note_leaving(accl_device *device, const struct guest *guest)
{
    uint32_t closed = 0;
    ssize_t n = pread(guest->file, &closed, sizeof closed, offsetof(struct arena_header, closed));
    if (n == (ssize_t)sizeof closed && closed)
        atomic_store(&peer_of(device, guest->in.rank)->in->left, 1);
}

/* Keeps the first file that comes from a rank. */
static void take_file(accl_device *device, struct guest *guest)
{
    struct peer *peer = peer_of(device, guest->in.rank);
    if (guest->file < 0 || !peer->reached || peer->arena != NULL ||
        atomic_load(&peer->handed) != NO_FILE)
        return;

    peer->handed_by = guest->holder.pid;
    atomic_store(&peer->handed, guest->file);
    guest->file = NO_FILE;
}

/* Answers a complete request. */
static void answer(accl_device *device, struct guest *guest)
{
    struct hello out = acclib_hello_make(device);
    out.refused = guest->in.generation != device->shm->generation;
    if (!out.refused) {
        know(device, guest);
        acclib_hello_learn(device, &guest->in);
    }

    /* If that fails, the other side asks again. */
    bool sent = acclib_hello_send(device, guest->fd, &out);
    if (out.refused)
        return;
    note_leaving(device, guest);
    if (sent)
        take_file(device, guest);
}

/* GUEST has sent something or hung up; false if the connection is finished. */
static bool listen_to(accl_device *device, struct guest *guest)
{
    if (guest->hung_up) {
        note_death(peer_of(device, guest->introduced_to), guest);
        return false;
    }

    int file;
    ssize_t n = acclib_hello_receive(guest->fd, (uint8_t *)&guest->in + guest->have,
                                     sizeof guest->in - guest->have, MSG_DONTWAIT, &file);
    if (file >= 0 && guest->file >= 0)
        close(file);
    else if (file >= 0)
        guest->file = file;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0) {
        guest->hung_up = guest->introduced_to != NOBODY && guest->pidfd >= 0 &&
                         peer_of(device, guest->introduced_to)->pidfd < 0;
        return guest->hung_up;
    }

    guest->have += (size_t)n;
    if (guest->have < sizeof guest->in)
        return true;

    if (!makes_sense(device, guest))
        return false;
    if (guest->introduced_to == NOBODY) {
        answer(device, guest);
    } else if (!guest->in.refused && guest->in.rank == guest->introduced_to) {
        know(device, guest);
        acclib_hello_learn(device, &guest->in);
        take_file(device, guest);
    }

    return false;
}

/* Accepts one connection; false if there is none. */
static bool let_in(accl_device *device, struct acceptor *acceptor)
{
    struct holder holder;
    int fd = accept4(device->shm->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return false;
    if (!acclib_hello_same_user(fd, &holder)) {
        close(fd);
        return true;
    }

    if (guests_of(acceptor, NOBODY) == GUESTS)
        make_room(acceptor);
    guest_add(acceptor, fd, &holder);
    return true;
}

static int poll_timeout(const struct acceptor *acceptor)
{
    int64_t first = CLOCK_NEVER, now = clock_now();
    for (uint32_t i = 0; i < acceptor->n; i++)
        if (acceptor->guests[i].deadline < first)
            first = acceptor->guests[i].deadline;
    if (first == CLOCK_NEVER)
        return -1;

    return first <= now ? 0 : (int)((first - now) / CLOCK_MILLISECOND) + 1;
}

/* Serves what is ready, or becomes ready first. False if woken, or on errors. */
static bool serve(accl_device *device, struct acceptor *acceptor, int listener, int waker)
{
    struct pollfd fds[GUESTS + RANKS_MAX + 2];
    uint32_t n = acceptor->n;
    fds[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = waker, .events = POLLIN};
    for (uint32_t i = 0; i < n; i++) {
        const struct guest *guest = &acceptor->guests[i];
        fds[i + 2] =
            (struct pollfd){.fd = guest->hung_up ? guest->pidfd : guest->fd, .events = POLLIN};
    }
    if (poll(fds, n + 2, poll_timeout(acceptor)) < 0)
        return errno == EINTR;

    int64_t now = clock_now();
    /* From the end, as the last one takes the place of one that is removed. */
    for (uint32_t i = n; i-- > 0;) {
        struct guest *guest = &acceptor->guests[i];
        bool stays = fds[i + 2].revents ? listen_to(device, guest) : guest->deadline > now;
        if (!stays)
            guest_leave(acceptor, i);
    }
    if (fds[0].revents)
        let_in(device, acceptor);
    return !fds[1].revents;
}

static void *acceptor_main(void *argument)
{
    accl_device *device = argument;
    struct shm *shm = device->shm;
    struct acceptor *acceptor = shm->acceptor;
    uint64_t woken;
    for (;;) {
        if (serve(device, acceptor, shm->listener, shm->waker))
            continue;
        /* In this order: what is read may be the wake that says to stop; no other follows. */
        if (read(shm->waker, &woken, sizeof woken) < 0 || atomic_load(&shm->stops))
            break;
        ask_again(device, acceptor);
    }

    /* A rank that has connected may be the only one that will have seen this one. One that says
     * nothing delays this by a second. */
    shutdown(shm->listener, SHUT_RD);
    do
        while (guests_of(acceptor, NOBODY) < GUESTS && let_in(device, acceptor))
            continue;
    while (guests_of(acceptor, NOBODY) && serve(device, acceptor, -1, -1));

    /* And answers that are here: their ranks are to be told. */
    for (uint32_t i = 0; i < acceptor->n; i++)
        listen_to(device, &acceptor->guests[i]);
    return NULL;
}

/* Says which process holds the name of this rank. */
static int name_taken(const accl_device *device, const struct sockaddr_un *name, socklen_t length)
{
    struct holder holder = {.uid = geteuid()};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool known = fd >= 0 && connect(fd, (const struct sockaddr *)name, length) == 0 &&
                 acclib_hello_holder(fd, &holder);

    if (fd >= 0)
        close(fd);
    if (known && holder.uid != geteuid())
        return acclib_fail(
            ACCL_IN_USE,
            "the address of rank %u of job '%s' is held by process %d of user %u, "
            "which is no rank of user %u's job: give the job another name (ACCL_JOB) "
            "or other ports",
            device->rank, device->job, (int)holder.pid, (unsigned)holder.uid, (unsigned)geteuid());
    char where[64] = "";
    if (known && holder.pid == getpid())
        snprintf(where, sizeof where, ", in this process");
    else if (known && holder.pid)
        snprintf(where, sizeof where, ", in process %d", (int)holder.pid);

    return acclib_fail(ACCL_IN_USE,
                       "rank %u of job '%s' is already open%s, with the same list of ranks: close "
                       "the other device, or give the jobs different names (ACCL_JOB) or ports",
                       device->rank, device->job, where);
}

int acclib_acceptor_start(accl_device *device)
{
    struct sockaddr_un name;
    socklen_t length = acclib_hello_name(device, device->rank, &name);
    struct acceptor *acceptor = calloc(1, sizeof *acceptor);

    device->shm->acceptor = acceptor;
    device->shm->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    device->shm->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (acceptor == NULL || device->shm->listener < 0 || device->shm->waker < 0) {
        int error = errno;
        acclib_acceptor_stop(device);
        return acclib_fail(ACCL_SYSTEM, "cannot create a socket: %s", strerror(error));
    }

    if (bind(device->shm->listener, (struct sockaddr *)&name, length) != 0 ||
        listen(device->shm->listener, RANKS_MAX) != 0) {
        int error = errno;
        acclib_acceptor_stop(device);
        return error == EADDRINUSE ? name_taken(device, &name, length)
                                   : acclib_fail(ACCL_SYSTEM, "cannot listen: %s", strerror(error));
    }

    for (uint32_t i = 0; i < device->ranks; i++)
        if (i != device->rank && peer_of(device, i)->reached)
            introduce(device, acceptor, i);

    int error = pthread_create(&device->shm->thread, NULL, acceptor_main, device);
    if (error) {
        acclib_acceptor_stop(device);
        return acclib_fail(ACCL_SYSTEM, "cannot start a thread: %s", strerror(error));
    }

    device->shm->runs = true;
    return ACCL_OK;
}

void acclib_acceptor_ask(accl_device *device)
{
    uint64_t one = 1;
    if (write(device->shm->waker, &one, sizeof one) < 0)
        return; /* it was woken often */
}

void acclib_acceptor_stop(accl_device *device)
{
    if (device->shm->runs) {
        atomic_store(&device->shm->stops, true);
        acclib_acceptor_ask(device);
        pthread_join(device->shm->thread, NULL);
        device->shm->runs = false;
    }

    struct acceptor *acceptor = device->shm->acceptor;
    while (acceptor != NULL && acceptor->n)
        guest_leave(acceptor, 0);
    free(acceptor);
    device->shm->acceptor = NULL;
    if (device->shm->listener >= 0)
        close(device->shm->listener);
    if (device->shm->waker >= 0)
        close(device->shm->waker);
    device->shm->listener = device->shm->waker = -1;
}
