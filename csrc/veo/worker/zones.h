/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zones.h: for checks of VE code (VEO_CHECK), which of the memory that is shared with the host VE
 * code may access: the host's list of blocks says so.
 */
#ifndef VEOW_ZONES_H
#define VEOW_ZONES_H

/* Once the header is mapped, and before VE code is loaded. */
void veow_zones_setup(void);

#endif
