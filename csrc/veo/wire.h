/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory file that the host and one worker share, mapped at the same address in both:
 *
 *     | header | wire: contexts, chunks of slots, blocks of arguments | gap | VE heap |
 *
 * The host decides what lies where and keeps its own record of it; the worker follows pointers
 * that the host wrote. The host reads back states, outcomes and results only, each once, and takes
 * a state that nobody can have written for a sign that a kernel wrote over the queues.
 *
 * One slot is one request of one context. Its state word is (request id << 3) | phase. Slots are
 * used in order, each once until its chunk is cleared and used again; ids grow from slot to slot,
 * but not always by one, as some requests need no slot.
 */
#ifndef VEO_WIRE_H
#define VEO_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION 6
#define WIRE_HEADER_SIZE ((size_t)64 << 10)
#define WIRE_SIZE ((size_t)4 << 30)
#define WIRE_SIZE_SMALL ((size_t)256 << 20)
#define WIRE_GAP ((size_t)2 << 20)
#define WIRE_SLOT_ARGS 11
#define WIRE_CHUNK_SLOTS 63
#define WIRE_HISTORY 32 /* results that veo_prev_req_result() knows */
#define WIRE_ERROR_SIZE 1024
#define WIRE_DEATH_SIZE 8192
/* For 256 parameters with names of 31 characters. */
#define WIRE_SIGNATURE_SIZE 10240
/* Transfers up to this size are copied by way of the wire, larger ones by the host's agent. */
#define WIRE_TRANSFER_MAX ((size_t)32 << 10)

enum wire_phase {
    WIRE_READY = 1,     /* host -> worker: to be executed */
    WIRE_HOST_TURN = 2, /* worker -> host: the agent is to execute it */
    WIRE_DONE = 3,      /* outcome and result are valid */
};

#define WIRE_PHASE_MASK UINT64_C(7)
#define WIRE_STATE(id, phase) ((uint64_t)(id) << 3 | (uint64_t)(phase))

enum wire_op {
    WIRE_NOP,          /* result = target */
    WIRE_CALL,         /* target: function */
    WIRE_BATCH,        /* the same; size: how many calls; block: struct wire_batch; result: calls
                          that ended */
    WIRE_HOST,         /* executed in the host, in its turn */
    WIRE_LOAD,         /* block: wire_text with the path; result: handle */
    WIRE_UNLOAD,       /* target: handle; result: 0 or enum wire_unload */
    WIRE_SYMBOL,       /* target: handle; block: wire_text with the name; result: address */
    WIRE_READ,         /* target: address; args[0]: size; copies it to the block */
    WIRE_WRITE,        /* target: address; args[0]: size; copies the block there */
    WIRE_FREE,         /* target: address of the worker's malloc(); an error if it is none */
    WIRE_OPEN_CONTEXT, /* target: struct wire_context *; args[0]: stack size; result: 0 or errno */
    WIRE_EXIT,         /* ends the context's thread; in the main context the process */
};

static inline bool wire_is_call(unsigned op)
{
    return op == WIRE_CALL || op == WIRE_BATCH;
}

enum wire_unload {
    WIRE_UNLOAD_UNKNOWN = -1,
    WIRE_UNLOAD_BUSY = -2, /* a context is executing a function of it */
};

enum wire_flag {
    WIRE_SIGNATURE = 1,  /* kinds and ret are those of the callee */
    WIRE_BLOCK_ARGS = 2, /* block is a struct wire_args or wire_batch */
};

/* A call that the host takes back. Whoever changes the first to the second or back has decided. */
enum wire_withdrawn {
    WIRE_KEPT = 0,
    WIRE_TO_WITHDRAW = 1, /* host -> worker: not to be executed */
    WIRE_WITHDRAWN = 2,   /* worker -> host: it is not executed */
};

/* How an argument is passed; two bits in a kinds word. */
enum wire_kind {
    WIRE_KIND_UNSET = 0, /* integer, as far as is known */
    WIRE_KIND_INTEGER = 1,
    WIRE_KIND_FLOAT = 2,
    WIRE_KIND_DOUBLE = 3,
};

#define WIRE_KIND_WORDS (256 / 32)

struct wire_slot {
    _Alignas(64) _Atomic uint64_t state;
    uint8_t op;
    uint8_t flags;
    uint8_t ret;     /* letter of veosoft_args_set_signature() */
    uint8_t outcome; /* enum veo_command_state */
    uint16_t nargs;
    _Atomic uint16_t withdrawn; /* enum wire_withdrawn */
    uint64_t target;
    uint64_t result;
    uint64_t kinds; /* of the first 32 arguments; the rest in wire_args */
    union {
        uint64_t args[WIRE_SLOT_ARGS];
        struct {
            uint64_t size;
            void *block;
        };
    };
};

