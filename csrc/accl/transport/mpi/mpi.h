/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI library that this process has loaded: the few functions that carry packets, called by
 * address. No header of MPI is needed and nothing is linked, so one build serves every MPI.
 *
 * Handles are int in MPICH, and pointers in Open MPI and in the standard ABI; mpi_calls.inc is
 * compiled for each. The rest that differs comes from the caller: see struct accl_mpi.
 *
 * Functions return 0 or an error code of MPI. None waits. Which thread may call them is what MPI
 * was initialised for; the caller sees to it.
 */
#ifndef ACCL_MPI_H
#define ACCL_MPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accl.h"

/* X(name here, name in the library) */
#define MPI_FUNCTIONS(X) \
    X(ISEND, "MPI_Isend") \
    X(IRECV, "MPI_Irecv") \
    X(IPROBE, "MPI_Iprobe") \
    X(TEST, "MPI_Test") \
    X(TESTANY, "MPI_Testany") \
    X(CANCEL, "MPI_Cancel") \
    X(GET_COUNT, "MPI_Get_count") \
    X(ERROR_STRING, "MPI_Error_string") \
    X(COMM_RANK, "MPI_Comm_rank") \
    X(COMM_SIZE, "MPI_Comm_size") \
    X(IREDUCE, "MPI_Ireduce") \
    X(IALLREDUCE, "MPI_Iallreduce") \
    X(IREDUCE_SCATTER_BLOCK, "MPI_Ireduce_scatter_block")

enum mpi_function {
#define MPI_FUNCTION_ENUM(name, text) MPI_FN_##name,
    MPI_FUNCTIONS(MPI_FUNCTION_ENUM)
#undef MPI_FUNCTION_ENUM
        MPI_FN_COUNT,
    MPI_FN_NEEDED = MPI_FN_IREDUCE /* the others are for reductions */
};

/* A message that is being sent or received; its memory belongs to MPI until mpi_test() says so. */
union mpi_request {
    int number;
    void *pointer;
};

/* Of a message that can be received. */
struct mpi_envelope {
    int source, tag, bytes;
};

/* A reduction that MPI makes, and numbers of accl.h. */
struct mpi_reduction {
    uint32_t operation, function, type, root;
    uint64_t count; /* elements of the result */
};

struct mpi;

struct mpi_calls {
    int (*send)(const struct mpi *mpi, const void *data, int bytes, int to, int tag,
                union mpi_request *request);
    int (*receive)(const struct mpi *mpi, void *data, int bytes, int from, int tag,
                   union mpi_request *request);
    int (*probe)(const struct mpi *mpi, int from, int tag, bool *found,
                 struct mpi_envelope *envelope);
    int (*test)(const struct mpi *mpi, union mpi_request *request, bool *done);
    int (*place)(const struct mpi *mpi, int *rank, int *size);

    /* Request number AT of REQUESTS, which has mpi->handle_bytes for each. */
    int (*receive_at)(const struct mpi *mpi, void *data, int bytes, int from, int tag,
                      void *requests, uint32_t at);
    /* One of N requests from number FIRST on that has ended, or *AT = -1; it received *BYTES. An
     * error with *AT ended that one alone. */
    int (*test_any)(const struct mpi *mpi, void *requests, uint32_t first, int n, int *at,
                    int *bytes);
    int (*cancel_at)(const struct mpi *mpi, void *requests, uint32_t at);

    /* Begins a reduction that acclib_mpi_reduces(). */
    int (*reduce)(const struct mpi *mpi, const struct mpi_reduction *reduction, const void *operand,
                  void *result, union mpi_request *request);
};

extern const struct mpi_calls acclib_mpi_of_int, acclib_mpi_of_pointer;

/* A library, and a communicator of it. */
struct mpi {
    const struct mpi_calls *calls;
    void (*functions[MPI_FN_COUNT])(void);
    void *library;
    uint64_t comm, byte;
    uint32_t reductions; /* and what follows it: as in struct accl_mpi */
    uint64_t reduction_comm, reduction_types[4], reduction_functions[4];
    uint32_t handle_bytes;
    uint32_t status_source, status_tag; /* offsets */
    int any_source, any_tag;
};

/* Larger than any status. */
#define MPI_STATUS_ROOM 128

/* Finds the functions. A status of accl.h; ACCL_UNSUPPORTED if it is no MPI that can be used. */
int acclib_mpi_bind(struct mpi *mpi, const struct accl_mpi *setup);
void acclib_mpi_unbind(struct mpi *mpi);

/* Sends a message to this process and receives it: whether handles, statuses and constants are as
 * SETUP said, and the communicator has SIZE ranks of which this is RANK. A status of accl.h. */
int acclib_mpi_try(const struct mpi *mpi, int rank, int size);

/* True if MPI makes this reduction of RANKS ranks. Depends only on values equal on all of them. */
bool acclib_mpi_reduces(const struct mpi *mpi, const struct mpi_reduction *reduction,
                        uint32_t ranks);

/* Writes MPI's text for an error code. */
void acclib_mpi_describe(const struct mpi *mpi, int error, char *text, size_t space);

#endif
