/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veo_veshm_defs.h: modes of VE shared memory, for the functions of veo_veshm.h. Constants only;
 * the values are those of NEC's header. Soft: they have no effect.
 */
#ifndef VEO_VESHM_DEFS_H
#define VEO_VESHM_DEFS_H

/* How the memory is shared. May be combined with |. */
enum VESHM_mode_flag {
    VE_SHM_RO = 0x1,
    VE_PCISYNC = 0x2,
    VE_REGISTER_PCI = 0x4,
    VE_MAP_256MB = 0x10,
};

/* Where the memory is registered, as the address by which it is reached. */
enum VESHM_additional_mode_flag {
    VE_REGISTER_NONE = 0x1000,
    VE_REGISTER_VEMVA = 0x2000,
    VE_REGISTER_VEHVA = 0x4000,
    VE_MEM_LOCAL = 0x8000,
};

#endif
