/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Huge pages in a memory file.
 *
 * The kernel looks up every page of memory that it reads or sends for a process, as MPI has it do,
 * and so do drivers of networks: with pages of 2 MiB that is one where there were 512. By default
 * Linux gives a memory file none; since 6.1 it makes them on demand.
 */
#ifndef ACCL_HUGE_PAGES_H
#define ACCL_HUGE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#define HUGE_PAGE (UINT64_C(2) << 20)

/* Maps BYTES of FD, shared and writable, at a multiple of HUGE_PAGE. MAP_FAILED with errno. */
void *acclib_huge_map(int fd, uint64_t bytes);

/*
 * Makes the pages number FIRST to END, in units of HUGE_PAGE, of the file FD that is mapped at BASE
 * huge. They keep what is in them, and any process may use them meanwhile. False with errno if some
 * are not huge, which changes nothing else: EAGAIN and EBUSY if they may be so later.
 */
bool acclib_huge_make(int fd, uint8_t *base, uint64_t first, uint64_t end);

#endif
