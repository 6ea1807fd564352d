/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases.h"

const char *kernels_path(void)
{
    const char *path = getenv("KERNELS");
    CHECK(path != NULL);
    return path;
}

struct fixture set_up(void)
{
    struct fixture f = {.proc = veo_proc_create(0)};
    CHECK(f.proc != NULL);
    f.library = veo_load_library(f.proc, kernels_path());
    CHECK(f.library != 0);
    f.ctx = veo_context_open(f.proc);
    CHECK(f.ctx != NULL);
    f.args = veo_args_alloc();
    CHECK(f.args != NULL);
    return f;
}

void tear_down(struct fixture *f)
{
    veo_args_free(f->args);
    CHECK_EQUAL(veo_proc_destroy(f->proc), 0);
}

uint64_t symbol(const struct fixture *f, const char *name)
{
    uint64_t address = veo_get_sym(f->proc, f->library, name);
    CHECK(address != 0);
    return address;
}

uint64_t wait_ok(struct veo_thr_ctxt *ctx, uint64_t id)
{
    uint64_t result;
    CHECK(id != VEO_REQUEST_ID_INVALID);
    CHECK_EQUAL(veo_call_wait_result(ctx, id, &result), VEO_COMMAND_OK);
    return result;
}

uint64_t call(const struct fixture *f, struct veo_thr_ctxt *ctx, const char *name)
{
    return wait_ok(ctx, veo_call_async(ctx, symbol(f, name), f->args));
}

double as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float as_float(uint64_t bits)
{
    uint32_t half = (uint32_t)(bits >> 32);
    float value;
    memcpy(&value, &half, sizeof value);
    return value;
}
