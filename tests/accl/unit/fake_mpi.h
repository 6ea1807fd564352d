/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI library for ranks that are threads of one process, found through a dlsym() of our own:
 * build with -Wl,--wrap=dlsym. The communicator of rank R is the handle FAKE_COMM + R. Long
 * messages stay in their sender's memory until the second test of their receive, which copies them.
 */
#ifndef ACCL_TEST_FAKE_MPI_H
#define ACCL_TEST_FAKE_MPI_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/support/check.h"

enum {
    FAKE_COMM = 100,
    FAKE_BYTE = 7,
    FAKE_RANKS = 2,
    FAKE_ANY = -5,
    FAKE_PACKET = 0, /* tags: of packets, and of data without a header */
    FAKE_DATA = 1,
    FAKE_ERROR = 17,
    FAKE_STATUS_BYTES = 24,
    FAKE_COUNT_AT = 4,
    FAKE_SOURCE_AT = 8,
    FAKE_TAG_AT = 16,
    FAKE_EAGER = 1000,
    FAKE_MESSAGES = 4096,
    FAKE_RECEIVES = 256,
    FAKE_SENT = 2 * FAKE_MESSAGES + 1,
    FAKE_NULL = 2 * FAKE_MESSAGES + 2,
    FAKE_UNDEFINED = -32766,
    /* Reductions: their communicator, type and function, requests of rank 0 and those of rank 1. */
    FAKE_REDUCTIONS = 300,
    FAKE_FLOAT = 21,
    FAKE_SUM = 31,
    FAKE_REDUCING = 3 * FAKE_MESSAGES,
    FAKE_REDUCING_1 = 4 * FAKE_MESSAGES,
    FAKE_COLLECTIVES = 64,
};

/* The same reduction of both ranks; it ends for both when both have their sums. */
struct fake_reduction {
    bool joined[FAKE_RANKS], added[FAKE_RANKS], seen[FAKE_RANKS];
    int count, from[FAKE_RANKS];
    const float *operand[FAKE_RANKS];
    float *result[FAKE_RANKS];
};

struct fake_message {
    bool used, taken, done;
    int from, to, tag, bytes;
    uint64_t order;
    const void *data;
    uint8_t kept[FAKE_EAGER];
};

struct fake_receive {
    bool used, cancelled;
    int from, to, tag, bytes, tests;
    uint64_t order;
    void *data;
    struct fake_message *message; /* NULL until there is one */
};

/* A request is a message's number + 1; that of a receive is its number with FAKE_MESSAGES + 1
 * added. Short messages are sent at once: FAKE_SENT. */
