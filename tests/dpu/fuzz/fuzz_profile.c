/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libdpu
 *
 * Fuzz target: profiles, the texts by which programs ask for DPUs. An input is three of them with
 * zero bytes between: of the call, of UPMEM_PROFILE_BASE and of UPMEM_PROFILE. Whatever they say,
 * they are refused with a text, or ranks of that kind can be made.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dpu.h"
#include "dpu/lib/ranks/configuration.h"
#include "dpu_config.h"
#include "dpusoft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXTS = 3, LONGEST = 4096 };

static void require(int condition, const char *what)
{
    if (!condition) {
        dprintf(STDERR_FILENO, "contract broken: %s (%s)\n", what, dpusoft_last_error_detail());
        abort();
    }
}

static void check_limits(const struct dpulib_configuration *p)
{
    require(p->members >= 1 && p->members <= DPU_MAX_NR_DPUS_PER_CI, "DPUs of a slice");
    require(p->clock_mhz >= 1 && p->clock_mhz <= 4000, "a frequency");
    require(p->clock_division >= 1 && p->clock_division <= 8, "a division");
    require(p->ranks >= 1 && p->ranks <= 4096, "ranks");
    require(p->jobs_per_rank >= 1 && p->host_threads <= 1024, "jobs and threads");
}

static void use(const char *text)
{
    struct dpulib_configuration profile;
    struct dpu_set_t set;
    uint32_t count = 0;

    dpu_error_t read = dpulib_configuration_read(&profile, text);
    dpu_error_t status = dpu_alloc(1, text, &set);
    if (read != DPU_OK) {
        require(status == read, "the same answer");
        require(dpusoft_last_error_detail()[0] != '\0', "an error with a text");
        return;
    }
    check_limits(&profile);
    if (status != DPU_OK) {
        require(dpusoft_last_error_detail()[0] != '\0', "an error with a text");
        return;
    }
    require(dpu_get_nr_dpus(set, &count) == DPU_OK && count == 1, "a DPU");
    require(dpu_free(set) == DPU_OK, "the set can be freed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (stderr == NULL || fileno(stderr) == STDERR_FILENO) {
        /* The library's warnings; sanitizers write to the descriptor. */
        stderr = fopen("/dev/null", "w");
        require(stderr != NULL, "a stream for warnings");
    }
    char *texts[TEXTS];
    for (int i = 0; i < TEXTS; i++) {
        const uint8_t *end = size != 0 ? memchr(data, 0, size) : NULL;
        size_t length = end != NULL ? (size_t)(end - data) : size;
        texts[i] =
            strndup(length != 0 ? (const char *)data : "", length < LONGEST ? length : LONGEST);
        require(texts[i] != NULL, "memory");
        length += end != NULL;
        data += length;
        size -= length;
    }
    setenv("UPMEM_PROFILE_BASE", texts[1], 1);
    setenv("UPMEM_PROFILE", texts[2], 1);
    use(texts[0]);
    for (int i = 0; i < TEXTS; i++)
        free(texts[i]);
    return 0;
}
