/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the vendor's driver does not support. */
#include "driver.hpp"

/* X(name, parameters) */
#define UNSUPPORTED_LIST(X) \
    X(accl_free_communicator, (accl_device *, uint32_t)) \
    X(accl_completion_fd, (accl_device *, int *)) \
    X(accl_stream_mode, (accl_device *, int, accl_stream_hook, void *)) \
    X(accl_stream_push, (accl_device *, const void *, size_t)) \
    X(accl_stream_pull, (accl_device *, uint32_t *, void *, size_t, size_t *, int64_t)) \
    X(accl_next_tags, (accl_device *, uint32_t, int64_t *, uint32_t)) \
    X(accl_dump_waits, (accl_device *, char *, size_t, size_t *)) \
    X(accl_packet_next, (accl_device *, struct accl_packet *)) \
    X(accl_packet_done, (accl_device *, uint64_t)) \
    X(accl_packet_space, (accl_device *, uint64_t, struct accl_packet *)) \
    X(accl_packet_arrived, (accl_device *, uint32_t, uint64_t)) \
    X(accl_packet_wait, (accl_device *, int64_t)) \
    X(accl_packet_wake, (accl_device *)) \
    X(accl_packet_outstanding, (accl_device *, uint64_t *)) \
    X(accl_packet_leave, (accl_device *)) \
    X(accl_packet_lost, (accl_device *, uint32_t, const char *)) \
    X(accl_mpi_start, (accl_device *, const struct accl_mpi *)) \
    X(accl_mpi_stop, (accl_device *, int64_t))

#define UNSUPPORTED(name, parameters) \
    ACCL_EXPORT int name parameters \
    { \
        return driver::fail(ACCL_UNSUPPORTED, "the vendor's driver has no " #name); \
    }
UNSUPPORTED_LIST(UNSUPPORTED)
