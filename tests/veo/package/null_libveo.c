/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libveo that answers at once, in the calling process. It has the vendor's API and nothing of
 * the soft twin's: what the Python package costs by itself is measured against it, and states
 * that a working library gives rarely or never (errors of the host, refused calls, requests that
 * stay unfinished for as long as the test likes) come from it.
 *
 * Functions are found by these names: echo (first argument), sum (of integers), fill (sets the
 * bytes of OUT arguments to 'Z'), crash, error, vherror (ways of failing), refuse (is not
 * queued), hold (stays unfinished, and all behind it in its context, until null_release()).
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_ARGS 256
#define INVALID (~(uint64_t)0)

enum { OK, EXCEPTION, ERROR, UNFINISHED };
enum { IN, INOUT, OUT };
enum { ECHO = 1, SUM, FILL, CRASH, FAIL, VHERROR, REFUSE, HOLD };

struct veo_args {
    int n;
    uint64_t value[MAX_ARGS];
    size_t size[MAX_ARGS]; /* of a stack argument */
    char *memory[MAX_ARGS];
    int intent[MAX_ARGS];
};

struct request {
    uint64_t value;
    char *out;
    size_t out_size;
    int state;
    bool queued;
    int function;
};

struct veo_proc_handle {
    int opened;
    int identifier;
    bool dead;
};

struct veo_thr_ctxt {
    struct veo_proc_handle *proc;
    struct veo_thr_ctxt *next;
    pthread_mutex_t lock;
    struct request *requests;
    uint64_t count;
    uint64_t capacity;
    uint64_t done; /* requests below this id have been executed */
    bool held;
};

static pthread_mutex_t root = PTHREAD_MUTEX_INITIALIZER;
static struct veo_thr_ctxt *contexts;
static long live_procs, live_contexts, live_args, live_memory;

EXPORT long null_live_procs(void)
{
    return live_procs;
}

EXPORT long null_live_contexts(void)
{
    return live_contexts;
}

EXPORT long null_live_args(void)
{
    return live_args;
}

EXPORT long null_live_memory(void)
{
    return live_memory;
}

static void execute(struct request *r)
{
    switch (r->function) {
    case CRASH:
        r->state = EXCEPTION;
        r->value = 11;
        break;
    case FAIL: r->state = ERROR; break;
    case VHERROR: r->state = -1; break;
    case FILL:
        memset(r->out, 'Z', r->out_size);
        r->state = OK;
        break;
    default: r->state = OK;
    }
}

static void advance(struct veo_thr_ctxt *ctx)
{
    for (; ctx->done < ctx->count; ctx->done++) {
        struct request *r = &ctx->requests[ctx->done];
        if (r->function == HOLD && ctx->held)
            return;
        execute(r);
    }
}

/* Lets every held request go on. */
EXPORT void null_release(void)
{
    pthread_mutex_lock(&root);
    for (struct veo_thr_ctxt *ctx = contexts; ctx != NULL; ctx = ctx->next) {
        pthread_mutex_lock(&ctx->lock);
        ctx->held = false;
        advance(ctx);
        pthread_mutex_unlock(&ctx->lock);
    }
    pthread_mutex_unlock(&root);
}

/* From now on every function fails as if the worker were gone. */
EXPORT void null_kill(struct veo_proc_handle *proc)
{
    proc->dead = true;
}

EXPORT int veo_api_version(void)
{
    return 16;
}

EXPORT const char *veo_version_string(void)
{
    return "null";
}

EXPORT struct veo_proc_handle *veo_proc_create(int node)
{
    if (node < -1 || node > 7)
        return NULL;
    struct veo_proc_handle *proc = calloc(1, sizeof *proc);
    __atomic_add_fetch(&live_procs, 1, __ATOMIC_SEQ_CST);
    return proc;
}

EXPORT struct veo_proc_handle *veo_proc_create_static(int node, char *path)
{
    return path[0] == '/' ? veo_proc_create(node) : NULL;
}

EXPORT int veo_proc_destroy(struct veo_proc_handle *proc)
{
    pthread_mutex_lock(&root);
    for (struct veo_thr_ctxt **at = &contexts; *at != NULL;) {
        struct veo_thr_ctxt *ctx = *at;
        if (ctx->proc != proc) {
            at = &ctx->next;
            continue;
        }
        *at = ctx->next;
        free(ctx->requests);
        free(ctx);
        live_contexts--;
    }
    live_procs--;
    pthread_mutex_unlock(&root);
    free(proc);
    return 0;
}

EXPORT int veo_proc_identifier(struct veo_proc_handle *proc)
{
    return proc->identifier;
}

EXPORT int veo_get_ve_arch(int node)
{
    return node < 0 ? 0 : node < 8 ? 1 : -1;
}

EXPORT uint64_t veo_load_library(struct veo_proc_handle *proc, const char *name)
{
    return !proc->dead && name[0] == '/' ? 77 : 0;
}

