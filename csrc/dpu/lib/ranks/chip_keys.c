/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/ranks/chip_keys.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/verbose.h"

#include <string.h>

#define REFUSED(...) dpulib_fail(DPU_ERR_INVALID_PROFILE, "the profile says " __VA_ARGS__)

/* --- what contradicts itself --- */

static dpu_error_t check_pipeline(const struct dpu_machine_options *m)
{
    if (m->forwarding > m->round_cycles)
        return REFUSED("softPipelineForwarding=%u, but it must be at most softPipelineCycles (%u), "
                       "after which there is nothing to forward",
                       m->forwarding, m->round_cycles);
    return DPU_OK;
}

static dpu_error_t check_refresh(const struct dpu_machine_options *m)
{
    if (m->dram_refresh_cycles >= m->dram_refresh_interval)
        return REFUSED("softDramRefreshCycles=%u, but it must be less than softDramRefreshInterval "
                       "(%u)",
                       m->dram_refresh_cycles, m->dram_refresh_interval);
    return DPU_OK;
}

static dpu_error_t check_pages(const struct dpu_machine_options *m)
{
    if ((m->tlb_page & (m->tlb_page - 1)) != 0)
        return REFUSED("softTlbPageBytes=%u, but it must be a power of two", m->tlb_page);
    return DPU_OK;
}

static dpu_error_t check_banks(const struct dpulib_configuration *configuration)
{
    struct dpu_machine_options m = configuration->machine;
    m.clock_mhz = configuration->clock_mhz;
    if (dpu_machine_dram_is_possible(&m))
        return DPU_OK;

    if ((m.dram_row_bytes & (m.dram_row_bytes - 1)) != 0)
        return REFUSED("softDramRowBytes=%u, but it must be a power of two", m.dram_row_bytes);
    if (m.dram_ras < m.dram_rcd)
        return REFUSED(
            "softDramRasClocks=%u, but it must be at least softDramRcdClocks (%u): a row "
            "is open when it is accessed",
            m.dram_ras, m.dram_rcd);
    if (m.dram_open_row_first != 0 && m.dram_open_rows == 0)
        return REFUSED("softDramOpenRowFirst=1, but no row is open between two transfers: that "
                       "needs softDramOpenRows=1");
    if (m.dram_open_row_first != 0 && m.dma_engines != 1)
        return REFUSED("softDramOpenRowFirst=1 and softDmaEngines=%u, but only transfers that wait "
                       "for the same engine are put into another order",
                       m.dma_engines);
    return REFUSED("softDramRefreshInterval=%u and softDramRefreshCycles=%u, but no row can be "
                   "opened (%u clocks) and accessed (%u) in the cycles between",
                   m.dram_refresh_interval, m.dram_refresh_cycles, m.dram_rcd, m.dram_ccd);
}

static dpu_error_t check_cache(const struct dpu_machine_options *m)
{
    if (dpu_machine_cache_is_possible(m))
        return DPU_OK;

    uint32_t lines = m->cache_kib * 1024 / m->cache_line;
    if ((m->cache_line & (m->cache_line - 1)) != 0)
        return REFUSED("softCacheLineBytes=%u, but it must be a power of two", m->cache_line);
    if (m->dram_open_row_first != 0)
        return REFUSED("softCacheKiB=%u and softDramOpenRowFirst=1, but what a cache writes back "
                       "is not put into another order",
                       m->cache_kib);
    return REFUSED("softCacheKiB=%u, softCacheLineBytes=%u and softCacheWays=%u, but %u lines in "
                   "sets of %u must be a power of two of sets",
                   m->cache_kib, m->cache_line, m->cache_ways, lines, m->cache_ways);
}

/* --- what changes nothing --- */

static bool begins_with(const char *key, const char *start)
{
    return strncmp(key, start, strlen(start)) == 0;
}

/* Keys of the machine by which time is modelled; the others are a limit, sizes and switches. */
static bool is_of_time(const char *key)
{
    return begins_with(key, "softPipeline") || begins_with(key, "softDma") ||
           begins_with(key, "softDram") || begins_with(key, "softTlb");
}

static bool is_of_banks(const char *key)
{
    return begins_with(key, "softDram") && !begins_with(key, "softDramRefresh") &&
           strcmp(key, "softDramBanks") != 0;
}

static bool is_of_constants(const char *key)
{
    return begins_with(key, "softDma") && strcmp(key, "softDmaEngines") != 0;
}

/* Why a key that is not as usual changes nothing; NULL if it does. */
static const char *why_not(const struct dpulib_configuration *configuration, const char *key)
{
    bool has_banks = configuration->machine.dram_banks != 0;
    if (configuration->vendor_accounting && is_of_time(key))
        return "with backend=simulator an instruction takes a cycle on any chip";
    if (has_banks && is_of_constants(key))
        return "with softDramBanks transfers take what rows and columns do";
    if (configuration->machine.tlb_entries == 0 && begins_with(key, "softTlb"))
        return "MRAM is not translated without softTlbEntries";
    if (configuration->machine.cache_kib == 0 && begins_with(key, "softCache"))
        return "there is no cache without softCacheKiB";
    if (!has_banks && is_of_banks(key))
        return "there are no banks without softDramBanks";
    return NULL;
}

static void tell_of_no_effect(const struct dpulib_configuration *configuration)
{
    static struct dpulib_told told;
    struct dpu_machine_options plain;
    dpu_machine_default_options(&plain);
#define TELL(key, type, field, ...) \
    if (configuration->machine.field != plain.field && why_not(configuration, key) != NULL) \
        dpulib_log_once( \
            &told, DPULIB_WARNING, "the profile says %s=%llu, but %s: it changes nothing", key, \
            (unsigned long long)configuration->machine.field, why_not(configuration, key));
    DPU_MACHINE_NUMBERS(TELL)
#undef TELL
}

dpu_error_t dpulib_chip_keys_check(const struct dpulib_configuration *configuration)
{
    dpu_error_t status = check_refresh(&configuration->machine);
    if (status == DPU_OK)
        status = check_pipeline(&configuration->machine);
    if (status == DPU_OK)
        status = check_pages(&configuration->machine);
    if (status == DPU_OK)
        status = check_banks(configuration);
    if (status == DPU_OK)
        status = check_cache(&configuration->machine);
    if (status == DPU_OK)
        tell_of_no_effect(configuration);
    return status;
}
