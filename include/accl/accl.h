/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accl.h: a C interface to collectives that are offloaded, as ACCL offloads them to FPGAs.
 *
 * Two libraries implement it: the soft engine (libaccl.so), where a rank is a process or a part
 * of one, and a shim over the vendor's C++ driver. What only one of them can do is marked; the
 * other answers ACCL_UNSUPPORTED.
 *
 * The machine. A *device* stands for one rank. It has memory that is addressed by 64-bit device
 * addresses, a pool of rx buffers into which messages of other ranks arrive, 8 KiB of exchange
 * memory that shows its configuration and state, communicators that number the ranks, and an
 * engine that executes calls, one at a time. A call that waits for another rank lets later ones go
 * on; see "Order". A call is described by a struct accl_call; nothing but numbers is in it.
 *
 * Status. Functions return an enum accl_status, 0 for success, unless they say otherwise. A
 * failed function leaves its results at NULL or 0 and a text that accl_error_message() gives.
 * Pointers must not be NULL where it is not allowed (ACCL_INVALID); of a NULL buffer or request
 * everything is NULL or 0. A call that was executed and failed is ACCL_CALL_FAILED; its error bits
 * (enum accl_error) are the return code.
 *
 * Threads. Every function may be called by any thread, several at once for one device too, except
 * that an object must not be in use while it is freed. Only those that say so block.
 *
 * Processes. A device belongs to the process that opened it. In a forked child each function
 * returns ACCL_FORKED, except accl_close() and the free functions, which have no effect there; the
 * child may open devices of its own.
 *
 * Structs with a member `size` must have it set to their sizeof by the caller; members added
 * later go to the end, and a library treats those that it is not given as 0.
 */
#ifndef ACCL_H
#define ACCL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACCL_ABI_VERSION 1

/* Constants */

/* X(name, value, text) */
#define ACCL_STATUS_LIST(X) \
    X(OK, 0, "success") \
    X(PENDING, 1, "not done yet") \
    X(CALL_FAILED, 2, "the call ended with error bits") \
    X(INVALID, 3, "an argument is not valid") \
    X(NO_MEMORY, 4, "out of memory") \
    X(NOT_READY, 5, "the device is not configured") \
    X(CLOSED, 6, "the device is closed") \
    X(FORKED, 7, "the device belongs to the parent process") \
    X(UNSUPPORTED, 8, "not supported by this library") \
    X(IN_USE, 9, "the address is in use") \
    X(SYSTEM, 10, "a system call failed") \
    X(NOT_FOUND, 11, "no such object") \
    X(INTERRUPTED, 12, "the interrupt check ended the wait")

enum accl_status {
#define ACCL_STATUS_ENUM(name, value, text) ACCL_##name = value,
    ACCL_STATUS_LIST(ACCL_STATUS_ENUM)
#undef ACCL_STATUS_ENUM
};

/*
 * Error bits of a return code: X(name, bit, text). Bits 0 to 26 are the original's, with its
 * names; 16 and 17 have the meaning of the Python driver. 27 and above are of this interface.
 */
#define ACCL_ERROR_LIST(X) \
    X(DMA_MISMATCH_ERROR, 0, "a transfer moved another number of bytes than it was asked to") \
    X(DMA_INTERNAL_ERROR, 1, "a data mover failed internally") \
    X(DMA_DECODE_ERROR, 2, "an address outside the device's memory") \
    X(DMA_SLAVE_ERROR, 3, "memory refused an access") \
    X(DMA_NOT_OKAY_ERROR, 4, "a data mover did not report success") \
    X(DMA_NOT_END_OF_PACKET_ERROR, 5, "a packet did not end where it should") \
    X(DMA_NOT_EXPECTED_BTT_ERROR, 6, "a segment size that data movers cannot handle") \
    X(DMA_TIMEOUT_ERROR, 7, "a transfer did not end in time") \
    X(CONFIG_SWITCH_ERROR, 8, "the switch of the data path could not be set") \
    X(DEQUEUE_BUFFER_TIMEOUT_ERROR, 9, "no rx buffer of the receiver became free in time") \
    X(DEQUEUE_BUFFER_SPARE_BUFFER_STATUS_ERROR, 10, "an rx buffer is in the wrong state") \
    X(RECEIVE_TIMEOUT_ERROR, 11, "no matching message arrived in time") \
    X(DEQUEUE_BUFFER_SPARE_BUFFER_DMATAG_MISMATCH, 12, "an rx buffer has the wrong DMA tag") \
    X(DEQUEUE_BUFFER_SPARE_BUFFER_INDEX_ERROR, 13, "an rx buffer has the wrong index") \
    X(COLLECTIVE_NOT_IMPLEMENTED, 14, "no such operation") \
    X(RECEIVE_OFFCHIP_SPARE_BUFF_ID_NOT_VALID, 15, "no such rx buffer") \
    X(OPEN_PORT_NOT_SUCCEEDED, 16, "the port could not be opened") \
    X(OPEN_CON_NOT_SUCCEEDED, 17, "a connection could not be opened") \
    X(DMA_SIZE_ERROR, 18, "the message has another length than the receive call") \
    X(ARITH_ERROR, 19, "no such arithmetic function") \
    X(PACK_TIMEOUT_STS_ERROR, 20, "the packetizer did not answer in time") \
    X(PACK_SEQ_NUMBER_ERROR, 21, "a sequence number out of order") \
    X(COMPRESSION_ERROR, 22, "no such conversion") \
    X(KRNL_TIMEOUT_STS_ERROR, 23, "the kernel stream gave nothing in time") \
    X(KRNL_STS_COUNT_ERROR, 24, "the kernel stream gave another count") \
    X(SEGMENTER_EXPECTED_BTT_ERROR, 25, "a segment of unexpected length") \
    X(DMA_TAG_MISMATCH_ERROR, 26, "a transfer returned with a different tag") \
    X(PEER_LOST_ERROR, 27, "a rank died or left") \
    X(INTERRUPTED_ERROR, 28, "the caller interrupted the call") \
    X(CALL_MISMATCH_ERROR, 29, "ranks made different collective calls") \
    X(PEER_GAVE_UP_ERROR, 30, "a rank gave up this communicator after an error of its own") \
    X(NOT_READY_ERROR, 31, "the device is not configured")

