/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * serve.c: running DPUs of another process; see remote/message.h.
 *
 * One thread, the caller's, receives, and never sends but at the beginning: the other side may send
 * as long as it likes without receiving. Threads of the server's own run launches, slice by slice,
 * and send. What a DPU has is its own as long as it is in the line of work or at work, and the
 * receiver's else.
 */
#include "common/clock.h"
#include "common/copy.h"
#include "common/cores.h"
#include "common/list.h"
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/remote/message.h"
#include "dpu/translate/translate.h"
#include "dpusoft.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SLICE_ROUNDS (1 << 20)
/* Less than what the other side waits for at least. */
#define TRANSLATION_LIMIT CLOCK_SECOND
#define THREADS_MAX 1024

struct served {
    struct list_node node; /* in the line of work */
    struct dpu_machine *machine;
    struct dpu_remote_copy copy;
    uint32_t number;
    bool busy;                 /* with the lock, as what follows */
    bool stops;                /* its launch is to end */
    bool reads;                /* pages are asked for, else it is a launch */
    struct dpulib_message ask; /* which */
};

struct service {
    int fd;
    pthread_mutex_t lock, sending;
    pthread_cond_t has_work;
    struct list work;
    struct served **dpus; /* by number */
    uint32_t room;
    bool ends;
    int64_t told; /* when something was sent; under the lock of sending */
};

/* --- sending --- */

static void say(struct service *s, uint32_t kind, const struct served *dpu, uint32_t first,
                uint32_t count)
{
    const struct dpulib_message message = {kind, dpu->number, first, count};
    (void)dpulib_send(s->fd, &message, NULL, 0, -1);
    s->told = clock_coarse();
}

static void say_alive(struct service *s, const struct served *dpu)
{
    pthread_mutex_lock(&s->sending);
    if (clock_coarse() - s->told > DPULIB_ALIVE_SECONDS * CLOCK_SECOND / 2)
        say(s, DPULIB_ALIVE, dpu, 0, 0);
    pthread_mutex_unlock(&s->sending);
}

/* The last that is sent: the other side reads it when it finds the stream at its end. */
static void give_up(struct service *s, const char *why)
{
    char text[DPULIB_TEXT_MAX] = "";
    const struct dpulib_message message = {.kind = DPULIB_TROUBLE};
    strncpy(text, why, sizeof text - 1);
    pthread_mutex_lock(&s->sending);
    (void)dpulib_send(s->fd, &message, text, sizeof text, CLOCK_SECOND);
    pthread_mutex_unlock(&s->sending);
}

/* --- work --- */

/* The other side may send the next message about it from now on. */
static void set_idle(struct service *s, struct served *dpu)
{
    pthread_mutex_lock(&s->lock);
    dpu->busy = dpu->stops = false;
    pthread_mutex_unlock(&s->lock);
}

static void read_pages(struct service *s, struct served *dpu)
{
    const struct dpulib_message ask = dpu->ask;
    pthread_mutex_lock(&s->sending);
    (void)dpulib_send_pages(s->fd, &dpu->copy, &ask, -1);
    set_idle(s, dpu);
    (void)dpulib_send(s->fd, &ask, NULL, 0, -1);
    s->told = clock_coarse();
    pthread_mutex_unlock(&s->sending);
}

static void end_launch(struct service *s, struct served *dpu, enum dpu_run_status status)
{
    struct dpu_remote_copy *copy = &dpu->copy;
    struct dpu_packed packed;
    dpu_machine_pack(dpu->machine, &packed);
    const struct dpulib_message message = {
        DPULIB_ENDED,
        dpu->number,
        (uint32_t)status,
        packed.engine == DPU_PACKED_DRIFT && dpu_translate_is_used(dpu->machine),
    };

    pthread_mutex_lock(&s->sending);
    uint32_t count, at = 0;
    while ((at = dpu_remote_next(copy, copy->changed, at, &count)) < copy->count) {
        say(s, DPULIB_CHANGED, dpu, at, count);
        at += count;
    }
    dpu_remote_mark(copy->changed, 0, copy->count, false);
    set_idle(s, dpu);
    (void)dpulib_send(s->fd, &message, &packed, dpu_packed_size(packed.threads), -1);
    pthread_mutex_unlock(&s->sending);
}

