/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of other ranks that is not in their memory files: read by process_vm_readv(), where the
 * system permits that. Each rank tries it with each other one, when it attaches to that one's file,
 * and shows the result in its own. ACCL_PROCESS_MEMORY=never: no rank tries.
 *
 * Executor only, but for acclib_peer_memory_offer().
 */
#ifndef ACCL_PEER_MEMORY_H
#define ACCL_PEER_MEMORY_H

#include "accl/base/communicator.h"
#include "accl/transport/shm/peer.h"

/* Puts a word for others to read into the header of this rank's file. */
void acclib_peer_memory_offer(accl_device *device);

/* Tries to read that of PEER, which is process PID and whose file is mapped. */
void acclib_peer_memory_try(accl_device *device, struct peer *peer, pid_t pid);

/* True if global rank RANK, or all other members of COMM, can read the memory of this process. */
bool acclib_peer_memory_is_read_by(const accl_device *device, uint32_t rank);
bool acclib_peer_memory_is_read(const accl_device *device, const struct communicator *comm);

/* Elements in the memory of another process, and what they become. */
struct peer_elements {
    uint64_t at, count;
    uint32_t type, to_type;
    bool via16; /* rounded to float16 on the way */
};

/* Copies them from the process of global rank RANK to TO. Does not wait. False if that process has
 * died, or the system does not permit it: others post no more addresses for this rank then. */
bool acclib_peer_memory_read(accl_device *device, uint32_t rank, const struct peer_elements *from,
                             uint8_t *to);

#endif