/* enum values are int, so bit 31 is a macro like the others. */
enum accl_error_bit {
#define ACCL_ERROR_ENUM(name, bit, text) ACCL_##name##_BIT = bit,
    ACCL_ERROR_LIST(ACCL_ERROR_ENUM)
#undef ACCL_ERROR_ENUM
};
#define ACCL_ERROR(name) (UINT32_C(1) << ACCL_##name##_BIT)

/*
 * ROW(X, name, value, kind, work, root reads, root writes, reads, writes): every operation, once.
 * Enums, names, checks and dispatch follow from this table, here and in Python.
 *
 * A rank reads and writes NONE, ONE or EACH: nothing, its count of elements, or that for each rank.
 * The first two are those of the root of a ROOTED operation, the last two those of other ranks.
 */
#define ACCL_OPERATION_ROWS(ROW, X) \
    ROW(X, CONFIG, 0, CONTROL, MOVES, NONE, NONE, NONE, NONE) \
    ROW(X, COPY, 1, LOCAL, MOVES, NONE, NONE, ONE, ONE) \
    ROW(X, COMBINE, 2, LOCAL, COMPUTES, NONE, NONE, ONE, ONE) \
    ROW(X, SEND, 3, MESSAGE, MOVES, NONE, NONE, ONE, NONE) \
    ROW(X, RECV, 4, MESSAGE, MOVES, NONE, NONE, NONE, ONE) \
    ROW(X, BCAST, 5, ROOTED, MOVES, ONE, NONE, NONE, ONE) \
    ROW(X, SCATTER, 6, ROOTED, MOVES, EACH, ONE, NONE, ONE) \
    ROW(X, GATHER, 7, ROOTED, MOVES, ONE, EACH, ONE, NONE) \
    ROW(X, REDUCE, 8, ROOTED, COMPUTES, ONE, ONE, ONE, NONE) \
    ROW(X, ALLGATHER, 9, SYMMETRIC, MOVES, NONE, NONE, ONE, EACH) \
    ROW(X, ALLREDUCE, 10, SYMMETRIC, COMPUTES, NONE, NONE, ONE, ONE) \
    ROW(X, REDUCE_SCATTER, 11, SYMMETRIC, COMPUTES, NONE, NONE, EACH, ONE) \
    ROW(X, BARRIER, 12, SYMMETRIC, MOVES, NONE, NONE, NONE, NONE) \
    ROW(X, ALLTOALL, 13, SYMMETRIC, MOVES, NONE, NONE, EACH, EACH) \
    ROW(X, NOP, 255, CONTROL, MOVES, NONE, NONE, NONE, NONE)

/* X(name, value): names and numbers of the operations. */
#define ACCL_OPERATION_NUMBER(X, name, value, ...) X(name, value)
#define ACCL_OPERATION_LIST(X) ACCL_OPERATION_ROWS(ACCL_OPERATION_NUMBER, X)

enum accl_operation {
#define ACCL_OPERATION_ENUM(name, value) ACCL_##name = value,
    ACCL_OPERATION_LIST(ACCL_OPERATION_ENUM)
#undef ACCL_OPERATION_ENUM
};

/* Communication of an operation: a message to or from one rank, or a collective. */
enum accl_operation_kind {
    ACCL_KIND_UNKNOWN = 0,
    ACCL_KIND_CONTROL,
    ACCL_KIND_LOCAL,
    ACCL_KIND_MESSAGE,
    ACCL_KIND_ROOTED,   /* a collective with a root */
    ACCL_KIND_SYMMETRIC /* a collective without one */
};
enum accl_operation_work { ACCL_WORK_MOVES, ACCL_WORK_COMPUTES };
enum accl_operation_share { ACCL_SHARE_NONE, ACCL_SHARE_ONE, ACCL_SHARE_EACH };

/* A row of the table. */
struct accl_operation_facts {
    const char *name; /* "REDUCE_SCATTER" */
    uint32_t operation;
    uint8_t kind, work;                             /* enum accl_operation_kind, ..._work */
    uint8_t root_reads, root_writes, reads, writes; /* enum accl_operation_share */
};

