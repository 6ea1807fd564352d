/* SPDX-License-Identifier: BSD-3-Clause */
#include "runner.h"

bool dpu_module_take(struct dpu_loaded *loaded)
{
    loaded->module = loaded->object.symbol;
    if (loaded->module->size == sizeof *loaded->module)
        return true;

    dpu_module_unload(loaded);
    return false;
}

bool dpu_module_load(struct dpu_loaded *loaded, const void *data, size_t size)
{
    return host_object_load(&loaded->object, data, size, DPU_MODULE_NAME) &&
           dpu_module_take(loaded);
}

void dpu_module_unload(struct dpu_loaded *loaded)
{
    host_object_unload(&loaded->object);
    loaded->module = NULL;
}
