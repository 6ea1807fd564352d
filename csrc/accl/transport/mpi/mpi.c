/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/mpi/mpi.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accl/base/error.h"
#include "accl/base/operation.h"
#include "common/clock.h"

/* Of the message to oneself. */
#define TRY_TAG 77
#define TRY_BYTES 40
#define TRY_NS (10 * CLOCK_SECOND)

#define REDUCTIONS (1u << ACCL_REDUCE | 1u << ACCL_ALLREDUCE | 1u << ACCL_REDUCE_SCATTER)

static const char *const names[MPI_FN_COUNT] = {
#define MPI_FUNCTION_NAME(name, text) text,
    MPI_FUNCTIONS(MPI_FUNCTION_NAME)};

static int check_setup(const struct accl_mpi *setup)
{
    uint32_t last =
        setup->status_source > setup->status_tag ? setup->status_source : setup->status_tag;
    if (setup->handle_bytes != sizeof(int) && setup->handle_bytes != sizeof(void *))
        return acclib_fail(ACCL_UNSUPPORTED, "MPI handles of %u bytes are not supported",
                           setup->handle_bytes);
    if (setup->status_bytes > MPI_STATUS_ROOM || setup->status_bytes < sizeof(int) ||
        last > setup->status_bytes - sizeof(int))
        return acclib_fail(
            ACCL_UNSUPPORTED,
            "an MPI_Status of %u bytes with its fields at %u and %u is not supported",
            setup->status_bytes, setup->status_source, setup->status_tag);

    return ACCL_OK;
}

int acclib_mpi_bind(struct mpi *mpi, const struct accl_mpi *setup)
{
    memset(mpi, 0, sizeof *mpi);
    int status = check_setup(setup);
    if (status != ACCL_OK)
        return status;

    mpi->calls = setup->handle_bytes == sizeof(int) ? &acclib_mpi_of_int : &acclib_mpi_of_pointer;
    mpi->handle_bytes = setup->handle_bytes;
    mpi->comm = setup->comm;
    mpi->byte = setup->byte;
    mpi->status_source = setup->status_source;
    mpi->status_tag = setup->status_tag;
    mpi->any_source = setup->any_source;
    mpi->any_tag = setup->any_tag;
    mpi->reductions = setup->reductions & REDUCTIONS;
    mpi->reduction_comm = setup->reduction_comm;
    memcpy(mpi->reduction_types, setup->reduction_types, sizeof mpi->reduction_types);
    memcpy(mpi->reduction_functions, setup->reduction_functions, sizeof mpi->reduction_functions);

    /* Loaded already, perhaps with names that only its own users see. */
    mpi->library = dlopen(setup->library, RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL);
    if (mpi->library == NULL) {
        const char *why = dlerror();
        return acclib_fail(ACCL_NOT_FOUND, "%s is not loaded: %s", setup->library,
                           why != NULL ? why : "no such library");
    }

    size_t functions = mpi->reductions ? MPI_FN_COUNT : MPI_FN_NEEDED;
    for (size_t i = 0; i < functions; i++) {
        void *address = dlsym(mpi->library, names[i]);
        memcpy(&mpi->functions[i], &address, sizeof address);
        if (address != NULL)
            continue;
        acclib_mpi_unbind(mpi);
        return acclib_fail(ACCL_UNSUPPORTED, "%s has no %s: is it linked to MPI?", setup->library,
                           names[i]);
    }

    return ACCL_OK;
}

void acclib_mpi_unbind(struct mpi *mpi)
{
    if (mpi->library != NULL)
        dlclose(mpi->library);
    mpi->library = NULL;
}

/* True if all libraries and orders give the same result but for rounding. */
static bool is_defined(uint32_t type, uint32_t function)
{
    bool floats = type == ACCL_FLOAT32 || type == ACCL_FLOAT64;
    bool integers = type == ACCL_INT32 || type == ACCL_INT64;
    bool adds = function == ACCL_SUM || function == ACCL_PROD;
    return (integers && function <= ACCL_PROD) || (floats && adds);
}

bool acclib_mpi_reduces(const struct mpi *mpi, const struct mpi_reduction *r, uint32_t ranks)
{
    uint64_t operands = operation_parts_read(operation_facts(r->operation), ranks);
    return mpi->reductions >> r->operation & 1 && is_defined(r->type, r->function) &&
           r->count <= INT_MAX / operands;
}

