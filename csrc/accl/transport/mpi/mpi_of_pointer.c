/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI libraries whose handles are pointers: Open MPI, and the standard ABI of MPI 5. */
#define HANDLE void *
#define HANDLE_OF(word) ((void *)(uintptr_t)(word))
#define HANDLE_IN(request) ((request)->pointer)
#define CALLS acclib_mpi_of_pointer

#include "accl/transport/mpi/mpi_calls.inc"