struct wire_chunk {
    struct wire_slot slots[WIRE_CHUNK_SLOTS];
    struct wire_chunk *next; /* written before the last slot is READY */
};

struct wire_args {
    uint64_t kinds[WIRE_KIND_WORDS];
    uint64_t values[];
};

/* Calls of one function, with the values of their arguments behind it, call by call, and then room
 * for the results. */
struct wire_batch {
    uint64_t kinds[WIRE_KIND_WORDS];
    _Atomic uint64_t begun; /* worker -> host: calls */
    _Atomic uint32_t stop;  /* host -> worker: no other call is to begin */
    uint64_t values[];
};

struct wire_text {
    char text[1024];
    char error[WIRE_ERROR_SIZE]; /* why it failed, from the worker */
    /* WIRE_SYMBOL: the text of veosoft_signature(), from the worker. */
    char signature[WIRE_SIGNATURE_SIZE];
};

struct wire_context {
    /* host -> worker */
    _Alignas(64) _Atomic uint32_t doorbell;
    _Atomic uint32_t worker_asleep;
    struct wire_chunk *first;
    _Atomic uint32_t host_core; /* as in struct spin_wait */
    /* For kernels: results of the last requests, each noted by who executed it. Not in a line that
     * the other side reads, or the answer would wait for that line. */
    _Alignas(64) uint64_t executed;
    uint64_t history[WIRE_HISTORY];
    /* worker -> host */
    _Alignas(64) _Atomic uint32_t done_doorbell;
    _Atomic uint32_t worker_core;
    _Atomic uint64_t wake_at; /* lowest id that a sleeping host thread waits for, or all ones */
    _Atomic uint64_t left;    /* what was executed in the host below this id, it looks at no more */
};

/* Notes the result of a request. By one side at a time: whose turn it is, or the host if nothing is
 * queued. */
static inline void wire_remember(struct wire_context *wire, uint64_t result)
{
    uint64_t n = *(const volatile uint64_t *)&wire->executed;
    wire->history[n % WIRE_HISTORY] = result;
    wire->executed = n + 1;
}

/* The memory that VE code may access, if it is checked (VEO_CHECK). */
#define WIRE_BLOCKS_MAX ((size_t)1 << 16)

struct wire_block {
    _Atomic uint64_t address;
    _Atomic uint64_t size;
};

struct wire_blocks {
    _Atomic uint64_t changes; /* odd while the host writes */
    _Atomic uint64_t count;
    _Atomic uint32_t is_cut; /* there were more than have room */
    struct wire_block list[WIRE_BLOCKS_MAX];
};

enum wire_start {
    WIRE_STARTING = 0,
    WIRE_RUNNING = 1,
    WIRE_REFUSED = 2, /* start_error says why */
};

struct wire_header {
    uint32_t version;
    uint32_t spin_slot; /* the worker's on the spin board */
    uint64_t heap;
    uint64_t heap_size;
    struct wire_context *main;
    struct wire_context *service; /* of a thread that only copies and looks symbols up */
    struct wire_blocks *blocks;   /* NULL: nothing is checked */
    uint32_t quiet;
    _Atomic uint32_t check_status; /* worker -> host: what the host's process is to exit with */
    _Atomic uint32_t start;        /* enum wire_start, a futex */
    int32_t worker_pid;
    char start_error[WIRE_ERROR_SIZE];
    _Alignas(64) _Atomic uint32_t crashed; /* signal number once a handler has run */
    char death[WIRE_DEATH_SIZE];           /* what it has to say, NUL-terminated */
};

_Static_assert(sizeof(struct wire_slot) == 128, "two cache lines");
_Static_assert(sizeof(struct wire_header) <= WIRE_HEADER_SIZE, "header size");

/* Descriptors and arguments that a worker is started with. */
enum { WIRE_FD_MEMORY = 3, WIRE_FD_BOARD = 4, WIRE_FD_LIFELINE = 5 };
#define WIRE_ARGV_TAG "--offchip-veo-1"
/* argv: program, tag, address (hex), size (hex), pid of the host, a program of VE code or nothing
 */
enum { WIRE_ARGC = 5, WIRE_ARGC_CODE = 6 };
/* The exit code of a worker that could not map the memory at that address. */
enum { WIRE_EXIT_ADDRESS_TAKEN = 75 };

#endif
