/* SPDX-License-Identifier: BSD-3-Clause */
/* accl_trace.c: the functions of accl_traced.h, noting their time, and calls by their operations.
 */
#include "accl_traced.h"

#include "accl_table.h"
#include "trace.h"

#include <pthread.h>

#define DEVICES 256

static struct accl_table real;
static struct accl_table *traced;

/* --- ranks: in its first communicator, of each device that is open --- */

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const accl_device *device; /* NULL: nothing is here */
    int32_t rank;
} ranks[DEVICES];

/* The place of a device, or, for NULL, an empty one. DEVICES if there is none. */
static size_t place_of(const accl_device *device)
{
    size_t i = 0;
    while (i < DEVICES && ranks[i].device != device)
        i++;
    return i;
}

static void keep(const accl_device *device, int32_t rank)
{
    pthread_mutex_lock(&guard);
    size_t i = place_of(NULL);
    if (i < DEVICES && place_of(device) == DEVICES) {
        ranks[i].device = device;
        ranks[i].rank = rank;
    }
    pthread_mutex_unlock(&guard);
}

static void forget(const accl_device *device)
{
    pthread_mutex_lock(&guard);
    size_t i = place_of(device);
    if (i < DEVICES)
        ranks[i].device = NULL;
    pthread_mutex_unlock(&guard);
}

static int32_t rank_of(accl_device *device)
{
    accl_traced_info info = {.size = sizeof info};
    if (device == NULL)
        return -1;

    pthread_mutex_lock(&guard);
    size_t i = place_of(device);
    int32_t rank = i < DEVICES ? ranks[i].rank : -1;
    pthread_mutex_unlock(&guard);
    if (rank >= 0 || real.accl_communicator_info(device, ACCL_GLOBAL_COMM, &info) != ACCL_OK)
        return rank;

    keep(device, (int32_t)info.local_rank);
    return (int32_t)info.local_rank;
}

/* --- functions --- */

static const char *name_of(const struct accl_call *call)
{
    switch (call->operation) {
#define X(name, value) \
    case value: return "accl " #name;
        ACCL_OPERATION_LIST(X)
#undef X
    default: return "accl call";
    }
}

/* Bytes that it works on: elements of its type, or of the one that it is compressed to. */
static uint64_t bytes_of(const struct accl_call *call)
{
    switch (call->operation == ACCL_CONFIG || call->operation == ACCL_BARRIER ? 0 : call->dtype) {
#define X(name, value, bytes, text, arithmetic) \
    case value: return call->count * (bytes);
        ACCL_DTYPE_LIST(X)
#undef X
    default: return 0;
    }
}

static void traced_accl_close(accl_device *device)
{
    int64_t begin = offchip_trace_now();
    int32_t rank = rank_of(device);
    if (device != NULL)
        forget(device);
    real.accl_close(device);
    offchip_trace_add("accl_close", begin, 0, rank);
}

static int traced_accl_call_sync(accl_device *device, const struct accl_call *call,
                                 uint32_t *retcode)
{
    int64_t begin = offchip_trace_now();
    int status = real.accl_call_sync(device, call, retcode);
    offchip_trace_add(name_of(call), begin, bytes_of(call), rank_of(device));
    return status;
}

static int traced_accl_call_start(accl_device *device, const struct accl_call *call,
                                  accl_request *const *waitfor, size_t n, accl_request **request)
{
    int64_t begin = offchip_trace_now();
    int status = real.accl_call_start(device, call, waitfor, n, request);
    offchip_trace_add(name_of(call), begin, bytes_of(call), rank_of(device));
    return status;
}

#define X(name, bytes, device, parameters, arguments) \
    OFFCHIP_TRACED(real, int, name, bytes, rank_of(device), parameters, arguments)
ACCL_TRACED(X)
#undef X

bool accl_table_trace(struct accl_table *table)
{
    if (traced != NULL)
        return false;

    traced = table;
    real = *table;
    offchip_trace_begin();
#define X(name, ...) OFFCHIP_TRACE_FIELD(table, name)
    ACCL_TRACED(X)
    ACCL_TRACED_APART(X)
#undef X
    return true;
}

void accl_table_untrace(struct accl_table *table)
{
    if (traced != table)
        return;

#define X(name, ...) OFFCHIP_UNTRACE_FIELD(table, real, name)
    ACCL_TRACED(X)
    ACCL_TRACED_APART(X)
#undef X
    traced = NULL;
}
