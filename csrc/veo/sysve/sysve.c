/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of NEC's libsysve for kernels: vhshm.h and vedma.h. Weak, as a kernel may bring them
 * too.
 */
#include <errno.h>
#include <string.h>

#include "vedma.h"
#include "vhshm.h"

#define FOR_KERNELS __attribute__((visibility("default"), weak))

#define DMA_MAX ((128 << 20) - 4)
#define DMA_UNIT 4

/* --- shared memory of the host --- */

FOR_KERNELS int vh_shmget(key_t key, size_t size, int flag)
{
    return shmget(key, size, flag & ~(SHM_HUGETLB | IPC_CREAT));
}

FOR_KERNELS void *vh_shmat(int shmid, const void *address, int flag, void **vehva)
{
    if (vehva == NULL) {
        errno = EINVAL;
        return (void *)-1; // NOLINT(performance-no-int-to-ptr)
    }

    *vehva = shmat(shmid, address, flag);
    return *vehva;
}

FOR_KERNELS int vh_shmdt(const void *address)
{
    return shmdt(address);
}

/* --- DMA --- */

FOR_KERNELS int ve_dma_init(void)
{
    return 0;
}

FOR_KERNELS uint64_t ve_register_mem_to_dmaatb(void *memory, size_t size)
{
    if (memory == NULL || size == 0) {
        errno = EINVAL;
        return UINT64_MAX;
    }
    return (uint64_t)(uintptr_t)memory;
}

FOR_KERNELS int ve_unregister_mem_from_dmaatb(uint64_t vehva)
{
    if (vehva != 0 && vehva != UINT64_MAX)
        return 0;
    errno = EINVAL;
    return -1;
}

FOR_KERNELS int ve_dma_post(uint64_t dst, uint64_t src, int size, ve_dma_handle_t *handle)
{
    if (handle == NULL || size < 0 || size > DMA_MAX || size % DMA_UNIT != 0 ||
        dst % DMA_UNIT != 0 || src % DMA_UNIT != 0)
        return -EINVAL;

    /* The engine's transfers are seen in their order by both sides. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memmove((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, (size_t)size);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    *handle = (ve_dma_handle_t){0, 0};
    return 0;
}

FOR_KERNELS int ve_dma_poll(ve_dma_handle_t *handle)
{
    return handle != NULL ? 0 : -EINVAL;
}

FOR_KERNELS int ve_dma_post_wait(uint64_t dst, uint64_t src, int size)
{
    ve_dma_handle_t handle;
    return ve_dma_post(dst, src, size, &handle);
}