void acclib_mpi_describe(const struct mpi *mpi, int error, char *text, size_t space)
{
    typedef int error_string_fn(int, char *, int *);
    error_string_fn *describe = (error_string_fn *)mpi->functions[MPI_FN_ERROR_STRING];
    char full[4096] = "";
    int length = 0;

    if (describe(error, full, &length))
        snprintf(full, sizeof full, "code %d", error);
    full[sizeof full - 1] = 0;
    snprintf(text, space, "MPI error: %s", full);
}

/* --- trying it --- */

struct trial {
    struct trial *next;
    const struct mpi *mpi;
    int rank, size;
    bool lent; /* MPI may read and write the message */
    uint8_t out[TRY_BYTES], in[TRY_BYTES + 8];
};

/* Those that MPI did not end, whose memory it may use as long as the process lives. */
static struct trial *_Atomic lent_trials;

static void trial_free(struct trial *t)
{
    if (!t->lent) {
        free(t);
        return;
    }

    t->next = atomic_load(&lent_trials);
    while (!atomic_compare_exchange_weak(&lent_trials, &t->next, t))
        ;
}

static int fails(const struct trial *t, int error, const char *what)
{
    char text[256] = "";
    if (error)
        acclib_mpi_describe(t->mpi, error, text, sizeof text);
    return acclib_fail(ACCL_UNSUPPORTED, "the MPI library cannot be called from C: %s%s%s", what,
                       error ? ": " : "", text);
}

/* A message that matches, within the limit; -1 if there is none. */
static int find(const struct trial *t, int from, int tag, struct mpi_envelope *envelope)
{
    int64_t deadline = clock_now() + TRY_NS;
    bool found = false;
    int error = 0;
    while (!found && !error && clock_now() < deadline)
        error = t->mpi->calls->probe(t->mpi, from, tag, &found, envelope);
    return error || found ? error : -1;
}

static int finish(const struct trial *t, union mpi_request *request)
{
    int64_t deadline = clock_now() + TRY_NS;
    bool done = false;
    int error = 0;
    while (!done && !error && clock_now() < deadline)
        error = t->mpi->calls->test(t->mpi, request, &done);
    return error || done ? error : -1;
}

static int run(struct trial *t)
{
    const struct mpi_calls *calls = t->mpi->calls;
    struct mpi_envelope own, any;
    union mpi_request sending, receiving;
    int rank = -1, size = -1, error;

    if ((error = calls->place(t->mpi, &rank, &size)))
        return fails(t, error, "MPI_Comm_rank");
    if (rank != t->rank || size != t->size)
        return acclib_fail(ACCL_INVALID,
                           "the MPI communicator has %d ranks of which this is %d, communicator 0 "
                           "has %d of which this is %d",
                           size, rank, t->size, t->rank);

    for (int i = 0; i < TRY_BYTES; i++)
        t->out[i] = (uint8_t)(i * 7 + 1);
    t->lent = true;
    if ((error = calls->send(t->mpi, t->out, TRY_BYTES, rank, TRY_TAG, &sending)))
        return fails(t, error, "MPI_Isend to itself");
    if ((error = find(t, rank, TRY_TAG, &own)))
        return fails(t, error > 0 ? error : 0, "MPI_Iprobe finds no message of this rank");
    if (own.source != rank || own.tag != TRY_TAG || own.bytes != TRY_BYTES)
        return fails(t, 0, "a status has other fields than those it was made with");

    /* Packets of others may be there too. */
    if ((error = find(t, t->mpi->any_source, t->mpi->any_tag, &any)))
        return fails(t, error > 0 ? error : 0, "MPI_Iprobe finds no message of any rank");
    if (any.source < 0 || any.source >= size)
        return fails(t, 0, "a status names no rank");

    if ((error = calls->receive(t->mpi, t->in, sizeof t->in, rank, TRY_TAG, &receiving)))
        return fails(t, error, "MPI_Irecv");
    if ((error = finish(t, &receiving)) || (error = finish(t, &sending)))
        return fails(t, error > 0 ? error : 0, "a message to itself does not end");
    t->lent = false;
    if (memcmp(t->in, t->out, TRY_BYTES) != 0)
        return fails(t, 0, "a message has other data than was sent");

    return ACCL_OK;
}

int acclib_mpi_try(const struct mpi *mpi, int rank, int size)
{
    struct trial *t = calloc(1, sizeof *t);
    if (t == NULL)
        return acclib_fail(ACCL_NO_MEMORY, "out of memory (MPI)");

    *t = (struct trial){.mpi = mpi, .rank = rank, .size = size};
    int status = run(t);

    trial_free(t);
    return status;
}
