/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI libraries whose handles are int: MPICH and those made of it. */
#define HANDLE int
#define HANDLE_OF(word) ((int)(word))
#define HANDLE_IN(request) ((request)->number)
#define CALLS acclib_mpi_of_int

#include "accl/transport/mpi/mpi_calls.inc"
