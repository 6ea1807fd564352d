/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VE shared memory, System V memory attached by VE processes, and user DMA: they need the
 * hardware's address translation, and fail here with ENOSYS.
 */
#include <errno.h>

#include "ve_offload.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"

static void refuse(const char *function)
{
    veolib_fail(ENOSYS, "%s needs a real Vector Engine; the soft libveo does not support it",
                function);
}

/* Parameters are part of the ABI and not read. */
#define REFUSE(type, name, value, ...) \
    VEO_EXPORT type name(__VA_ARGS__) \
    { \
        refuse(#name); \
        return value; \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"

typedef void *address;
#define NOWHERE ((void *)-1)

REFUSE(int, veo_shared_mem_open, -1, void *addr, size_t size, int syncnum, long long mode)
REFUSE(int, veo_shared_mem_close, -1, void *addr, size_t size, int syncnum, long long mode)
REFUSE(address, veo_shared_mem_attach, NOWHERE, struct veo_proc_handle *proc, pid_t pid, void *addr,
       size_t size, int syncnum, long long mode)
REFUSE(int, veo_shared_mem_detach, -1, struct veo_proc_handle *proc, void *addr, long long mode)
REFUSE(int, veo_shmget, -1, struct veo_proc_handle *proc, int key, size_t size, int flag)
REFUSE(address, veo_shmat, NOWHERE, struct veo_proc_handle *proc, int shmid, const void *addr,
       int flag, void **out)
REFUSE(int, veo_shmdt, -1, struct veo_proc_handle *proc, const void *addr)
REFUSE(int, veo_dma_post, -ENOSYS, struct veo_proc_handle *proc, uint64_t dst, uint64_t src,
       int size, ve_dma_handle_t *handle)
REFUSE(int, veo_dma_poll, -ENOSYS, struct veo_proc_handle *proc, ve_dma_handle_t *handle)
REFUSE(int, veo_dma_post_wait, -ENOSYS, struct veo_proc_handle *proc, uint64_t dst, uint64_t src,
       int size)
REFUSE(uint64_t, veo_register_mem_to_dmaatb, UINT64_MAX, void *addr, size_t size)
REFUSE(int, veo_unregister_mem_from_dmaatb, -1, struct veo_proc_handle *proc, uint64_t addr)

VEO_EXPORT void veo_access_pcircvsyc_register(struct veo_proc_handle *proc)
{
    refuse(__func__);
}