EXPORT int veo_unload_library(struct veo_proc_handle *proc, uint64_t library)
{
    (void)proc;
    return library == 77 ? 0 : -1;
}

EXPORT uint64_t veo_get_sym(struct veo_proc_handle *proc, uint64_t library, const char *name)
{
    static const char *const names[] = {"",      "echo",    "sum",    "fill", "crash",
                                        "error", "vherror", "refuse", "hold"};
    (void)library;
    if (proc->dead)
        return 0;
    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return 0;
}

EXPORT struct veo_thr_ctxt *veo_context_open(struct veo_proc_handle *proc)
{
    if (proc->dead)
        return NULL;
    struct veo_thr_ctxt *ctx = calloc(1, sizeof *ctx);
    ctx->proc = proc;
    ctx->held = true;
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_mutex_lock(&root);
    ctx->next = contexts;
    contexts = ctx;
    proc->opened++;
    live_contexts++;
    pthread_mutex_unlock(&root);
    return ctx;
}

EXPORT int veo_context_close(struct veo_thr_ctxt *ctx)
{
    pthread_mutex_lock(&root);
    for (struct veo_thr_ctxt **at = &contexts; *at != NULL; at = &(*at)->next)
        if (*at == ctx) {
            *at = ctx->next;
            break;
        }
    live_contexts--;
    pthread_mutex_unlock(&root);
    free(ctx->requests);
    free(ctx);
    return 0;
}

EXPORT void veo_context_sync(struct veo_thr_ctxt *ctx)
{
    (void)ctx;
}

EXPORT struct veo_args *veo_args_alloc(void)
{
    __atomic_add_fetch(&live_args, 1, __ATOMIC_SEQ_CST);
    return calloc(1, sizeof(struct veo_args));
}

EXPORT void veo_args_clear(struct veo_args *args)
{
    memset(args, 0, sizeof *args);
}

EXPORT void veo_args_free(struct veo_args *args)
{
    if (args != NULL)
        __atomic_sub_fetch(&live_args, 1, __ATOMIC_SEQ_CST);
    free(args);
}

static int set(struct veo_args *args, int i, uint64_t value)
{
    if (i < 0 || i >= MAX_ARGS)
        return -1;
    args->value[i] = value;
    args->memory[i] = NULL;
    if (i >= args->n)
        args->n = i + 1;
    return 0;
}

EXPORT int veo_args_set_i64(struct veo_args *args, int i, int64_t value)
{
    return set(args, i, (uint64_t)value);
}

EXPORT int veo_args_set_u64(struct veo_args *args, int i, uint64_t value)
{
    return set(args, i, value);
}

EXPORT int veo_args_set_i32(struct veo_args *args, int i, int32_t value)
{
    return set(args, i, (uint64_t)value);
}

EXPORT int veo_args_set_u32(struct veo_args *args, int i, uint32_t value)
{
    return set(args, i, value);
}

EXPORT int veo_args_set_double(struct veo_args *args, int i, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return set(args, i, bits);
}

EXPORT int veo_args_set_float(struct veo_args *args, int i, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return set(args, i, (uint64_t)bits << 32);
}

EXPORT int veo_args_set_stack(struct veo_args *args, int intent, int i, char *memory, size_t size)
{
    if (set(args, i, (uint64_t)(uintptr_t)memory) != 0)
        return -1;
    args->memory[i] = memory;
    args->size[i] = size;
    args->intent[i] = intent;
    return 0;
}

static uint64_t submit(struct veo_thr_ctxt *ctx, int function, uint64_t value, char *out,
                       size_t out_size)
{
    pthread_mutex_lock(&ctx->lock);
    if (ctx->count == ctx->capacity) {
        ctx->capacity = ctx->capacity ? 2 * ctx->capacity : 64;
        ctx->requests = realloc(ctx->requests, ctx->capacity * sizeof *ctx->requests);
    }
    uint64_t id = ctx->count++;
    ctx->requests[id] = (struct request){
        .value = value,
        .out = out,
        .out_size = out_size,
        .state = UNFINISHED,
        .queued = true,
        .function = function,
    };
    advance(ctx);
    pthread_mutex_unlock(&ctx->lock);
    return id;
}

EXPORT uint64_t veo_call_async(struct veo_thr_ctxt *ctx, uint64_t function, struct veo_args *args)
{
    uint64_t value = args->n ? args->value[0] : 0;
    char *out = NULL;
    size_t out_size = 0;

    if (function == REFUSE || ctx->proc->dead)
        return INVALID;
    if (function == SUM)
        for (int i = 1; i < args->n; i++)
            value += args->value[i];
    for (int i = 0; i < args->n; i++)
        if (args->memory[i] != NULL && args->intent[i] != IN) {
            out = args->memory[i];
            out_size = args->size[i];
        }
    return submit(ctx, (int)function, value, out, out_size);
}