/* A slice; true if the launch has ended, or is to stop. */
static bool run_slice(struct service *s, struct served *dpu, enum dpu_run_status *status)
{
    struct dpu_machine_options options;
    dpu_machine_get_options(dpu->machine, &options);
    bool waits = options.engine == DPU_ENGINE_TRANSLATED || options.engine == DPU_ENGINE_LOCKSTEP;
    if (waits && !dpu_translate_is_used(dpu->machine))
        (void)dpu_translate_wait(dpu->machine, clock_deadline(TRANSLATION_LIMIT));

    *status = dpu_machine_slice(dpu->machine, SLICE_ROUNDS, NULL);
    if (options.engine != DPU_ENGINE_DRIFT)
        dpu_translate_poll(dpu->machine, false);
    if (*status != DPU_RUN_INTERRUPTED && *status != DPU_RUN_STEPPED)
        return true;

    pthread_mutex_lock(&s->lock);
    bool stops = dpu->stops;
    pthread_mutex_unlock(&s->lock);
    return stops;
}

static void work_on(struct service *s, struct served *dpu)
{
    enum dpu_run_status status;
    if (dpu->reads) {
        read_pages(s, dpu);
        return;
    }
    if (run_slice(s, dpu, &status)) {
        end_launch(s, dpu, status);
        return;
    }

    say_alive(s, dpu);
    pthread_mutex_lock(&s->lock);
    list_append(&s->work, &dpu->node);
    pthread_cond_signal(&s->has_work);
    pthread_mutex_unlock(&s->lock);
}

