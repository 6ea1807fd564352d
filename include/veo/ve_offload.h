/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ve_offload.h: the VEO host API, version 16, as libveo.so.1 exports it.
 *
 * A program on the host (VH) starts processes on Vector Engines (VE), loads libraries with kernels
 * into them, and calls kernels. Two libraries implement the API: the vendor's, and the soft twin,
 * whose VE processes are processes of the host. Every function has C linkage and symbol version
 * VERSION_1. What is marked "soft" holds for the twin only.
 *
 * The objects. A *process* has memory, loaded libraries and contexts. A *context* is a thread of
 * the process with a queue: requests are executed one after the other in the order in which they
 * were submitted. The first context that is opened is the main context. A *request* is a call, a
 * transfer, an allocation or a function of the host; its id is counted per context from 0. An
 * *argument list* describes the arguments of a call.
 *
 * Addresses. A VE address is a uint64_t of the VE process; 0 is never valid. Soft: it is an address
 * of the worker, and kernels use it as a pointer.
 *
 * Synchronous functions run in the order of the main context's queue: they block until everything
 * that is queued there is done, then act, and return when that is done. Asynchronous functions
 * submit a request and return at once; they block only while another thread submits to the context.
 * Soft: a transfer of at most 4 MiB is executed by the caller if nothing is queued before it.
 *
 * Results. A request's result is kept until it is fetched with veo_call_wait_result() or
 * veo_call_peek_result(), once. A result that is never fetched costs a few bytes until its context
 * is closed.
 *
 * Ownership. veo_proc_destroy() ends a process and all that belongs to it; veo_context_close() ends
 * a context; veo_args_free() frees an argument list. Host buffers of asynchronous transfers and of
 * stack arguments belong to the caller and must live until the request is done. Soft: handles are
 * not returned to malloc(), so a stale one is refused and not followed.
 *
 * Threads. Any thread may call any function, several at once for the same object, with two
 * exceptions: an argument list is used by one thread at a time, and no thread may use an object
 * while another frees it. Soft: a thread that uses a process while it is destroyed gets an error.
 *
 * Processes of the host. In a forked child the parent's handles are refused (soft: EPERM); the
 * child may create processes of its own. VE processes end when the host process does.
 *
 * Errors. Functions return -1, 0, NULL or VEO_REQUEST_ID_INVALID, as each says, and set errno:
 * EINVAL for an argument that is not valid, ENOMEM without memory, ESRCH if the VE process is gone,
 * EFAULT for VE addresses that are not memory. Soft: veosoft_error() has the reason as text, which
 * is also printed on stderr. A kernel that is ended by a signal ends its VE process: the request
 * has the state VEO_COMMAND_EXCEPTION, and later ones VEO_COMMAND_ERROR.
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

/* --- version --- */

/* VEO_API_VERSION of the library. */
int veo_api_version(void);
/* Version of the library as text; static storage. */
const char *veo_version_string(void);

/* --- processes --- */

/*
 * Starts a VE process on node VENODE: -1 for the node in VE_NODE_NUMBER, else 0. If _VENODELIST is
 * set, VENODE is an index into it. The process runs the program in VEORUN_BIN, else the library's
 * own; soft: also if VEORUN_BIN names a worker of NEC's SDK that does not exist. Blocks until the
 * process is ready, 20 s at most. NULL on failure. To be ended with veo_proc_destroy().
 */
struct veo_proc_handle *veo_proc_create(int venode);
/*
 * Same, with the program at VEORUN_PATH, into which kernels are linked. The path is only read: NEC
 * declares it char *, to which C++ does not convert string literals.
 */
struct veo_proc_handle *veo_proc_create_static(int venode, const char *veorun_path);
/*
 * Ends a process: runs its queues empty, closes all contexts, has it exit (which flushes its
 * stdio), and kills it if that takes longer than 20 s. Blocks until it is gone. Calls of other
 * threads that wait for its requests return with VEO_COMMAND_ERROR. 0, or -1 (EINVAL) if PROC is
 * not a process or already destroyed.
 */
int veo_proc_destroy(struct veo_proc_handle *proc);
/* The number of the process, the lowest that was free when it was created; -1 if it is destroyed.
 */
int veo_proc_identifier(struct veo_proc_handle *proc);
/* Architecture of a node, 1 or 3; 0 for a negative node, -1 if there is no such node. */
int veo_get_ve_arch(int venode);

/* --- libraries and symbols --- */