EXPORT int veo_call_peek_result(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *value)
{
    int state = ERROR;

    pthread_mutex_lock(&ctx->lock);
    if (id < ctx->count && ctx->requests[id].queued) {
        struct request *r = &ctx->requests[id];
        state = r->state;
        if (state != UNFINISHED) {
            r->queued = false;
            *value = r->value;
        }
    }
    pthread_mutex_unlock(&ctx->lock);
    return state;
}

EXPORT int veo_call_wait_result(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *value)
{
    int state;

    do
        state = veo_call_peek_result(ctx, id, value);
    while (state == UNFINISHED);
    return state;
}

EXPORT int veo_alloc_mem(struct veo_proc_handle *proc, uint64_t *address, size_t size)
{
    if (proc->dead)
        return -2;
    if (size > (size_t)1 << 30)
        return -1;
    *address = (uint64_t)(uintptr_t)malloc(size + 1);
    live_memory++;
    return 0;
}

EXPORT int veo_free_mem(struct veo_proc_handle *proc, uint64_t address)
{
    if (proc->dead)
        return -1;
    free((void *)(uintptr_t)address);
    live_memory--;
    return 0;
}

EXPORT int veo_read_mem(struct veo_proc_handle *proc, void *to, uint64_t from, size_t size)
{
    if (proc->dead)
        return -1;
    memcpy(to, (void *)(uintptr_t)from, size);
    return 0;
}

EXPORT int veo_write_mem(struct veo_proc_handle *proc, uint64_t to, const void *from, size_t size)
{
    if (proc->dead)
        return -1;
    memcpy((void *)(uintptr_t)to, from, size);
    return 0;
}

/* At the end of the queue, as the real ones; but reading is seen as filling. */
EXPORT uint64_t veo_async_read_mem(struct veo_thr_ctxt *ctx, void *to, uint64_t from, size_t size)
{
    (void)from;
    return ctx->proc->dead ? INVALID : submit(ctx, FILL, 0, to, size);
}

EXPORT uint64_t veo_async_write_mem(struct veo_thr_ctxt *ctx, uint64_t to, const void *from,
                                    size_t size)
{
    (void)to, (void)from, (void)size;
    return ctx->proc->dead ? INVALID : submit(ctx, ECHO, 0, NULL, 0);
}

/* Nothing asks for these here, but a libveo without them would be refused. */
#define ABSENT(name) \
    EXPORT long name(void); \
    long name(void) \
    { \
        return -1; \
    }
ABSENT(veo_context_open_with_attr)
ABSENT(veo_get_context_state)
ABSENT(veo_num_contexts)
ABSENT(veo_get_context)
ABSENT(veo_req_block_begin)
ABSENT(veo_req_block_end)
ABSENT(veo_alloc_thr_ctxt_attr)
ABSENT(veo_free_thr_ctxt_attr)
ABSENT(veo_set_thr_ctxt_stacksize)
ABSENT(veo_get_thr_ctxt_stacksize)
ABSENT(veo_args_set_i16)
ABSENT(veo_args_set_u16)
ABSENT(veo_args_set_i8)
ABSENT(veo_args_set_u8)
ABSENT(veo_args_set_hmem)
ABSENT(veo_call_async_by_name)
ABSENT(veo_call_async_vh)
ABSENT(veo_call_sync)
ABSENT(veo_alloc_mem_async)
ABSENT(veo_free_mem_async)
ABSENT(veo_register_hook)
ABSENT(veo_get_hook)
ABSENT(veo_unregister_hook)
ABSENT(veo_register_hmem_hook_functions)
ABSENT(veo_unregister_hmem_hook_functions)
ABSENT(veo_shared_mem_open)
ABSENT(veo_shared_mem_close)
ABSENT(veo_shared_mem_attach)
ABSENT(veo_shared_mem_detach)
ABSENT(veo_shmget)
ABSENT(veo_shmat)
ABSENT(veo_shmdt)
ABSENT(veo_dma_post)
ABSENT(veo_dma_poll)
ABSENT(veo_dma_post_wait)
ABSENT(veo_register_mem_to_dmaatb)
ABSENT(veo_unregister_mem_from_dmaatb)
ABSENT(veo_access_pcircvsyc_register)
ABSENT(veo_alloc_hmem)
ABSENT(veo_free_hmem)
ABSENT(veo_hmemcpy)
ABSENT(veo_is_ve_addr)
ABSENT(veo_get_hmem_addr)
ABSENT(veo_get_max_proc_identifier)
ABSENT(veo_get_proc_identifier_from_hmem)
ABSENT(veo_get_proc_handle_from_hmem)
ABSENT(veo_get_pid_from_hmem)
ABSENT(veo_get_venum_from_hmem)
ABSENT(veo_set_proc_identifier)
