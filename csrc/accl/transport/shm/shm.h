/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport between ranks on one host: they map each other's memory files. */
#ifndef ACCL_SHM_H
#define ACCL_SHM_H

#include "accl/transport/transport.h"

extern const struct transport acclib_shm;

#endif