/*
 * Loads a library with dlopen(RTLD_NOW | RTLD_GLOBAL) in the VE process; its constructors run
 * there. LIBNAME has at most 255 characters. Synchronous. The handle, 0 on failure. To be unloaded
 * with veo_unload_library(), or with the process.
 */
uint64_t veo_load_library(struct veo_proc_handle *proc, const char *libname);
/*
 * Unloads a library with dlclose(). Addresses of its symbols are invalid then. Synchronous. 0 on
 * success; soft: -1 with EBUSY while another context executes one of its functions.
 */
int veo_unload_library(struct veo_proc_handle *proc, const uint64_t libhandle);
/*
 * The address of a function or variable of a library, 0 if there is none. LIBHDL 0 searches only
 * the symbols that are linked into the process' program; these also come before a library's. Blocks
 * until the process answers (soft: not after kernels that run), and only the first time for a name.
 */
uint64_t veo_get_sym(struct veo_proc_handle *proc, uint64_t libhdl, const char *symname);

/* --- contexts --- */

/*
 * Opens a context. The first call returns the main context, in whose order the synchronous
 * functions run; further calls start a new thread of the VE process, synchronously. NULL on
 * failure. To be closed with veo_context_close().
 */
struct veo_thr_ctxt *veo_context_open(struct veo_proc_handle *proc);
/* Same, with attributes (the stack size), which are copied and must not be NULL. */
struct veo_thr_ctxt *veo_context_open_with_attr(struct veo_proc_handle *proc,
                                                struct veo_thr_ctxt_attr *attr);
/*
 * Closes a context: executes what is queued in it, which it waits for, and ends its thread. Results
 * that were not fetched are lost. The main context stays usable. 0, or -1 (EINVAL) for a context
 * that is not open.
 */
int veo_context_close(struct veo_thr_ctxt *ctx);
/* VEO_STATE_RUNNING or VEO_STATE_EXIT. */
int veo_get_context_state(struct veo_thr_ctxt *ctx);
/* Blocks until everything queued in the context was executed. Results can still be fetched. */
void veo_context_sync(struct veo_thr_ctxt *ctx);
/* Number of contexts opened and not closed; -1 (EINVAL) for NULL. */
int veo_num_contexts(struct veo_proc_handle *proc);
/* Context by index, 0 being the main one; NULL out of range. */
struct veo_thr_ctxt *veo_get_context(struct veo_proc_handle *proc, int idx);
/* Between these two only the calling thread can submit to the context; others block. They nest. */
void veo_req_block_begin(struct veo_thr_ctxt *ctx);
void veo_req_block_end(struct veo_thr_ctxt *ctx);

struct veo_thr_ctxt_attr *veo_alloc_thr_ctxt_attr(void);
int veo_free_thr_ctxt_attr(struct veo_thr_ctxt_attr *attr);
/* Stack size in bytes, at least 4 MiB; 128 MiB unless set. */
int veo_set_thr_ctxt_stacksize(struct veo_thr_ctxt_attr *attr, size_t stacksize);
int veo_get_thr_ctxt_stacksize(struct veo_thr_ctxt_attr *attr, size_t *stacksize);

/* --- arguments --- */

/*
 * An argument list may be used for many calls, and be changed, cleared or freed as soon as a call
 * was submitted. veo_args_alloc() returns an empty list, NULL without memory; veo_args_clear()
 * empties one; veo_args_free() frees it, and NULL is allowed. Setters return 0, or -1 (EINVAL) for
 * a number outside 0..VEO_MAX_NUM_ARGS-1. Arguments that were not set are integers of value 0. No
 * function blocks.
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
 * Passes the address of a temporary copy of BUFF in VE memory. BUFF is read when the call is
 * submitted and, for OUT and INOUT, written before the call is reported as done: it must live until
 * then. The stack arguments of a call may have 63 MiB together.
 */
int veo_args_set_stack(struct veo_args *args, enum veo_args_intent inout, int argnum, char *buff,
                       size_t len);

/* --- calls and results --- */

/*
 * Submits a call of the function at ADDR; ARGS may be NULL for no arguments. The request's id, or
 * VEO_REQUEST_ID_INVALID. Its result is the function's, as a VE register holds it: an integer is
 * extended to 64 bits, a float is in the upper half.
 */
uint64_t veo_call_async(struct veo_thr_ctxt *ctx, uint64_t addr, struct veo_args *args);
uint64_t veo_call_async_by_name(struct veo_thr_ctxt *ctx, uint64_t libhdl, const char *symname,
                                struct veo_args *args);
