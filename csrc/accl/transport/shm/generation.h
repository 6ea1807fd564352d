/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generation of the device that a rank has open in a job: the first, the second, ... Any thread.
 *
 * The counts are kept until the process ends, 24 bytes for each name of a job and rank: other ranks
 * compare numbers, and may open their next device of that name at any time. A number that was
 * forgotten would be given again, and its device would be refused, or taken for an earlier one.
 */
#ifndef ACCL_GENERATION_H
#define ACCL_GENERATION_H

#include <stdint.h>

/* Returns the number of devices that this process has had as RANK of JOB. */
uint32_t acclib_generation_of(uint64_t job, uint32_t rank);

/* It has one more. */
void acclib_generation_used(uint64_t job, uint32_t rank);

#endif
