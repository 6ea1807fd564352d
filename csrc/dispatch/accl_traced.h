/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accl_traced.h: the functions of accl.h that take time, once: X(name, bytes, device, parameters,
 * arguments), where DEVICE tells the rank, or is NULL.
 */
#ifndef ACCL_TRACED_H
#define ACCL_TRACED_H

#include "accl.h"

#define ACCL_TRACED(X) \
    X(accl_create_communicator, 0, device, \
      (accl_device * device, const struct accl_rank *members, uint32_t n, uint32_t local_rank, \
       uint32_t *id), \
      (device, members, n, local_rank, id)) \
    X(accl_setup_rx_buffers, bytes, device, \
      (accl_device * device, uint32_t count, uint64_t bytes), (device, count, bytes)) \
    X(accl_split_communicator, 0, device, \
      (accl_device * device, uint32_t comm, const uint32_t *indices, uint32_t n, uint32_t *id), \
      (device, comm, indices, n, id)) \
    X(accl_memory_read, bytes, device, \
      (accl_device * device, uint64_t address, void *data, uint64_t bytes), \
      (device, address, data, bytes)) \
    X(accl_memory_write, bytes, device, \
      (accl_device * device, uint64_t address, const void *data, uint64_t bytes), \
      (device, address, data, bytes)) \
    X(accl_buffer_sync_to_device, bytes, NULL, \
      (accl_buffer * buffer, uint64_t offset, uint64_t bytes), (buffer, offset, bytes)) \
    X(accl_buffer_sync_from_device, bytes, NULL, \
      (accl_buffer * buffer, uint64_t offset, uint64_t bytes), (buffer, offset, bytes)) \
    X(accl_request_wait, 0, NULL, (accl_request * request, int64_t timeout), (request, timeout))

/* Structure that the function of that name fills. */
typedef struct accl_communicator_info accl_traced_info;

/* And those with functions of their own: X(name). */
#define ACCL_TRACED_APART(X) X(accl_close) X(accl_call_sync) X(accl_call_start)

#endif