/*
 * Submits a call of a function of the host: when its turn in the queue comes, FUNC(ARG) runs on a
 * thread of the library, and the VE waits for it. ARG must live until then. It may call functions
 * of this API, but not wait for a request that was submitted to this context after it.
 */
uint64_t veo_call_async_vh(struct veo_thr_ctxt *ctx, uint64_t (*func)(void *), void *arg);
/*
 * Return the state of a request (enum veo_command_state) and store its result in *RETP, which may
 * be NULL. veo_call_peek_result() returns VEO_COMMAND_UNFINISHED at once if it is not done,
 * veo_call_wait_result() blocks until it is. A result is delivered once; after that, and for ids
 * that were never given out, the state is VEO_COMMAND_ERROR. -1 (EINVAL) if the context is not
 * open.
 */
int veo_call_peek_result(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp);
int veo_call_wait_result(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp);
/* Submits a call to the main context and waits for its result. 0, or -1 if it failed. */
int veo_call_sync(struct veo_proc_handle *proc, uint64_t addr, struct veo_args *args,
                  uint64_t *result);

/* --- memory --- */

/*
 * Synchronous: all but veo_alloc_mem() act after what is queued in the main context, for which they
 * wait (veosoft.h: veosoft_set_wait_limit()). veo_alloc_mem() stores an address (soft: aligned to
 * 64 bytes) and returns 0, -1 if there is no memory, -2 if the process is gone. veo_free_mem()
 * frees that memory, or memory of a kernel's malloc(); the copies return when the bytes are there.
 * These three return 0 or -1. Memory that is not freed goes with the process.
 */
int veo_alloc_mem(struct veo_proc_handle *proc, uint64_t *addr, const size_t size);
int veo_free_mem(struct veo_proc_handle *proc, uint64_t addr);
int veo_read_mem(struct veo_proc_handle *proc, void *dst, uint64_t src, size_t size);
int veo_write_mem(struct veo_proc_handle *proc, uint64_t dst, const void *src, size_t size);
/*
 * Submit a transfer. The host buffer must live until the request is done. Its result is 0; an
 * address that is not memory has the state VEO_COMMAND_EXCEPTION, and the process lives on.
 */
uint64_t veo_async_read_mem(struct veo_thr_ctxt *ctx, void *dst, uint64_t src, size_t size);
uint64_t veo_async_write_mem(struct veo_thr_ctxt *ctx, uint64_t dst, const void *src, size_t size);
/*
 * Submit an allocation, whose result is the address, 0 if there was no memory; and a free, whose
 * result is 0.
 */
uint64_t veo_alloc_mem_async(struct veo_thr_ctxt *ctx, const size_t size);
uint64_t veo_free_mem_async(struct veo_thr_ctxt *ctx, uint64_t addr);

/* --- hooks --- */

/*
 * Hooks are global to the host process; one per function, the last that was registered. A hook runs
 * on the thread that called FUNC, or for the asynchronous ones on the context's host thread when
 * their turn comes; it may call functions of this API.
 *
 * veo_register_hook() has HOOK(PAYLOAD, ...) called after each success of FUNC, the address of one
 * of veo_alloc_mem (proc, uint64_t *addr, size), veo_free_mem (proc, addr), veo_alloc_hmem (proc,
 * void *addr, size), veo_free_hmem (proc, void *addr), veo_alloc_mem_async (ctx, addr, size),
 * veo_free_mem_async (ctx, addr); what follows the payload is in brackets.
 */
void veo_register_hook(void *func, void (*hook)(void *payload, ...), void *payload);
void *veo_get_hook(void *func);
void veo_unregister_hook(void *func);
/* One pair of functions for all four kinds of allocation; they get tagged addresses. */
void veo_register_hmem_hook_functions(void (*alloc_hook)(void *, size_t),
                                      void (*free_hook)(uint64_t));
void veo_unregister_hmem_hook_functions(void);

/* --- VE shared memory and user DMA: real hardware only --- */

/* Soft: these fail with errno ENOSYS. What they are for: veo_veshm.h, veo_vhveshm.h, veo_vedma.h.
 */
int veo_shared_mem_open(void *addr, size_t size, int syncnum, long long mode);
int veo_shared_mem_close(void *addr, size_t size, int syncnum, long long mode);
void *veo_shared_mem_attach(struct veo_proc_handle *proc, pid_t pid, void *addr, size_t size,
                            int syncnum, long long mode);
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
