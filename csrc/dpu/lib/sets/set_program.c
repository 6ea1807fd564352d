/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/sets/set_program.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu_program.h"

DPU_EXPORT struct dpu_program_t *dpu_get_program(struct dpu_t *dpu)
{
    if (dpu == NULL)
        return NULL;
    dpulib_lock();
    struct dpu_program_t *program = dpu->program;
    dpulib_unlock();
    return program;
}

DPU_EXPORT void dpu_set_program(struct dpu_t *dpu, struct dpu_program_t *program)
{
    if (dpulib_check_dpu(dpu) != DPU_OK)
        return;
    dpulib_lock();
    dpu->program = program;
    dpulib_unlock();
}

/* The program that the DPUs of a set have; those without one do not count. With the lock. */
static dpu_error_t common_program(const struct dpu_set_t *set, struct dpu_program_t **program)
{
    struct dpu_program_t *common = NULL;
    struct dpu_t *dpu;
    for (struct dpulib_cursor at = {0}; (dpu = dpulib_next_dpu(set, &at)) != NULL;) {
        if (dpu->program == NULL || dpu->program == common)
            continue;
        if (common != NULL)
            return dpulib_fail(DPU_ERR_DIFFERENT_DPU_PROGRAMS,
                               "the DPUs have different programs: access them one by one");
        common = dpu->program;
    }

    if (common == NULL)
        return dpulib_fail(DPU_ERR_NO_PROGRAM_LOADED,
                           "no DPU of this set has a program: load one first");
    *program = common;
    return DPU_OK;
}

dpu_error_t dpulib_set_symbol(const struct dpu_set_t *set, const char *name,
                              struct dpu_symbol_t *symbol)
{
    struct dpu_program_t *program;
    dpu_error_t status = common_program(set, &program);
    return status != DPU_OK ? status : dpu_get_symbol(program, name, symbol);
}

dpu_error_t dpulib_find_symbol(struct dpu_set_t set, const char *name, struct dpu_symbol_t *symbol)
{
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(set);
    if (status == DPU_OK)
        status = dpulib_set_symbol(&set, name, symbol);
    dpulib_unlock();
    return status;
}

DPU_EXPORT dpu_error_t dpu_get_common_program(struct dpu_set_t *dpu_set,
                                              struct dpu_program_t **program)
{
    if (dpu_set == NULL || program == NULL)
        return dpulib_fail(DPU_ERR_INVALID_DPU_SET, "dpu_set and program must not be NULL");

    *program = NULL;
    dpulib_lock();
    dpu_error_t status = dpulib_check_set_locked(*dpu_set);
    if (status == DPU_OK)
        status = common_program(dpu_set, program);
    dpulib_unlock();
    return status;
}
