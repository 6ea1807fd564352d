/* SPDX-License-Identifier: BSD-3-Clause */
/* configuration.h: the kind of DPUs that a program asks for, and what the library may use for
 * them: UPMEM's profile strings, which have nothing to do with the profiler. */
#ifndef OFFCHIP_DPU_LIB_CONFIGURATION_H
#define OFFCHIP_DPU_LIB_CONFIGURATION_H

#include "dpu_error.h"
#include "dpu_types.h"
#include "dpu/lib/ranks/configuration_keys.h"
#include "dpu/machine/machine.h"

#include <stdbool.h>
#include <stdint.h>

/* Ranks that are for servers, see remote/remote.h. */
enum dpulib_servers { DPULIB_SERVERS_SHARE, DPULIB_SERVERS_ONLY, DPULIB_SERVERS_NONE };

struct dpulib_configuration {
    dpu_type_t backend;      /* that the program is to believe in */
    bool vendor_accounting;  /* backend=simulator */
    uint32_t chip_id;        /* above 8: v1B */
    bool chip_given;         /* by a profile: programs for the other chip are refused */
    uint32_t members;        /* DPUs of a slice, 1 to 8 */
    uint32_t clock_mhz;      /* of the DPUs */
    uint32_t clock_division; /* only told */
    bool reset_on_alloc;
    bool sg_enabled;
    uint32_t sg_max_blocks;
    uint32_t threads_per_rank; /* 0: asynchronous calls are refused */
    uint32_t jobs_per_rank;    /* that a queue holds before a caller has to wait */
    uint32_t ranks;            /* that exist */
    enum dpulib_servers servers;
    bool ranks_given;                /* by a profile or the environment */
    uint32_t host_threads;           /* for launches and copies; 0: all cores */
    uint32_t launch_microseconds;    /* that a launch takes besides its cycles */
    uint32_t instruction_picojoules; /* 0: unknown */
    bool energy_given;               /* by a profile */
    /* MB/s: to and from one DPU, and of all 64 DPUs of a rank together. */
    uint32_t serial_to, serial_from, parallel_to, parallel_from, broadcast;
    uint32_t wram;                            /* MB/s of WRAM and IRAM, of all DPUs together */
    uint32_t call_to, call_from, call_serial; /* microseconds of a call besides its bytes */
    struct dpu_machine_options machine;       /* but its architecture and accounting */
};

/*
 * Reads UPMEM_PROFILE_BASE, TEXT (NULL: nothing) and UPMEM_PROFILE, each over the one before, over
 * the defaults. DPU_ERR_INVALID_PROFILE for a value that makes no sense or an unknown key that
 * begins with "soft"; *configuration is then undefined.
 */
dpu_error_t dpulib_configuration_read(struct dpulib_configuration *configuration, const char *text);

/* The chip of the configuration, and its enum dpu_architecture. */
uint32_t dpulib_architecture(const struct dpulib_configuration *configuration);
struct dpu_chip dpulib_chip(const struct dpulib_configuration *configuration);

/* Energy of instructions of its DPUs in joules; 0: unknown. */
double dpulib_joules(const struct dpulib_configuration *configuration, uint64_t instructions);

/* Cycles per second, which programs find in CLOCKS_PER_SEC. The vendor's simulator says 500 MHz. */
uint32_t dpulib_clock(const struct dpulib_configuration *configuration);

#endif
