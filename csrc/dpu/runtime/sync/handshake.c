/* SPDX-License-Identifier: BSD-3-Clause */
/* handshake.c: a tasklet's notification of another. */
#include <atomic_bit.h>
#include <errno.h>
#include <handshake.h>

#include "waiting.h"

ATOMIC_BIT_INIT(__handshake);

/* Tasklet that waits for the tasklet; itself if it waits to be waited for. One more, so that 0 is
 * none. */
static volatile uint8_t __handshake_partners[DPU_NR_THREADS];

void handshake_notify(void)
{
    uint32_t id = __dpu_me(), partner;

    ATOMIC_BIT_ACQUIRE(__handshake);
    partner = __handshake_partners[id];
    if (partner == 0) {
        __handshake_partners[id] = (uint8_t)(id + 1);
        ATOMIC_BIT_RELEASE(__handshake);
        __dpu_stop();
        return;
    }
    __handshake_partners[id] = 0;
    ATOMIC_BIT_RELEASE(__handshake);
    __dpu_resume(partner - 1);
}

int handshake_wait_for(sysname_t notifier)
{
    uint32_t id = __dpu_me(), partner;

    ATOMIC_BIT_ACQUIRE(__handshake);
    partner = __handshake_partners[notifier];
    if (partner == 0) {
        __handshake_partners[notifier] = (uint8_t)(id + 1);
        ATOMIC_BIT_RELEASE(__handshake);
        __dpu_stop();
        return 0;
    }
    if (partner != notifier + 1) {
        ATOMIC_BIT_RELEASE(__handshake);
        errno = EALREADY;
        return EALREADY;
    }
    __handshake_partners[notifier] = 0;
    ATOMIC_BIT_RELEASE(__handshake);
    __dpu_resume(notifier);
    return 0;
}
