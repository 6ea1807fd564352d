/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * null_libveo.c: a libveo that does nothing at once, to see what the Python layer alone costs.
 *
 * It holds what is on the way of a call. The benchmark makes every other name that the package
 * asks for an alias of veo_null().
 */
#include <stddef.h>
#include <stdint.h>

#include <ve_offload.h>
#include <veosoft.h>

static uint64_t next_id;
static char something[64];

long veo_null(void);
long veo_null(void)
{
    return 0;
}

int veo_api_version(void)
{
    return VEO_API_VERSION;
}

const char *veo_version_string(void)
{
    return "0.0.0";
}

const char *veosoft_version(void)
{
    return "null 0.0.0";
}

const char *veosoft_error(void)
{
    return "";
}

const char *veosoft_death_report(struct veo_proc_handle *proc)
{
    (void)proc;
    return "";
}

struct veo_proc_handle *veo_proc_create(int venode)
{
    (void)venode;
    return (void *)something;
}

struct veo_thr_ctxt *veo_context_open(struct veo_proc_handle *proc)
{
    (void)proc;
    return (void *)something;
}

struct veo_thr_ctxt *veosoft_main_context(struct veo_proc_handle *proc)
{
    (void)proc;
    return (void *)something;
}

struct veo_args *veo_args_alloc(void)
{
    return (void *)something;
}

uint64_t veo_load_library(struct veo_proc_handle *proc, const char *libname)
{
    (void)proc, (void)libname;
    return 1;
}

uint64_t veo_get_sym(struct veo_proc_handle *proc, uint64_t libhdl, const char *symname)
{
    (void)proc, (void)libhdl, (void)symname;
    return 4096;
}

uint64_t veo_call_async(struct veo_thr_ctxt *ctx, uint64_t addr, struct veo_args *args)
{
    (void)ctx, (void)addr, (void)args;
    return next_id++;
}

int veo_call_wait_result(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp)
{
    (void)ctx;
    *retp = reqid;
    return VEO_COMMAND_OK;
}

int veo_call_peek_result(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp)
{
    return veo_call_wait_result(ctx, reqid, retp);
}

int veosoft_call_wait_timed(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp,
                            int64_t timeout_ns)
{
    (void)timeout_ns;
    return veo_call_wait_result(ctx, reqid, retp);
}

int veosoft_node_count(void)
{
    return 1;
}