static struct {
    pthread_mutex_t lock;
    struct fake_message messages[FAKE_MESSAGES];
    struct fake_receive receives[FAKE_RECEIVES];
    uint64_t order;
    int failing_probes;  /* how many fail next */
    int failing_tests;   /* the same of receives of packets */
    bool holds_data;     /* messages of the tag FAKE_DATA do not arrive */
    uint64_t data_sent;  /* messages with it */
    const char *missing; /* a function that is not there */
    struct fake_reduction reductions[FAKE_COLLECTIVES];
    int reduced[FAKE_RANKS]; /* reductions that a rank began */
    int failing_reductions;  /* how many fail next */
    bool holds_reductions;   /* they do not end */
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int fake_isend(const void *data, int bytes, int from, int to, int tag)
{
    pthread_mutex_lock(&fake.lock);
    int i = 0;
    while (i < FAKE_MESSAGES && fake.messages[i].used)
        i++;
    CHECK(i < FAKE_MESSAGES);
    fake.data_sent += tag == FAKE_DATA;
    struct fake_message *m = &fake.messages[i];
    *m = (struct fake_message){.used = true,
                               .from = from,
                               .to = to,
                               .tag = tag,
                               .bytes = bytes,
                               .order = ++fake.order,
                               .data = data};
    if (bytes <= FAKE_EAGER) {
        if (bytes)
            memcpy(m->kept, data, (size_t)bytes);
        m->data = m->kept;
    }
    pthread_mutex_unlock(&fake.lock);
    return bytes <= FAKE_EAGER ? FAKE_SENT : i + 1;
}

static struct fake_message *fake_find(int to, int from, int tag)
{
    struct fake_message *first = NULL;
    for (int i = 0; i < FAKE_MESSAGES; i++) {
        struct fake_message *m = &fake.messages[i];
        if (m->used && !m->taken && m->to == to && (from == FAKE_ANY || m->from == from) &&
            (tag == FAKE_ANY || m->tag == tag) && (first == NULL || m->order < first->order))
            first = m;
    }
    return first;
}

static int fake_iprobe(int from, int tag, int me, int *flag, void *status)
{
    pthread_mutex_lock(&fake.lock);
    int error = fake.failing_probes > 0 ? FAKE_ERROR : 0;
    fake.failing_probes -= error != 0;
    const struct fake_message *m = error ? NULL : fake_find(me, from, tag);
    *flag = m != NULL;
    if (m != NULL) {
        memcpy((uint8_t *)status + FAKE_COUNT_AT, &m->bytes, sizeof(int));
        memcpy((uint8_t *)status + FAKE_SOURCE_AT, &m->from, sizeof(int));
        memcpy((uint8_t *)status + FAKE_TAG_AT, &m->tag, sizeof(int));
    }
    pthread_mutex_unlock(&fake.lock);
    return error;
}

static int fake_irecv(void *data, int bytes, int from, int tag, int me)
{
    pthread_mutex_lock(&fake.lock);
    int i = 0;
    while (i < FAKE_RECEIVES && fake.receives[i].used)
        i++;
    CHECK(i < FAKE_RECEIVES);
    fake.receives[i] = (struct fake_receive){.used = true,
                                             .from = from,
                                             .to = me,
                                             .tag = tag,
                                             .bytes = bytes,
                                             .order = ++fake.order,
                                             .data = data};
    pthread_mutex_unlock(&fake.lock);
    return FAKE_MESSAGES + 1 + i;
}

/* Returns true if a receive that may take the same message was posted before R. */
static bool fake_is_behind(const struct fake_receive *r)
{
    for (int i = 0; i < FAKE_RECEIVES; i++) {
        const struct fake_receive *other = &fake.receives[i];
        if (other->used && other->message == NULL && other->order < r->order &&
            other->to == r->to && other->from == r->from && other->tag == r->tag)
            return true;
    }
    return false;
}

static bool fake_received(struct fake_receive *r)
{
    CHECK(r->used);
    if (r->cancelled && r->message == NULL) {
        r->used = false;
        return true;
    }
    if (r->message == NULL && !fake_is_behind(r) && !(fake.holds_data && r->tag == FAKE_DATA))
        r->message = fake_find(r->to, r->from, r->tag);
    struct fake_message *m = r->message;
    if (m == NULL)
        return false;

    CHECK(m->bytes <= r->bytes);
    m->taken = true;
    bool is_long = m->bytes > FAKE_EAGER;
    if (is_long && r->tests++ == 0)
        return false;

    if (m->bytes)
        memcpy(r->data, m->data, (size_t)m->bytes);
    r->used = false;
    if (is_long)
        m->done = true; /* its sender frees it */
    else
        m->used = false;

    return true;
}

static void fake_status(void *status, int from, int tag, int bytes)
{
    memset(status, 0xEE, FAKE_STATUS_BYTES);
    memcpy((uint8_t *)status + FAKE_COUNT_AT, &bytes, sizeof(int));
    memcpy((uint8_t *)status + FAKE_SOURCE_AT, &from, sizeof(int));
    memcpy((uint8_t *)status + FAKE_TAG_AT, &tag, sizeof(int));
}

/* Begins a reduction of COUNT elements, of which a rank gets those from FROM on. */
static int fake_reduce(int me, const float *operand, float *result, int count, int from,
                       int *request)
{
    pthread_mutex_lock(&fake.lock);
    int error = fake.failing_reductions > 0 ? FAKE_ERROR : 0;
    fake.failing_reductions -= error != 0;
    if (!error) {
        int i = fake.reduced[me]++ % FAKE_COLLECTIVES;
        struct fake_reduction *r = &fake.reductions[i];
        if (r->joined[me])
            memset(r, 0, sizeof *r); /* of an earlier round, which has ended */
        CHECK(!r->joined[1 - me] || r->count == count);
        r->joined[me] = true;
        r->count = count;
        r->from[me] = from;
        r->operand[me] = operand;
        r->result[me] = result;
        *request = (me ? FAKE_REDUCING_1 : FAKE_REDUCING) + i;
    }
    pthread_mutex_unlock(&fake.lock);
    return error;
}

/* With the lock held. */
static bool fake_reduced(int request)
{
    int me = request >= FAKE_REDUCING_1;
    struct fake_reduction *r = &fake.reductions[request - (me ? FAKE_REDUCING_1 : FAKE_REDUCING)];
    CHECK(r->joined[me] && !r->seen[me]);
    if (fake.holds_reductions || !r->joined[1 - me])
        return false;
    for (int i = 0; !r->added[me] && r->result[me] != NULL && i < r->count; i++)
        r->result[me][i] = r->operand[0][r->from[me] + i] + r->operand[1][r->from[me] + i];
    r->added[me] = true;
    r->seen[me] = r->added[1 - me];
    return r->seen[me];
}

/* An error of MPI, or 0 and whether the request has ended. */
static int fake_test(int request, int *flag, void *status)
{
    *flag = true;
    if (request == FAKE_SENT || request == FAKE_NULL)
        return 0;

    pthread_mutex_lock(&fake.lock);
    bool done = false;
    if (request >= FAKE_REDUCING) {
        done = fake_reduced(request);
    } else if (request > FAKE_MESSAGES) {
        struct fake_receive *r = &fake.receives[request - FAKE_MESSAGES - 1];
        if (r->tag == FAKE_PACKET && fake.failing_tests > 0) {
            fake.failing_tests--;
            pthread_mutex_unlock(&fake.lock);
            *flag = false;
            return FAKE_ERROR;
        }
        done = fake_received(r);
        if (done && !r->cancelled)
            fake_status(status, r->message->from, r->tag, r->message->bytes);
    } else {
        struct fake_message *m = &fake.messages[request - 1];
        CHECK(m->used);
        done = m->done;
        m->used = !done;
    }
    pthread_mutex_unlock(&fake.lock);
    *flag = done;
    return 0;
}

static int fake_cancel(int request)
{
    CHECK(request > FAKE_MESSAGES && request < FAKE_SENT);
    pthread_mutex_lock(&fake.lock);
    fake.receives[request - FAKE_MESSAGES - 1].cancelled = true;
    pthread_mutex_unlock(&fake.lock);
    return 0;
}

static int fake_error_string(int error, char *text, int *length)
{
    *length = sprintf(text, "planted %d", error);
    return 0;
}

/* Both kinds of handles: the same functions with another type. */
#define FAKE_FUNCTIONS(kind, handle, rank_of, to_request, of_request) \
    static int kind##_isend(const void *data, int bytes, handle byte, int to, int tag, \
                            handle comm, handle *request) \
    { \
        CHECK(of_request(byte) == FAKE_BYTE); \
        *request = to_request(fake_isend(data, bytes, rank_of(comm), to, tag)); \
        return 0; \
    } \
    static int kind##_irecv(void *data, int bytes, handle byte, int from, int tag, handle comm, \
                            handle *request) \
    { \
        CHECK(of_request(byte) == FAKE_BYTE); \
        *request = to_request(fake_irecv(data, bytes, from, tag, rank_of(comm))); \
        return 0; \
    } \
    static int kind##_iprobe(int from, int tag, handle comm, int *flag, void *status) \
    { \
        return fake_iprobe(from, tag, rank_of(comm), flag, status); \
    } \
    static int kind##_test(handle *request, int *flag, void *status) \
    { \
        memset(status, 0xEE, FAKE_STATUS_BYTES); \
        int error = fake_test(of_request(*request), flag, status); \
        if (*flag) \
            *request = to_request(FAKE_NULL); \
        return error; \
    } \
    static int kind##_testany(int n, handle *requests, int *at, int *flag, void *status) \
    { \
        bool any = false; \
        for (int i = 0; i < n; i++) { \
            if (of_request(requests[i]) == FAKE_NULL) \
                continue; \
            any = true; \
            int error = kind##_test(&requests[i], flag, status); \
            *at = i; \
            if (error || *flag) \
                return error; \
        } \
        *at = FAKE_UNDEFINED; \
        *flag = !any; \
        return 0; \
    } \
    static int kind##_cancel(handle *request) \
    { \
        return fake_cancel(of_request(*request)); \
    } \
    static int kind##_get_count(const void *status, handle byte, int *count) \
    { \
        CHECK(of_request(byte) == FAKE_BYTE); \
        memcpy(count, (const uint8_t *)status + FAKE_COUNT_AT, sizeof(int)); \
        return 0; \
    } \
    static int kind##_comm_rank(handle comm, int *rank) \
    { \
        *rank = rank_of(comm); \
        return 0; \
    } \
    static int kind##_comm_size(handle comm, int *size) \
    { \
        CHECK(rank_of(comm) >= 0); \
        *size = FAKE_RANKS; \
        return 0; \
    } \
    static int kind##_ireduce(const void *operand, void *result, int count, handle type, \
                              handle function, int root, handle comm, handle *request) \
    { \
        int me = rank_of(comm) + FAKE_COMM - FAKE_REDUCTIONS, number = FAKE_NULL; \
        CHECK(of_request(type) == FAKE_FLOAT && of_request(function) == FAKE_SUM); \
        CHECK((result != NULL) == (me == root)); \
        int error = fake_reduce(me, operand, result, count, 0, &number); \
        *request = to_request(number); \
        return error; \
    } \
    static int kind##_iallreduce(const void *operand, void *result, int count, handle type, \
                                 handle function, handle comm, handle *request) \
    { \
        int me = rank_of(comm) + FAKE_COMM - FAKE_REDUCTIONS, number = FAKE_NULL; \
        CHECK(of_request(type) == FAKE_FLOAT && of_request(function) == FAKE_SUM); \
        int error = fake_reduce(me, operand, result, count, 0, &number); \
        *request = to_request(number); \
        return error; \
    } \
    static int kind##_ireduce_scatter_block(const void *operand, void *result, int count, \
                                            handle type, handle function, handle comm, \
                                            handle *request) \
    { \
        int me = rank_of(comm) + FAKE_COMM - FAKE_REDUCTIONS, number = FAKE_NULL; \
        CHECK(of_request(type) == FAKE_FLOAT && of_request(function) == FAKE_SUM); \
        int error = fake_reduce(me, operand, result, count, me * count, &number); \
        *request = to_request(number); \
        return error; \
    } \
    static const struct fake_symbol kind##_symbols[] = { \
        {"MPI_Isend", (fake_fn)kind##_isend}, \
        {"MPI_Irecv", (fake_fn)kind##_irecv}, \
        {"MPI_Iprobe", (fake_fn)kind##_iprobe}, \
        {"MPI_Test", (fake_fn)kind##_test}, \
        {"MPI_Testany", (fake_fn)kind##_testany}, \
        {"MPI_Cancel", (fake_fn)kind##_cancel}, \
        {"MPI_Get_count", (fake_fn)kind##_get_count}, \
        {"MPI_Comm_rank", (fake_fn)kind##_comm_rank}, \
        {"MPI_Comm_size", (fake_fn)kind##_comm_size}, \
        {"MPI_Ireduce", (fake_fn)kind##_ireduce}, \
        {"MPI_Iallreduce", (fake_fn)kind##_iallreduce}, \
        {"MPI_Ireduce_scatter_block", (fake_fn)kind##_ireduce_scatter_block}, \
        {"MPI_Error_string", (fake_fn)fake_error_string}, \
        {NULL, NULL}, \
    };

typedef void (*fake_fn)(void);
struct fake_symbol {
    const char *name;
    fake_fn function;
};

#define INT_RANK(comm) ((comm) - FAKE_COMM)
#define INT_SAME(value) (value)
#define POINTER_RANK(comm) ((int)(intptr_t)(comm) - FAKE_COMM)
#define POINTER_OF(value) ((void *)(intptr_t)(value))
#define POINTER_TO(value) ((int)(intptr_t)(value))
FAKE_FUNCTIONS(of_int, int, INT_RANK, INT_SAME, INT_SAME)
FAKE_FUNCTIONS(of_pointer, void *, POINTER_RANK, POINTER_OF, POINTER_TO)

/* Symbols that dlsym() finds; set while no device uses them. */
static const struct fake_symbol *fake_symbols = of_int_symbols;

void *__wrap_dlsym(void *library, const char *name);

void *__wrap_dlsym(void *library, const char *name)
{
    void *address = NULL;
    if (library == NULL) /* as buildtools/coverage_exit.c asks, in all of the process */
        return NULL;
    if (fake.missing != NULL && strcmp(fake.missing, name) == 0)
        return NULL;
    for (const struct fake_symbol *s = fake_symbols; s->name != NULL; s++)
        if (strcmp(s->name, name) == 0)
            memcpy(&address, &s->function, sizeof address);
    return address;
}

#endif
