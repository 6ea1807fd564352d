/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ve_offload.h: the VEO host API, version 16, as libveo.so.1 exports it.
 *
 * Declared for the soft twin and for programs that are to run on either library. Every
 * function has C linkage and symbol version VERSION_1.
 *
 * Conventions. A VE address is a uint64_t of the VE process; 0 is never valid. A request id is
 * counted per context from 0; VEO_REQUEST_ID_INVALID says that nothing was submitted. Every
 * function may be called by any thread. "Synchronous" functions run on the main context, behind
 * whatever is queued there, and block until they are done. Where a function fails for a reason
 * that errno can name, errno is set.
 */
#ifndef VE_OFFLOAD_H
#define VE_OFFLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "veo_hmem.h"

#define VEO_API_VERSION 16
#define VEO_SYMNAME_LEN_MAX 255
#define VEO_MAX_NUM_ARGS 256
#define VEO_LOG_CATEGORY "veos.veo.veo"
#define VEO_REQUEST_ID_INVALID (~0UL)

#ifdef __cplusplus
extern "C" {
#endif

enum veo_context_state {
    VEO_STATE_UNKNOWN = 0,
    VEO_STATE_RUNNING = 1,
    VEO_STATE_SYSCALL = 2,
    VEO_STATE_BLOCKED = 3,
    VEO_STATE_EXIT = 4,
};

enum veo_command_state {
    VEO_COMMAND_OK = 0,         /* done; the result is valid */
    VEO_COMMAND_EXCEPTION = 1,  /* the kernel was ended by a signal; the result is its number */
    VEO_COMMAND_ERROR = 2,      /* not executed, unknown id, or result already fetched */
    VEO_COMMAND_UNFINISHED = 3, /* queued or running */
};

enum veo_queue_state {
    VEO_QUEUE_READY = 0,
    VEO_QUEUE_CLOSED = 1,
};

enum veo_args_intent {
    VEO_INTENT_IN = 0,    /* copied to the VE before the call */
    VEO_INTENT_INOUT = 1, /* copied there before, and back after the call */
    VEO_INTENT_OUT = 2,   /* zero-filled there, copied back after the call */
};

struct veo_args;
struct veo_proc_handle;
struct veo_thr_ctxt;
struct veo_thr_ctxt_attr;
typedef struct ve_dma_handle ve_dma_handle_t;

/* --- version ---------------------------------------------------------------------------- */

/* VEO_API_VERSION of the library. */
int veo_api_version(void);
/* Version of the library as text; static storage. */
const char *veo_version_string(void);

/* --- processes -------------------------------------------------------------------------- */

/*
 * Starts a VE process on node VENODE (-1: the node named by VE_NODE_NUMBER, else 0; an index into
 * _VENODELIST where that is set). The binary is VEORUN_BIN, else the library's own; the soft twin
 * uses its own, too, where VEORUN_BIN names a worker of NEC's SDK that does not exist.
 * NULL on failure. To be ended with veo_proc_destroy().
 */
struct veo_proc_handle *veo_proc_create(int venode);
/*
 * The same with an explicit binary, made by linking kernels into it statically. The path is only
 * read: NEC declares it char *, which C++ does not let string literals become.
 */
struct veo_proc_handle *veo_proc_create_static(int venode, const char *veorun_path);
/*
 * Closes all contexts, lets the process exit (flushing its stdio), kills it if it has not done
 * so within 20 s. Always 0 for a handle that lives, -1 (EINVAL) otherwise.
 */
int veo_proc_destroy(struct veo_proc_handle *proc);
/* Index of the process, lowest free number first; -1 if the handle is not alive. */
int veo_proc_identifier(struct veo_proc_handle *proc);
/* Architecture of a node, 1 or 3; 0 for a negative node, -1 if there is no such node. */
int veo_get_ve_arch(int venode);

/* --- libraries and symbols -------------------------------------------------------------- */

/* dlopen(RTLD_NOW | RTLD_GLOBAL) in the VE process. 0 on failure. Names up to 255 characters. */
uint64_t veo_load_library(struct veo_proc_handle *proc, const char *libname);
/* dlclose() there; forgets the library's cached symbols. The result of dlclose(). */
int veo_unload_library(struct veo_proc_handle *proc, const uint64_t libhandle);
/*
 * Address of a function or variable, 0 if there is none. LIBHDL 0 looks only into the symbols
 * that were linked statically into the process' binary; these also win over a library's.
 */
uint64_t veo_get_sym(struct veo_proc_handle *proc, uint64_t libhdl, const char *symname);

/* --- contexts --------------------------------------------------------------------------- */

/*
 * First call: the main context, on which the synchronous functions run. Further calls: a new
 * thread of the VE process with its own FIFO queue. NULL on failure.
 */
struct veo_thr_ctxt *veo_context_open(struct veo_proc_handle *proc);
/* The same with attributes (stack size). NULL attributes: EINVAL. */
struct veo_thr_ctxt *veo_context_open_with_attr(struct veo_proc_handle *proc,
                                                struct veo_thr_ctxt_attr *attr);
/*
 * Runs what is queued, then ends the thread and frees the context. The main context stays
 * usable. 0, or -1 (EINVAL) for a context that is not open.
 */
int veo_context_close(struct veo_thr_ctxt *ctx);
/* VEO_STATE_RUNNING or VEO_STATE_EXIT. */
int veo_get_context_state(struct veo_thr_ctxt *ctx);
/* Waits until everything queued in the context has been executed; results stay to be fetched. */
void veo_context_sync(struct veo_thr_ctxt *ctx);
/* Number of contexts opened and not closed; -1 (EINVAL) for NULL. */
int veo_num_contexts(struct veo_proc_handle *proc);
/* Context by index, 0 being the main one; NULL out of range. */
struct veo_thr_ctxt *veo_get_context(struct veo_proc_handle *proc, int idx);
/* Between these two only the calling thread can submit to the context. They nest. */
void veo_req_block_begin(struct veo_thr_ctxt *ctx);
void veo_req_block_end(struct veo_thr_ctxt *ctx);

struct veo_thr_ctxt_attr *veo_alloc_thr_ctxt_attr(void);
int veo_free_thr_ctxt_attr(struct veo_thr_ctxt_attr *attr);
/* Stack size in bytes, at least 4 MiB; 128 MiB unless set. */
int veo_set_thr_ctxt_stacksize(struct veo_thr_ctxt_attr *attr, size_t stacksize);
int veo_get_thr_ctxt_stacksize(struct veo_thr_ctxt_attr *attr, size_t *stacksize);

/* --- arguments -------------------------------------------------------------------------- */

/*
 * An argument list may be changed, cleared or freed as soon as the call has been submitted, and
 * used for many calls. Setters return 0, or -1 for a number outside 0..VEO_MAX_NUM_ARGS-1.
 * Arguments that were skipped count as integer 0.
 */
struct veo_args *veo_args_alloc(void);
void veo_args_clear(struct veo_args *args);
void veo_args_free(struct veo_args *args);
int veo_args_set_i64(struct veo_args *args, int argnum, int64_t val);
int veo_args_set_u64(struct veo_args *args, int argnum, uint64_t val);
int veo_args_set_i32(struct veo_args *args, int argnum, int32_t val);
int veo_args_set_u32(struct veo_args *args, int argnum, uint32_t val);
int veo_args_set_i16(struct veo_args *args, int argnum, int16_t val);
int veo_args_set_u16(struct veo_args *args, int argnum, uint16_t val);
int veo_args_set_i8(struct veo_args *args, int argnum, int8_t val);
int veo_args_set_u8(struct veo_args *args, int argnum, uint8_t val);
int veo_args_set_double(struct veo_args *args, int argnum, double val);
int veo_args_set_float(struct veo_args *args, int argnum, float val);
int veo_args_set_hmem(struct veo_args *args, int argnum, void *val);
/*
 * Passes the address of a temporary copy of BUFF. BUFF is read when the call is submitted and,
 * for OUT and INOUT, written before the call is reported as done: it must live until then.
 * At most 63 MB for all such arguments of one call.
 */
int veo_args_set_stack(struct veo_args *args, enum veo_args_intent inout, int argnum, char *buff,
                       size_t len);

/* --- calls and results ------------------------------------------------------------------ */

/* Queues a call of the function at ADDR. The request id, or VEO_REQUEST_ID_INVALID. */
uint64_t veo_call_async(struct veo_thr_ctxt *ctx, uint64_t addr, struct veo_args *args);
uint64_t veo_call_async_by_name(struct veo_thr_ctxt *ctx, uint64_t libhdl, const char *symname,
                                struct veo_args *args);
/* Queues a function of the calling process; it runs there, in its turn, on a thread of its own. */
uint64_t veo_call_async_vh(struct veo_thr_ctxt *ctx, uint64_t (*func)(void *), void *arg);
/*
 * State of a request (enum veo_command_state); *retp gets its result. A result is delivered
 * once; after that, and for ids never given out, the state is VEO_COMMAND_ERROR.
 */
int veo_call_peek_result(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp);
int veo_call_wait_result(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp);
/* Calls on the main context and waits. 0, or -1 if the function did not return normally. */
int veo_call_sync(struct veo_proc_handle *proc, uint64_t addr, struct veo_args *args,
                  uint64_t *result);

/* --- memory ----------------------------------------------------------------------------- */

/* 0; -1 if there is no memory; -2 if the process is gone. */
int veo_alloc_mem(struct veo_proc_handle *proc, uint64_t *addr, const size_t size);
int veo_free_mem(struct veo_proc_handle *proc, uint64_t addr);
int veo_read_mem(struct veo_proc_handle *proc, void *dst, uint64_t src, size_t size);
int veo_write_mem(struct veo_proc_handle *proc, uint64_t dst, const void *src, size_t size);
/* In the context's queue; the host buffer must live until the request is done. Result 0. */
uint64_t veo_async_read_mem(struct veo_thr_ctxt *ctx, void *dst, uint64_t src, size_t size);
uint64_t veo_async_write_mem(struct veo_thr_ctxt *ctx, uint64_t dst, const void *src, size_t size);
/* The request's result is the address, 0 if there was no memory. */
uint64_t veo_alloc_mem_async(struct veo_thr_ctxt *ctx, const size_t size);
uint64_t veo_free_mem_async(struct veo_thr_ctxt *ctx, uint64_t addr);

/* --- hooks ------------------------------------------------------------------------------ */

/*
 * Calls HOOK(PAYLOAD, ...) after each success of FUNC, which is the address of one of
 * veo_alloc_mem (proc, uint64_t *addr, size), veo_free_mem (proc, addr), veo_alloc_hmem
 * (proc, void *addr, size), veo_free_hmem (proc, void *addr), veo_alloc_mem_async
 * (ctx, addr, size), veo_free_mem_async (ctx, addr); what follows the payload is in brackets.
 */
void veo_register_hook(void *func, void (*hook)(void *payload, ...), void *payload);
void *veo_get_hook(void *func);
void veo_unregister_hook(void *func);
/* One pair of functions for all four kinds of allocation; they get tagged addresses. */
void veo_register_hmem_hook_functions(void (*alloc_hook)(void *, size_t),
                                      void (*free_hook)(uint64_t));
void veo_unregister_hmem_hook_functions(void);

/* --- VE shared memory and user DMA: real hardware only ---------------------------------- */

/* The soft twin fails these with errno ENOSYS. */
int veo_shared_mem_open(void *addr, size_t size, int flag, long long mode);
int veo_shared_mem_close(void *addr, size_t size, int flag, long long mode);
void *veo_shared_mem_attach(struct veo_proc_handle *proc, pid_t pid, void *addr, size_t size,
                            int flag, long long mode);
int veo_shared_mem_detach(struct veo_proc_handle *proc, void *addr, long long mode);
/* KEY is a key_t, which strict C11 does not declare. */
int veo_shmget(struct veo_proc_handle *proc, int key, size_t size, int flag);
void *veo_shmat(struct veo_proc_handle *proc, int shmid, const void *addr, int flag, void **out);
int veo_shmdt(struct veo_proc_handle *proc, const void *addr);
int veo_dma_post(struct veo_proc_handle *proc, uint64_t dst, uint64_t src, int size,
                 ve_dma_handle_t *handle);
int veo_dma_poll(struct veo_proc_handle *proc, ve_dma_handle_t *handle);
int veo_dma_post_wait(struct veo_proc_handle *proc, uint64_t dst, uint64_t src, int size);
uint64_t veo_register_mem_to_dmaatb(void *addr, size_t size);
int veo_unregister_mem_from_dmaatb(struct veo_proc_handle *proc, uint64_t addr);
void veo_access_pcircvsyc_register(struct veo_proc_handle *proc);

#ifdef __cplusplus
}
#endif

#endif