static void *work(void *argument)
{
    struct service *s = argument;
    pthread_mutex_lock(&s->lock);
    while (!s->ends) {
        struct list_node *node = list_pop(&s->work);
        if (node == NULL) {
            pthread_cond_wait(&s->has_work, &s->lock);
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        work_on(s, LIST_ENTRY(node, struct served, node));
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void add_work(struct service *s, struct served *dpu)
{
    pthread_mutex_lock(&s->lock);
    dpu->busy = true;
    /* Pages are waited for. */
    if (dpu->reads)
        list_prepend(&s->work, &dpu->node);
    else
        list_append(&s->work, &dpu->node);
    pthread_cond_signal(&s->has_work);
    pthread_mutex_unlock(&s->lock);
}

/* --- receiving --- */

static const char *create(struct service *s, uint32_t number,
                          const struct dpu_machine_options *options)
{
    if (number >= s->room) {
        uint32_t room = 2 * number + 64;
        struct served **dpus = realloc(s->dpus, room * sizeof *dpus);
        if (dpus == NULL)
            return "out of memory";
        memset(dpus + s->room, 0, (room - s->room) * sizeof *dpus);
        s->dpus = dpus;
        s->room = room;
    }

    struct served *dpu = calloc(1, sizeof *dpu);
    if (dpu == NULL)
        return "out of memory";
    dpu->number = number;
    if (dpu_remote_is_possible(options))
        dpu->machine = dpu_machine_create(options);
    if (dpu->machine == NULL || !dpu_remote_begin(&dpu->copy, dpu->machine, NULL)) {
        if (dpu->machine != NULL)
            dpu_remote_end(&dpu->copy);
        dpu_machine_destroy(dpu->machine);
        free(dpu);
        return "out of memory for a DPU, or no server runs such DPUs";
    }

    s->dpus[number] = dpu;
    return NULL;
}

static void destroy(struct service *s, struct served *dpu)
{
    s->dpus[dpu->number] = NULL;
    dpu_remote_end(&dpu->copy);
    dpu_machine_destroy(dpu->machine);
    free(dpu);
}

static const char no_sense[] = "it was sent what makes no sense, as by another version";
static const char gone[] = "the other side has ended";

static const char *launch(struct service *s, struct served *dpu, size_t size)
{
    struct dpu_packed packed;
    memset(&packed, 0, sizeof packed);
    if (dpulib_receive(s->fd, &packed, size, -1) != 0)
        return gone;
    if (!dpu_machine_unpack(dpu->machine, &packed))
        return no_sense;
    dpu_remote_mark(dpu->copy.changed, 0, dpu->copy.count, false);
    dpu->reads = false;
    add_work(s, dpu);
    return NULL;
}

/* Of a DPU whose pages stay what they are meanwhile. */
static const char *copy_pages(struct service *s, struct served *dpu,
                              const struct dpulib_message *pages)
{
    uint32_t number;
    if (dpulib_receive(s->fd, &number, sizeof number, -1) != 0)
        return gone;
    struct served *from = number < s->room ? s->dpus[number] : NULL;
    if (from == NULL || from == dpu || from->copy.count != dpu->copy.count ||
        from->copy.mram != dpu->copy.mram)
        return no_sense;

    pthread_mutex_lock(&s->lock);
    bool runs = from->busy && !from->reads;
    pthread_mutex_unlock(&s->lock);
    if (runs)
        return no_sense;
    copy_memory(dpu_remote_memory(&dpu->copy, pages->first),
                dpu_remote_memory(&from->copy, pages->first),
                (size_t)pages->count * DPU_REMOTE_PAGE);
    return NULL;
}

/* NULL, or why it cannot go on. */
static const char *receive_about(struct service *s, struct served *dpu,
                                 const struct dpulib_message *message, size_t size)
{
    switch ((enum dpulib_message_kind)message->kind) {
    case DPULIB_FREE: destroy(s, dpu); return NULL;
    case DPULIB_PAGES:
    case DPULIB_ZEROS:
        return dpulib_receive_pages(s->fd, &dpu->copy, message, -1) == 0 ? NULL : gone;
    case DPULIB_SAME: return copy_pages(s, dpu, message);
    case DPULIB_READ:
        dpu->ask = *message;
        dpu->reads = true;
        add_work(s, dpu);
        return NULL;
    case DPULIB_LAUNCH: return launch(s, dpu, size);
    default: return no_sense;
    }
}

static const char *receive(struct service *s)
{
    struct dpulib_message message;
    struct dpu_machine_options options;
    size_t size;
    if (dpulib_receive(s->fd, &message, sizeof message, -1) != 0)
        return gone;
    struct served *dpu = message.dpu < s->room ? s->dpus[message.dpu] : NULL;
    if (!dpulib_message_size(&message, dpu != NULL ? &dpu->copy : NULL, &size))
        return no_sense;
    if (message.kind == DPULIB_CREATE)
        return dpulib_receive(s->fd, &options, sizeof options, -1) == 0
                   ? create(s, message.dpu, &options)
                   : gone;
    if (dpu == NULL)
        return no_sense;

    pthread_mutex_lock(&s->lock);
    bool busy = dpu->busy;
    /* The end may be on its way. */
    if (message.kind == DPULIB_STOP && busy) {
        dpu->stops = true;
        dpu_machine_interrupt(dpu->machine);
    }
    pthread_mutex_unlock(&s->lock);
    if (message.kind == DPULIB_STOP)
        return NULL;
    return busy ? no_sense : receive_about(s, dpu, &message, size);
}

static const char *greet(struct service *s)
{
    char mine[DPULIB_TEXT_MAX], theirs[DPULIB_TEXT_MAX];
    struct dpulib_message hello = {.kind = DPULIB_HELLO};
    dpulib_hello(mine);
    if (dpulib_send(s->fd, &hello, mine, sizeof mine, -1) != 0 ||
        dpulib_receive(s->fd, &hello, sizeof hello, -1) != 0)
        return gone;
    if (hello.kind != DPULIB_HELLO)
        return no_sense;
    if (dpulib_receive(s->fd, theirs, sizeof theirs, -1) != 0)
        return gone;
    return memcmp(mine, theirs, sizeof mine) == 0 ? NULL : no_sense;
}

/* --- its life --- */

static uint32_t start_threads(struct service *s, pthread_t *threads, uint32_t count)
{
    /* Signals are for the program's own threads. */
    sigset_t all, old;
    uint32_t started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (started < count && pthread_create(&threads[started], NULL, work, s) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

/* Ends the work, wherever it is. */
static void stop_threads(struct service *s, const pthread_t *threads, uint32_t count)
{
    pthread_mutex_lock(&s->lock);
    s->ends = true;
    for (uint32_t i = 0; i < s->room; i++)
        if (s->dpus[i] != NULL)
            dpu_machine_interrupt(s->dpus[i]->machine);
    pthread_cond_broadcast(&s->has_work);
    pthread_mutex_unlock(&s->lock);
    shutdown(s->fd, SHUT_RDWR);
    for (uint32_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

DPU_EXPORT dpu_error_t dpusoft_serve(int fd, uint32_t threads)
{
    struct service s = {.fd = fd,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .sending = PTHREAD_MUTEX_INITIALIZER,
                        .has_work = PTHREAD_COND_INITIALIZER};
    uint32_t count = threads != 0 ? threads : usable_cores();
    count = count < THREADS_MAX ? count : THREADS_MAX;
    pthread_t *started = calloc(count, sizeof *started);
    uint32_t running = started != NULL ? start_threads(&s, started, count) : 0;

    const char *why = running != 0 ? greet(&s) : "no thread could be started";
    while (why == NULL)
        why = receive(&s);
    if (why != gone)
        give_up(&s, why);

    stop_threads(&s, started, running);
    for (uint32_t i = 0; i < s.room; i++)
        if (s.dpus[i] != NULL)
            destroy(&s, s.dpus[i]);
    free(s.dpus);
    free(started);
    return why == gone ? DPU_OK : dpulib_fail(DPU_ERR_SYSTEM, "the server gave up: %s", why);
}