/* ACCL_OPERATION_ROWS(ACCL_OPERATION_FACTS, AT): initializers of an array, AT(value) {...}, ... */
#define ACCL_OPERATION_FACTS(AT, name, value, kind, work, root_reads, root_writes, reads, writes) \
    AT(value){#name, \
              value, \
              ACCL_KIND_##kind, \
              ACCL_WORK_##work, \
              ACCL_SHARE_##root_reads, \
              ACCL_SHARE_##root_writes, \
              ACCL_SHARE_##reads, \
              ACCL_SHARE_##writes},

/* Functions of ACCL_CONFIG; the value is the call's count. */
enum accl_config_function {
    ACCL_CFG_RESET = 0,            /* forgets messages, sequence numbers and errors */
    ACCL_CFG_ENABLE_PACKETS = 1,   /* nothing to do */
    ACCL_CFG_TIMEOUT = 2,          /* milliseconds, 0: no limit. 1,000,000 by default */
    ACCL_CFG_OPEN_PORT = 3,        /* fails with a UDP stack */
    ACCL_CFG_OPEN_CONNECTION = 4,  /* fails with a UDP stack */
    ACCL_CFG_STACK = 5,            /* enum accl_stack */
    ACCL_CFG_MAX_SEGMENT_SIZE = 6, /* bytes, below 8388544 */
};

enum accl_stack { ACCL_STACK_UDP = 0, ACCL_STACK_TCP = 1, ACCL_STACK_RDMA = 2 };

/*
 * Functions that combine elements A and B of two ranks. Integers wrap. MAX and MIN are IEEE
 * 754-2019's maximum and minimum: NaN if an element is NaN, and -0 is less than +0. Of BOOL, SUM
 * and MAX are `or`, PROD and MIN are `and`. Complex numbers have SUM and PROD only; each part of a
 * product is rounded after each of its steps. The vendor's driver has SUM and MAX only, and its MAX
 * is A > B ? A : B.
 */
enum accl_reduce_function { ACCL_SUM = 0, ACCL_MAX = 1, ACCL_MIN = 2, ACCL_PROD = 3 };

/* Arithmetic of a type: how reductions combine its elements. */
enum accl_arithmetic {
    ACCL_ARITHMETIC_NONE,    /* there are none: elements are only moved */
    ACCL_ARITHMETIC_EXACT,   /* integers and BOOL: results do not depend on the order */
    ACCL_ARITHMETIC_ROUNDED, /* of FLOAT16 and BFLOAT16 after every step */
    ACCL_ARITHMETIC_COMPLEX  /* rounded, and without MAX and MIN */
};

/*
 * X(name, value, bytes, text, arithmetic); the text of a number is NumPy's name. The values up to 6
 * are those of the C++ driver, which has no arithmetic for INT8; those from 128 on are the soft
 * engine's only, and lie outside of what the driver counts to. The BITS types stand for elements of
 * any kind of that size. Elements of types from 7 on may be at any address.
 */
#define ACCL_DTYPE_LIST(X) \
    X(NONE, 0, 0, "no type", NONE) \
    X(INT8, 1, 1, "int8", EXACT) \
    X(FLOAT16, 2, 2, "float16", ROUNDED) \
    X(FLOAT32, 3, 4, "float32", ROUNDED) \
    X(FLOAT64, 4, 8, "float64", ROUNDED) \
    X(INT32, 5, 4, "int32", EXACT) \
    X(INT64, 6, 8, "int64", EXACT) \
    X(BITS8, 7, 1, "8 bits", NONE) \
    X(BITS16, 8, 2, "16 bits", NONE) \
    X(BITS32, 9, 4, "32 bits", NONE) \
    X(BITS64, 10, 8, "64 bits", NONE) \
    X(BOOL, 128, 1, "bool", EXACT) \
    X(UINT8, 129, 1, "uint8", EXACT) \
    X(INT16, 130, 2, "int16", EXACT) \
    X(UINT16, 131, 2, "uint16", EXACT) \
    X(UINT32, 132, 4, "uint32", EXACT) \
    X(UINT64, 133, 8, "uint64", EXACT) \
    X(BFLOAT16, 134, 2, "bfloat16", ROUNDED) \
    X(COMPLEX64, 135, 8, "complex64", COMPLEX) \
    X(COMPLEX128, 136, 16, "complex128", COMPLEX)

enum accl_dtype {
#define ACCL_DTYPE_ENUM(name, value, bytes, text, arithmetic) ACCL_##name = value,
    ACCL_DTYPE_LIST(ACCL_DTYPE_ENUM)
#undef ACCL_DTYPE_ENUM
};

enum accl_compression_flag {
    ACCL_OP0_COMPRESSED = 1, /* the operand's elements have the compressed type */
    ACCL_OP1_COMPRESSED = 2,
    ACCL_RES_COMPRESSED = 4,
    ACCL_ETH_COMPRESSED = 8, /* messages carry the compressed type */
};

enum accl_stream_flag {
    ACCL_OP0_STREAM = 1, /* the operand comes from the kernel's stream, its address is ignored */
    ACCL_RES_STREAM = 2, /* the result goes there; of a send: there at the destination */
};

/*
 * The operand or result is in host memory: a host-only buffer. Of a collective or a message, and
 * with the soft library only, ARRAY: its address is one of the caller's memory, which need not be
 * in a buffer. The call uses it until it is done; other ranks may read it until then, and never
 * write to it. The one operand of a broadcast is an array by OP0_ARRAY.
 *
 * Of a collective or a message, and with the soft library only, SYNC: the call copies the source
 * from the host's pages of its buffer to the device before, or the result to the host's pages after
 * it has succeeded, as accl_buffer_sync_to_device() and accl_buffer_sync_from_device() do for that
 * range, but while the data are in the caches. The one operand of a broadcast is so by OP0_SYNC on
 * all ranks.
 */
enum accl_host_flag {
    ACCL_OP0_HOST = 1,
    ACCL_OP1_HOST = 2,
    ACCL_RES_HOST = 4,
    ACCL_OP0_ARRAY = 8,
    ACCL_RES_ARRAY = 16,
    ACCL_OP0_SYNC = 32,
    ACCL_RES_SYNC = 64,
};

#define ACCL_TAG_ANY UINT32_C(0xFFFFFFFF)
#define ACCL_GLOBAL_COMM 0
#define ACCL_NO_SESSION UINT32_C(0xFFFFFFFF)
#define ACCL_STREAM_ID_MAX 246      /* of a stream put, given as its tag */
#define ACCL_NO_ADDRESS UINT64_C(0) /* no operand or result; never a valid address */

/* Exchange memory, in bytes. */
#define ACCL_EXCHANGE_SIZE 0x2000
#define ACCL_EXCHANGE_RETCODE 0x1FFC
#define ACCL_EXCHANGE_HWID 0x1FF8
#define ACCL_EXCHANGE_CFGRDY 0x1FF4
#define ACCL_EXCHANGE_PERFCTR 0x1FF0 /* the last call's duration, in units of 4 ns */

/* State of an rx buffer, as exchange memory shows it. */
enum accl_rx_status {
    ACCL_RX_IDLE = 0,
    ACCL_RX_ENQUEUED = 1,
    ACCL_RX_RESERVED = 2,
    ACCL_RX_ERROR = 4
};

typedef struct accl_device accl_device;
typedef struct accl_buffer accl_buffer;
typedef struct accl_request accl_request;

/* Library */

/* ACCL_ABI_VERSION of the library. */
int accl_abi_version(void);
/* "offchip X.Y.Z" for the soft engine; static storage. */
const char *accl_version(void);
/* Text of the last failure in this thread, "" if there was none; valid until its next call. */
const char *accl_error_message(void);
/* Texts of a status and of ONE error bit (0..31), and the bit's name; "" for unknown ones. Static
 * storage. */
const char *accl_status_text(int status);
const char *accl_error_name(unsigned bit);
const char *accl_error_text(unsigned bit);

/* Devices */

enum accl_memory_mode {
    ACCL_MEMORY_SEPARATE = 0, /* a buffer has host pages and device pages; syncs copy */
    ACCL_MEMORY_UNIFIED = 1,  /* both are the same pages; syncs do nothing */
};

struct accl_config {
    uint32_t size;
    uint32_t memory_mode; /* enum accl_memory_mode */
    uint32_t stack;       /* enum accl_stack: what the HWID says; the soft engine has all */
    uint32_t reserved;
    /* Largest amount of device memory (address space only; memory is taken when allocated);
     * 0: 64 GiB or what there is. */
    uint64_t memory_bytes;
    /*
     * Soft engine: ranks find each other by this name. NULL: the environment variable ACCL_JOB,
     * else the launcher's identity (PMIx namespace, or hydra's proxy), else the list of ranks
     * alone (addresses and ports). Ranks meet only if user, name and list of ranks are the same.
     */
    const char *job;
    /* Hardware only: bit stream, and which board and engine on it; or the emulator's endpoint. */
    const char *xclbin;
    const char *endpoint;
    int32_t board_index;
    int32_t cclo_index;
};

/*
 * Opens a device. CONFIG may be NULL for all defaults. It must then be given rx buffers
 * and a first communicator. Does not wait for any other rank. To be closed with accl_close().
 * ACCL_NO_MEMORY, ACCL_SYSTEM.
 */
int accl_open(const struct accl_config *config, accl_device **device);

/*
 * Closes it: calls that wait or run fail with PEER_LOST/INTERRUPTED, other ranks learn that it
 * left, requests stay valid until they are freed, and so do buffers (their memory lives on until
 * the last is freed). Messages that were sent stay receivable. Waits for the engine's threads,
 * which takes milliseconds (a waiting call ends at its next check, within 50 ms). NULL is allowed.
 * To be called once: the handle is invalid afterwards, and no other thread may be inside a function
 * with it.
 */
void accl_close(accl_device *device);

/*
 * A function to be called by a thread that waits inside accl_call_sync(), every 50 ms or so, with
 * no lock held. Another result than 0 breaks the call off with INTERRUPTED_ERROR. So it is called
 * by other functions that wait for a call to end, as reads of exchange memory and dumps do; these
 * then do nothing and answer ACCL_INTERRUPTED. For signal checks. NULL: none. Never called by the
 * engine's own threads.
 */
void accl_set_interrupt_check(accl_device *device, int (*check)(void *argument), void *argument);

/* Configuration */

/* A rank of a communicator: the six words that exchange memory has, and how it is reached. */
enum accl_reach {
    ACCL_REACH_AUTO = 0,   /* shared memory if it has the local rank's IP, else packets */
    ACCL_REACH_SHARED = 1, /* shared memory */
    ACCL_REACH_PACKETS = 2 /* packets that the caller carries (see "packets") */
};

struct accl_rank {
    uint32_t ip; /* IPv4, 127.0.0.1 is 0x7F000001 */
    uint32_t port;
    uint32_t inbound_sequence; /* results of accl_communicator_ranks(); ignored as input */
    uint32_t outbound_sequence;
    uint32_t session; /* ACCL_NO_SESSION if there is none */
    uint32_t max_segment_size;
    uint32_t reach; /* enum accl_reach */
    uint32_t reserved;
};

/*
 * Makes a pool of COUNT rx buffers of BYTES each, 1 to 254 of 1 byte to 1 GiB, rounded up to
 * 64. May be called again as long as there is no communicator; then it is ACCL_IN_USE, because
 * other ranks may know the pool.
 */
int accl_setup_rx_buffers(accl_device *device, uint32_t count, uint64_t bytes);

/*
 * Adds a communicator of N ranks, of which this device is LOCAL_RANK; the first has id 0 and
 * fixes who this device is: under its address other ranks find it, and ACCL_IN_USE says that
 * another device of the job has it. Ranks of further ones are looked up in the first by ip and
 * port. Messages of different communicators never meet, those of the same list of ranks made
 * several times neither, if all ranks make them in the same order. Does not wait for other ranks.
 * Needs rx buffers (ACCL_NOT_READY).
 */
int accl_create_communicator(accl_device *device, const struct accl_rank *ranks, uint32_t n,
                             uint32_t local_rank, uint32_t *id);
/*
 * The same from the ranks INDICES (sorted and made unique) of communicator COMM; the local rank
 * must be among them (ACCL_INVALID).
 */
int accl_split_communicator(accl_device *device, uint32_t comm, const uint32_t *indices, uint32_t n,
                            uint32_t *id);

/*
 * Frees communicator ID: calls with it fail from then on, and its number is not used again. All its
 * ranks are to free it, after the same calls; none waits for another. Its memory can be used again
 * when all have. Messages on it should have been received: others keep their rx buffers. After a
 * failed collective it can be freed as well. ACCL_INVALID for communicator 0, ACCL_IN_USE if a call
 * on it is not finished, ACCL_NOT_FOUND if it was freed. Not with the vendor's driver, which has no
 * such function (ACCL_UNSUPPORTED).
 */
int accl_free_communicator(accl_device *device, uint32_t id);

struct accl_communicator_info {
    uint32_t size;
    uint32_t ranks;
    uint32_t local_rank;
    uint32_t exchange_address; /* where exchange memory shows it */
    uint64_t key;              /* what its messages carry; the same on all its ranks */
};
/* ACCL_NOT_FOUND if there is no such communicator. */
int accl_communicator_info(accl_device *device, uint32_t id, struct accl_communicator_info *info);
/* Fills N entries at most, with the sequence numbers of this moment. */
int accl_communicator_ranks(accl_device *device, uint32_t id, struct accl_rank *ranks, uint32_t n);
/* The communicator whose exchange memory starts at ADDRESS; ACCL_NOT_FOUND. */
int accl_communicator_at(accl_device *device, uint32_t address, uint32_t *id);

/*
 * A word of exchange memory; OFFSET is a multiple of 4 below ACCL_EXCHANGE_SIZE (ACCL_INVALID).
 * Writing is for those who drive the registers themselves; it changes no behaviour of the engine
 * but CFGRDY.
 */
int accl_exchange_read(accl_device *device, uint32_t offset, uint32_t *value);
int accl_exchange_write(accl_device *device, uint32_t offset, uint32_t value);

/* Time limit of calls in ms (0: none) and largest segment, as configured by calls. */
int accl_get_settings(accl_device *device, uint32_t *timeout_ms, uint64_t *segment_size);

/* Memory */

enum accl_buffer_flag {
    ACCL_BUFFER_HOST_ONLY = 1, /* one set of pages, on the host; the engine reaches it there */
    ACCL_BUFFER_ZERO = 2,      /* filled with zeros; without it, the content is anything */
};

/*
 * Allocates BYTES (0 counts as 1) of device memory, page-aligned, and host pages for it unless
 * they are the same. DTYPE says what is in it (ACCL_NONE: anything; only the vendor's driver
 * wants to know). ACCL_NO_MEMORY if memory cannot be had: what is allocated is really there.
 * To be freed with accl_buffer_free(); keeps the memory, but not the device, alive.
 */
int accl_buffer_create(accl_device *device, uint64_t bytes, uint32_t dtype, uint32_t flags,
                       accl_buffer **buffer);
/* A part of BUFFER, an object of its own that keeps the memory alive. ACCL_INVALID beyond it. */
int accl_buffer_slice(accl_buffer *buffer, uint64_t offset, uint64_t bytes, accl_buffer **slice);
/* NULL is allowed. A call that is queued or runs must not use it any more. */
void accl_buffer_free(accl_buffer *buffer);

/* Host pointer, device address, length, flags. They never change. */
void *accl_buffer_host(const accl_buffer *buffer);
uint64_t accl_buffer_address(const accl_buffer *buffer);
uint64_t accl_buffer_bytes(const accl_buffer *buffer);
uint32_t accl_buffer_flags(const accl_buffer *buffer);
/* Copies a range between host and device pages; nothing to do where they are the same. */
int accl_buffer_sync_to_device(accl_buffer *buffer, uint64_t offset, uint64_t bytes);
int accl_buffer_sync_from_device(accl_buffer *buffer, uint64_t offset, uint64_t bytes);

/* Device memory by address, without a buffer. ACCL_INVALID outside allocations. */
int accl_memory_read(accl_device *device, uint64_t address, void *data, uint64_t bytes);
int accl_memory_write(accl_device *device, uint64_t address, const void *data, uint64_t bytes);

struct accl_memory_info {
    uint32_t size;
    uint32_t memory_mode;
    uint64_t capacity;  /* bytes of address space for buffers */
    uint64_t allocated; /* bytes in buffers and rx buffers */
    uint64_t base;      /* lowest device address */
};
int accl_memory_info(accl_device *device, struct accl_memory_info *info);

/* Calls */

/*
 * One operation. `count` is in elements; of a message, buffer or vector, and of the part of one
 * rank where an operation reads or writes EACH. Addresses:
 *
 *   operation        address[0]           address[1]   address[2]             root_src_dst
 *   COPY             source                            result
 *   COMBINE          first operand        second       result
 *   SEND             source                                                   destination
 *   RECV                                               result                 source
 *   BCAST            buffer (read at the root, written elsewhere)             root
 *   SCATTER          source, at the root               result                 root
 *   GATHER           source                            result, at the root    root
 *   REDUCE           source                            result, at the root    root
 *   BARRIER, NOP, CONFIG: none; of all others the source is in 0, the result in 2
 *
 * Addresses that are not used may be ACCL_NO_ADDRESS. Source and result may be the same memory, and
 * those of COPY and COMBINE may overlap: operands are what they were before. For scatter, gather
 * and allgather the own part may be at its place. All ranks of a communicator must make its
 * collective calls in the same order with matching arguments. A difference is CALL_MISMATCH_ERROR
 * on all ranks, with a text that says which rank called what: in the same call, or in the next one
 * of the communicator for a rank that does not wait in this one, such as the root of a short BCAST.
 * Any count, 0 too, and any root are allowed.
 *
 * Types: `dtype` is the type of the elements, `compressed_dtype` the one that the compression
 * flags speak of (ACCL_NONE or the same: no conversion). The only pair of different types is
 * FLOAT32 with FLOAT16; with it reductions are made in float16, as the original does.
 * Reductions add in the original's ring order, so that results repeat bit by bit.
 *
 * Messages: a receive takes the next message of its communicator and source, in order; a tag is a
 * check, and where it differs the receive waits. ACCL_TAG_ANY on either side matches every tag.
 * Sends return when the data is in the receiver's rx buffers, or was taken: so a send that the
 * pool has room for never waits for its receive. Nor do BCAST and SCATTER at the root, and GATHER
 * elsewhere, wait for the calls of others until eight calls later, if a part is no larger than all
 * rx buffers of this rank. The first collective of a communicator waits until all its ranks have
 * opened their devices. Lengths that differ are DMA_SIZE_ERROR on the
 * receiver; the message is dropped. A rank may send to itself.
 *
 * Stream put: SEND with ACCL_RES_STREAM, tag = number of the stream.
 *
 * Order: calls begin in the order of their submission. While one waits, a later one goes on unless
 * it depends on it, as the original's engine does with calls that are not ready. These keep their
 * order: calls of which one writes memory that the other uses; collectives of one communicator;
 * sends to one rank of it; receives from one rank of it, unless their tags differ; a barrier and
 * all calls of its communicator; calls that take the stream's input, and those that fill it; NOP
 * and CONFIG with all others, but a new time limit is set at once, for later calls. A message with
 * ACCL_TAG_ANY is for the earliest receive. The soft engine lets 128 asynchronous calls wait at a
 * time, and looks at the 256 oldest for one that can go on.
 *
 * Limit: a call that waits longer than the set time ends with RECEIVE_TIMEOUT_ERROR
 * (DEQUEUE_BUFFER_TIMEOUT_ERROR for a send), one that waits for a dead rank with PEER_LOST_ERROR
 * within a second. A collective that failed leaves its communicator unusable on this rank and,
 * with PEER_GAVE_UP_ERROR, on the others; ACCL_CFG_RESET on all ranks does not bring it back, a
 * new communicator does.
 */
struct accl_call {
    uint32_t size;
    uint32_t operation; /* enum accl_operation */
    uint64_t count;
    uint32_t comm; /* id of a communicator */
    uint32_t root_src_dst;
    uint32_t function; /* enum accl_reduce_function or accl_config_function */
    uint32_t tag;
    uint32_t dtype;
    uint32_t compressed_dtype;
    uint32_t compression_flags;
    uint32_t stream_flags;
    uint32_t host_flags;
    uint32_t meaning; /* of the elements: a number that is the same on all ranks of a collective */
    uint64_t address[3];
};

/*
 * Executes CALL, after those before it that it depends on ("Order"), and blocks until it is done.
 * *RETCODE (may be NULL) gets the error bits. ACCL_OK, ACCL_CALL_FAILED with a message, or
 * ACCL_INVALID, ACCL_NOT_READY, ... if it was not executed at all. The caller's thread does the
 * work.
 */
int accl_call_sync(accl_device *device, const struct accl_call *call, uint32_t *retcode);

/*
 * Queues CALL (which is copied) and returns at once. Threads of the engine execute such calls; they
 * are started when needed. WAITFOR names
 * N requests, of this or of other devices, that must have ended before; if one of them failed,
 * this one is not executed and fails with the same bits. *REQUEST is to be freed with
 * accl_request_free(). Memory that the call uses must stay until it is done.
 */
int accl_call_start(accl_device *device, const struct accl_call *call, accl_request *const *waitfor,
                    size_t n, accl_request **request);

enum accl_request_state { ACCL_QUEUED = 0, ACCL_EXECUTING = 1, ACCL_COMPLETED = 2 };

/*
 * Waits until REQUEST is done, TIMEOUT_NS at most (negative: without limit, 0: no waiting).
 * ACCL_PENDING if it is not; ACCL_OK or ACCL_CALL_FAILED, again and again, when it is. Interrupted
 * by nothing: callers with signals to watch give short limits.
 */
int accl_request_wait(accl_request *request, int64_t timeout_ns);
/* enum accl_request_state; never waits. */
int accl_request_state(const accl_request *request);
/* Error bits and text once it is done, 0 and "" before; the text lives as long as the request. */
uint32_t accl_request_retcode(const accl_request *request);
const char *accl_request_message(const accl_request *request);
/* Nanoseconds that the execution took, 0 before it is done. */
uint64_t accl_request_duration(const accl_request *request);
/*
 * Drops the caller's reference; a request that is not done continues. NULL is allowed.
 */
void accl_request_free(accl_request *request);
/*
 * FD becomes readable when a request of DEVICE ends after this function was called (an eventfd,
 * owned by the device; reading it resets it). For event loops. Not with the vendor's driver.
 */
int accl_completion_fd(accl_device *device, int *fd);

/* Return code and duration in ns of the last call that was executed. */
int accl_last_call(accl_device *device, uint32_t *retcode, uint64_t *duration_ns);

/* Streams (soft engine) */

/*
 * The kernel beside the engine. What the engine puts out on a stream goes to
 *   LOOPBACK  the engine's own input, as on the original's test system (at first),
 *   HOOK      a function that is called by whichever thread executes or progresses; it may call
 *             accl_stream_push(), and nothing else of this device,
 *   QUEUE     a queue that accl_stream_pull() reads.
 * Data that nobody takes are kept, 64 MiB at most; then senders wait. A stream put that there is no
 * memory for is lost. Whoever reads next is told so, once: accl_stream_pull() by ACCL_NO_MEMORY, a
 * call that takes the engine's input by DMA_INTERNAL_ERROR; the text names the stream and the rank
 * that put. So is its sender, by the same error, if its put had more bytes than this rank's rx
 * buffers. One whose description was overwritten in shared memory is lost too: its reader gets
 * ACCL_CALL_FAILED, or DEQUEUE_BUFFER_SPARE_BUFFER_INDEX_ERROR.
 */
enum accl_stream_mode { ACCL_STREAM_LOOPBACK = 0, ACCL_STREAM_HOOK = 1, ACCL_STREAM_QUEUE = 2 };
typedef void (*accl_stream_hook)(void *argument, uint32_t stream, const void *data, size_t bytes);

int accl_stream_mode(accl_device *device, int mode, accl_stream_hook hook, void *argument);
/* Gives the engine input for ACCL_OP0_STREAM. ACCL_NO_MEMORY if the queue is full. */
int accl_stream_push(accl_device *device, const void *data, size_t bytes);
/*
 * Takes the next message from the queue: *STREAM and *BYTES say what it is; ACCL_INVALID if SPACE
 * is too small (and the message stays), ACCL_PENDING if none arrived within TIMEOUT_NS,
 * ACCL_NO_MEMORY if messages to *STREAM and others were lost here for lack of memory (they are not
 * waited for), ACCL_CALL_FAILED if they were damaged.
 */
int accl_stream_pull(accl_device *device, uint32_t *stream, void *data, size_t space, size_t *bytes,
                     int64_t timeout_ns);

/*
 * Looks at the messages to this rank that no receive has taken: TAGS[i] becomes the tag of the next
 * one from rank i of a communicator, -1 if none has arrived. COUNT is the number of its ranks, or
 * the status is ACCL_INVALID.
 */
int accl_next_tags(accl_device *device, uint32_t comm, int64_t *tags, uint32_t count);

/* Dumps */

/*
 * Texts, written like snprintf: *NEEDED (may be NULL) is the length without the NUL, and TEXT, of
 * SPACE bytes, gets what fits. TEXT may be NULL if SPACE is 0.
 */
int accl_dump_rx_buffers(accl_device *device, char *text, size_t space, size_t *needed);
int accl_dump_communicator(accl_device *device, uint32_t comm, char *text, size_t space,
                           size_t *needed);
int accl_dump_exchange_memory(accl_device *device, char *text, size_t space, size_t *needed);
/* Describes what this rank and those that it has met wait for at this moment. */
int accl_dump_waits(accl_device *device, char *text, size_t space, size_t *needed);

/* Packets */

/*
 * Optional: a library without them returns ACCL_UNSUPPORTED. The soft engine has them, the vendor's
 * driver has networks of its own.
 *
 * Ranks that are reached so (ACCL_REACH_PACKETS, those on other hosts) have no memory in common.
 * The engine puts what it has for them into packets, and the caller carries these, for example as
 * MPI messages. The engine only has queues: it calls no other library. Packets between two ranks
 * must arrive complete, once, and in the order in which they were taken. Each function but
 * accl_packet_wait() returns at once, and may be called while other threads are inside
 * accl_call_sync(). A thread must carry packets while calls run:
 *
 *   while (accl_packet_next(device, &p) == ACCL_OK)
 *       send p.bytes bytes at p.data to rank p.rank, then accl_packet_done(device, p.id)
 *   for each packet of n bytes that arrived from rank r:
 *       accl_packet_space(device, n, &p), fill p.data, accl_packet_arrived(device, r, p.id)
 *
 * and before accl_close(): accl_packet_leave(), then carry until accl_packet_outstanding() gives 0.
 * If one rank of communicator 0 is reached by packets, collectives on communicators with such a
 * rank go by packets between all of their ranks. Ranks are those of communicator 0; before that
 * exists, or if it has no such rank, the functions return ACCL_NOT_READY.
 *
 * ACCL_TRANSPORT in the environment of all ranks says what ACCL_REACH_AUTO means: "shared" or
 * "packets" for all ranks, or as usual ("auto").
 */
struct accl_packet {
    uint32_t size;
    uint32_t rank; /* destination */
    uint64_t id;
    void *data; /* of the engine */
    uint64_t bytes;
};

/* The largest packet, for carriers that post receives in advance. */
#define ACCL_PACKET_MAX (UINT64_C(1) << 20)

/* Takes the next outgoing packet; ACCL_PENDING if there is none. */
int accl_packet_next(accl_device *device, struct accl_packet *packet);
/* Packet ID was sent: its memory belongs to the engine again. */
int accl_packet_done(accl_device *device, uint64_t id);
/* Room for a packet to be received. ACCL_NO_MEMORY, ACCL_INVALID if it is too large. */
int accl_packet_space(accl_device *device, uint64_t bytes, struct accl_packet *packet);
/*
 * Packet ID is complete. ACCL_INVALID if it breaks the rules: it is dropped, and as packets must
 * not be missing, RANK counts as lost from then on.
 */
int accl_packet_arrived(accl_device *device, uint32_t rank, uint64_t id);
/* Waits until there is a packet to send, at most TIMEOUT_NS: ACCL_OK or ACCL_PENDING. */
int accl_packet_wait(accl_device *device, int64_t timeout_ns);
/* Wakes all threads in accl_packet_wait(). */
int accl_packet_wake(accl_device *device);
/* Packets that wait to be taken, or were taken and are not done; close the device at 0. */
int accl_packet_outstanding(accl_device *device, uint64_t *n);
/* No call will follow: tells the other ranks that this one leaves. */
int accl_packet_leave(accl_device *device);
/* The carrier knows that RANK is gone: calls that wait for it fail with PEER_LOST_ERROR. */
int accl_packet_lost(accl_device *device, uint32_t rank, const char *why);

/* MPI */

/*
 * Optional: the engine carries its packets itself, as messages of the MPI library that this process
 * has loaded and initialised. Neither its headers nor its files are needed to build: functions are
 * found by their address, and the caller says how that library represents handles and statuses.
 *
 * If MPI allows calls from any thread, a thread of the engine carries packets while no call waits;
 * otherwise they move only during calls of the thread that called accl_mpi_start(), which
 * makes or waits for all calls: accl_call_sync() and accl_request_wait().
 *
 * accl_mpi_start() follows communicator 0, in which some rank is reached by packets. It sends a
 * message to this rank itself, to try the library: ACCL_UNSUPPORTED, with a text, if that fails.
 * accl_mpi_stop() comes before MPI_Finalize(); accl_close() does the same. It sends what is queued,
 * and waits until all ranks have stopped: ACCL_OK, and COMM may be freed. ACCL_PENDING if that took
 * longer than TIMEOUT_NS: messages are in flight, so COMM must not be freed; their memory is the
 * engine's. Later calls that wait for other hosts fail. Stopping again gives the same status.
 */
struct accl_mpi {
    uint32_t size;
    const char *library;   /* path of a loaded library or module that is linked to MPI */
    uint64_t comm;         /* MPI_Comm of the ranks, in order; the engine's alone; errors return */
    uint64_t byte;         /* MPI_BYTE */
    uint32_t handle_bytes; /* sizeof(MPI_Comm) */
    uint32_t status_bytes; /* sizeof(MPI_Status), and where it has MPI_SOURCE and MPI_TAG */
    uint32_t status_source;
    uint32_t status_tag;
    int32_t any_source;  /* MPI_ANY_SOURCE */
    int32_t any_tag;     /* MPI_ANY_TAG */
    uint32_t any_thread; /* whether MPI was initialised with MPI_THREAD_MULTIPLE */

    /* Reductions of communicator 0 that MPI makes itself, in an order of its own: bits
     * 1 << ACCL_REDUCE, ACCL_ALLREDUCE and ACCL_REDUCE_SCATTER, the same on all ranks. None with a
     * SIZE that ends before. Those of other types are the engine's, as are MAX and MIN of
     * floating-point numbers, for which MPI does not say what becomes of NaN. */
    uint32_t reductions;
    uint64_t reduction_comm;         /* MPI_Comm: as COMM, and not the same */
    uint64_t reduction_types[4];     /* MPI_FLOAT, MPI_DOUBLE, MPI_INT32_T, MPI_INT64_T */
    uint64_t reduction_functions[4]; /* MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD */
};

int accl_mpi_start(accl_device *device, const struct accl_mpi *mpi);
int accl_mpi_stop(accl_device *device, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
