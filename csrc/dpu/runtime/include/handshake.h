/* SPDX-License-Identifier: BSD-3-Clause */
/* handshake.h: two tasklets that meet. */
#ifndef DPU_RUNTIME_HANDSHAKE_H
#define DPU_RUNTIME_HANDSHAKE_H

#include <sysdef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lets the tasklet go on that waits for this one, and waits for it if there is none yet. */
void handshake_notify(void);

/*
 * Waits until tasklet NOTIFIER notifies. 0; or EALREADY, at once and with errno set, if another
 * tasklet waits for that one.
 */
int handshake_wait_for(sysname_t notifier);

#ifdef __cplusplus
}
#endif

#endif
