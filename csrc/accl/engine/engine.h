/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The soft engine's own types. One executor at a time works on a device; what is not the
 * executor's is guarded by the device's lock or its heap's.
 *
 * Memory files are shared: any rank of the job may write to any word of them at any time. A word
 * from there is read once (READ_ONCE, or as an atomic), checked, and only the copy is used. What a
 * rank knows of its own file it keeps in ordinary memory.
 */
#ifndef ACCL_ENGINE_H
#define ACCL_ENGINE_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accl.h"
#include "accl/engine/ticks.h"
#include "accl/transport/shm/arena.h"
#include "common/clock.h"
#include "common/copy.h"
#include "common/cores.h"
#include "common/range_alloc.h"

#define ACCL_EXPORT __attribute__((visibility("default")))
#define TEXT_BYTES 768
#define EXCHANGE_WORDS 65536
#define NO_RANK UINT32_MAX
#define READ_ONCE(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define RANKS_MAX 1024

/* --- memory --------------------------------------------------------------------------------- */

/* The memory file; lives until the device and all buffers are gone. */
struct heap {
    _Atomic uint32_t refs;
    int fd;
    uint8_t *base; /* the mapping; device address = ADDRESS_BASE + offset */
    uint64_t bytes;
    pthread_mutex_t lock;
    struct range_alloc *ranges;
    _Atomic uint32_t *pages; /* by page of the file: first page of its block + 1, 0 if free */
    uint64_t page_count;
    unsigned fork_count;
};

#define ADDRESS_BASE UINT64_C(0x100000000)

struct accl_buffer {
    _Atomic uint32_t refs; /* of a root: itself and its slices */
    accl_buffer *root;     /* itself for one that is not a slice */
    struct heap *heap;
    uint64_t device_offset, host_offset;
    uint64_t bytes;
    uint32_t flags;
};

struct heap *heap_open(uint64_t bytes);
void heap_release(struct heap *heap);
/* Whether nobody can make the file of FD shorter. */
bool file_keeps_its_size(int fd);
/* Offset of a block whose memory is there; 0 if it cannot be had. */
uint64_t heap_get(struct heap *heap, uint64_t bytes);
void heap_put(struct heap *heap, uint64_t offset);
static inline uint64_t heap_offset(const struct heap *heap, const void *memory)
{
    return (uint64_t)((const uint8_t *)memory - heap->base);
}
/* Whether [address, +bytes) is inside one allocated block. */
bool heap_valid(const struct heap *heap, uint64_t address, uint64_t bytes);

/* --- peers ---------------------------------------------------------------------------------- */

/*
 * A pool of rx buffers as it was when it was made, or checked when its rank was met. The files say
 * the same, but other processes may write there.
 */
struct pool {
    struct rx_slot *slots;
    uint8_t *data;
    uint64_t slot_bytes;
    uint32_t slot_count;
};

/* A message that was taken from its ring, or never had one (to itself). */
struct parcel {
    struct parcel *next;
    struct ring_entry entry; /* a copy */
    uint8_t *heap;           /* data of a message to itself, else NULL */
};

struct peer {
    struct arena_header *_Atomic arena; /* NULL until attached */
    uint64_t arena_bytes;
    struct pool pool;  /* its own */
    _Atomic int pidfd; /* of its process; also known of who asked for this rank's file */
    _Atomic bool dead;
    uint64_t nonce;
    int64_t asked_at; /* for its arena, by who receives */
    struct accl_rank address;
    /* outgoing: its ring for this rank */
    struct ring *out;
    uint64_t sent;     /* messages */
    uint64_t segments; /* that were sent */
    uint32_t slot_hint;
    /* incoming: this rank's ring for it */
    struct ring *in;
    uint64_t received; /* messages taken from the ring */
    const char *flaw;  /* of the ring's next entry, which cannot be taken; NULL if it is sound */
    struct parcel *parcels, **parcels_end;
};

struct packets;

struct member {
    uint32_t rank; /* global */
    struct lane *lane;
    uint32_t inbound, outbound; /* sequence numbers */
};

struct communicator {
    struct communicator *next;
    uint32_t id, n, me;
    uint64_t key;
    uint32_t exchange_address;
    struct member *members;
    struct lane *lane;
    uint64_t calls;             /* collectives made */
    uint64_t all_done;          /* known: everybody is done with that many */
    bool met;                   /* everybody has everybody's lane */
    uint32_t broken;            /* error bits that ended it */
    uint32_t signature;         /* of the call that is executed and of all before it */
    uint64_t current;           /* the call that is executed, if it has come to its posts */
    uint16_t notes[LANE_NOTES]; /* as the lane has them */
    bool by_packets;            /* some member has no memory in common with this rank */
    struct accl_rank *ranks;
    uint32_t *world; /* global ranks, for the key */
};

/* --- requests ------------------------------------------------------------------------------- */

struct accl_request {
    _Atomic uint32_t refs; /* the caller and the queue */
    accl_device *device;   /* holds a reference of it */
    struct accl_request *next;
    struct accl_call call;
    struct accl_request **waitfor;
    size_t n_waitfor;
    _Atomic uint32_t state; /* also a futex */
    _Atomic uint32_t waiters;
    uint32_t retcode;
    uint64_t duration;
    char text[TEXT_BYTES];
};

/* --- streams -------------------------------------------------------------------------------- */

/* Puts that there was no memory for: whoever reads at that place is told of them. */
struct stream_loss {
    uint32_t puts;           /* 0: nothing was lost */
    uint32_t stream, source; /* of the first: its stream, and the rank that it came from */
    uint64_t bytes;
};

struct stream_chunk {
    struct stream_chunk *next;
    size_t bytes, taken;
    uint32_t stream;
    struct stream_loss loss; /* after it */
    _Alignas(8) uint8_t data[];
};

struct stream_queue {
    struct stream_chunk *first, *last;
    size_t bytes;
    struct stream_loss loss; /* before the first */
};

/* --- the device ----------------------------------------------------------------------------- */

struct accl_device {
    _Atomic uint32_t refs; /* the handle and its requests */
    _Atomic bool closed;
    unsigned fork_count;
    accl_device *next, **link; /* all of this process */

    struct heap *heap;
    struct arena_header *header;
    struct pool pool;
    uint32_t memory_mode;
    uint32_t stack;
    char job[256];

    /* who takes part */
    uint32_t rank, ranks; /* global */
    struct peer *peers;
    struct packets *_Atomic packets; /* NULL if all ranks share memory */
    struct communicator *communicators, **communicators_end;
    uint32_t communicator_count;
    uint64_t nonce;
    uint64_t job_hash;
    uint32_t generation;
    int listener, stopper;
    pthread_t porter;
    struct porter *porter_state;
    bool porter_runs;

    /* configuration */
    uint32_t rx_count;
    uint64_t rx_bytes;
    uint64_t segment_size;
    uint32_t timeout_ms;
    uint32_t *exchange;
    uint32_t exchange_end;
    cpu_set_t core_set;     /* of this rank and those that it has reached */
    _Atomic unsigned cores; /* how many these are */

    /* executor */
    _Atomic uint32_t running;  /* somebody executes */
    _Atomic uint32_t queued;   /* requests in the queue */
    _Atomic uint32_t interest; /* threads that want to be told when running ends */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct accl_request *queue, **queue_end;
    pthread_t service;
    bool service_runs;
    bool service_stops;
    int completion_fd;
    uint32_t last_retcode;
    uint64_t last_ticks;
    struct ticks ticks;
    int (*check)(void *);
    void *check_argument;

    /* of the call that is executed */
    bool checks;      /* by a caller's thread: its check is to be asked */
    int64_t deadline; /* 0 before somebody asks; see deadline_of() */
    uint64_t wakes;   /* ranks to be woken at the next chance, as bits by rank % 64 */
    char text[TEXT_BYTES];

    /* streams */
    pthread_mutex_t stream_lock;
    int stream_mode;
    accl_stream_hook hook;
    void *hook_argument;
    struct stream_queue input, output;
};

/* error.c */
int accl_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* ACCL_INVALID, for an argument that must be given. */
int accl_is_null(const char *function, const char *what);
void accl_set_message(const char *text);
/* Notes the text of the executed call's failure; the bits. */
uint32_t call_fail(accl_device *device, uint32_t bits, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* device.c */
unsigned fork_count(void);
/* ACCL_OK if DEVICE can be used by this process. */
int device_check(accl_device *device);
void device_release(accl_device *device);
/* Calls VISIT for every device of this process, with the registry locked. */
void device_registry_lock(void);
void device_registry_unlock(void);

/* How many devices this process has had as that rank of that job, and one more. */
uint32_t generation_of(uint64_t job, uint32_t rank);
void generation_used(uint64_t job, uint32_t rank);

/* communicator.c */
struct communicator *communicator_find(accl_device *device, uint32_t id);
void communicators_free(accl_device *device);

/* accl_transport/porter.c, attach.c */
int attach_listen(accl_device *device);
void attach_stop(accl_device *device);
/* The peer with its arena; waits for it to exist. Error bits. */
uint32_t attach_peer(accl_device *device, uint32_t rank, struct peer **peer);
/* One attempt: error bits if it makes no sense to try again, else 0; see peer->arena. */
uint32_t attach_try(accl_device *device, struct peer *peer);
/* Time between attempts, at first and at last. */
#define ATTACH_FIRST_NS INT64_C(200000)
#define ATTACH_LAST_NS INT64_C(5000000)
void attach_drop(accl_device *device);

/* transport/shm/wait.c */
struct waiter {
    accl_device *device;
    struct communicator *comm; /* whose members must live; may be NULL */
    uint32_t peer;             /* global rank that must not have left; or NO_RANK */
    bool collective;           /* every member must live */
    bool by_packets;           /* what is awaited comes so: who left may have sent it */
    uint32_t timeout_bits;
    uint32_t rounds, looks_on;
    int64_t began, looked, asked;
    bool seated, armed;
    uint32_t bell;
};
void wait_begin(struct waiter *w, accl_device *device, struct communicator *comm, uint32_t peer,
                bool collective, uint32_t timeout_bits);
/* Lets time pass; 0 or the error bits that end the wait (without text for timeouts). */
uint32_t wait_pause(struct waiter *w);
/* The same where nobody will wake: sleeps for NS at most. */
uint32_t wait_pause_briefly(struct waiter *w, int64_t ns);
void wait_end(struct waiter *w);
/* Whether each rank can have a core of its own. */
bool wait_has_room(const accl_device *device);
/* Shows the others on which core this rank runs. */
void wait_show_core(const accl_device *device);
/* Marks a peer that may sleep for what was just written; wakes all that are marked. */
void wake_later(accl_device *device, const struct peer *peer);
void wake_flush(accl_device *device);
/* What flushing does behind its fence. May be called by one who is not the executor any more. */
void wake_ranks(accl_device *device, uint64_t wakes);
/* The end of the running call's time. */
int64_t deadline_of(accl_device *device);
void wake_peer(struct peer *peer);
/* Whether the process of PEER has ended. */
bool peer_is_dead(struct peer *peer);
void note_wait(accl_device *device, uint32_t operation, uint32_t peer, uint32_t tag,
               uint32_t sequence, uint64_t key);
void note_no_wait(accl_device *device);

/* convert.c, reduce.c */
size_t dtype_bytes(uint32_t dtype);
/* As messages have it. */
const char *dtype_name(uint32_t dtype);
/* Copies N elements; from float32 through float16 if VIA16. Ranges may be the same or apart. */
void convert_copy(void *to, uint32_t to_type, const void *from, uint32_t from_type, size_t n,
                  bool via16);
struct reduction {
    uint32_t function;
    uint32_t type; /* of the arithmetic */
    uint32_t n;    /* operands */
    const uint8_t *const *operands;
    const uint8_t *operand_types;
    uint32_t first; /* the chain is first, first+1, ..., first+n-1 (mod n) */
    uint32_t n_results;
    uint8_t *const *results;
    const uint8_t *result_types;
};
/* Elements [START, START+COUNT) of operands, to the same places of the results. */
void reduce_range(const struct reduction *r, size_t start, size_t count);

/* Counts and types of a message and of the call that would receive it, for both transports. */
#define MESSAGE_DIFFERS \
    "the message has %llu elements of %s (%llu bytes, tag %u, sequence %u), the receive call " \
    "wants %llu of %s (%llu bytes)"

/* For the sender of a stream put, for both transports. */
#define PUT_LOST \
    "a stream put of %llu bytes to stream %u of rank %u of communicator %u is lost: that rank " \
    "has " \
    "no memory for it"

/* message.c */
uint32_t message_send(accl_device *device, struct communicator *comm, uint32_t to,
                      const uint8_t *data, uint64_t offset, uint32_t source_type,
                      uint32_t wire_type, uint64_t count, uint32_t tag, uint32_t stream);
uint32_t message_receive(accl_device *device, struct communicator *comm, uint32_t from,
                         uint8_t *data, uint32_t type, uint32_t wire_type, uint64_t count,
                         uint32_t tag);
/* Takes stream puts from all rings. */
void message_progress_streams(accl_device *device);
void parcels_free(accl_device *device);
void messages_reset(accl_device *device);
/* Goes through all messages that wait to be received. */
typedef void (*parcel_visit)(void *argument, uint32_t source, const struct ring_entry *entry);
void parcels_visit(accl_device *device, parcel_visit visit, void *argument);

/* lane.c: says which ranks made different calls, if some did. Error bits. */
uint32_t lane_compare_calls(accl_device *device, const struct communicator *comm);

/* collective.c */
struct operation {
    const struct accl_call *call;
    struct communicator *comm;
    uint64_t count;
    uint32_t type, wire, arithmetic; /* uncompressed; on the wire; of sums */
    uint32_t source_type, source2_type, result_type;
    uint8_t *source, *source2, *result;
    bool via16;
};
uint32_t collective_run(accl_device *device, const struct operation *op);
uint32_t collective_packets(accl_device *device, const struct operation *op, uint64_t number);
uint32_t collective_direct(accl_device *device, const struct operation *op, struct lane_post *post,
                           uint64_t number);
/* The rank that an element's chain of allreduce starts at, and how far that holds. */
uint32_t allreduce_first(const accl_device *device, const struct operation *op, uint64_t element,
                         uint64_t *run);

/* execute.c */
int call_check(accl_device *device, const struct accl_call *call);
uint32_t call_execute(accl_device *device, const struct accl_call *call, bool checks);

/* exchange.c */
void exchange_init(accl_device *device);
uint32_t exchange_add_communicator(accl_device *device, const struct communicator *comm);
void exchange_refresh(accl_device *device);

/* request.c */
/* Becomes the executor, behind whatever is queued; and ends being it. Only the executor
 * touches communicators, rings and lanes. ACCL_INTERRUPTED if the caller's check broke the wait
 * off. */
int executor_enter(accl_device *device);
void executor_leave(accl_device *device);
void requests_stop(accl_device *device);

/* stream.c */
uint32_t stream_take(accl_device *device, uint8_t *data, uint64_t bytes);
/* Without memory, false: the caller says so. */
bool stream_deliver(accl_device *device, uint32_t stream, const void *data, size_t bytes);
/* The same in two steps: room for the data, NULL without memory; and then what cannot fail, and
 * takes the chunk. */
struct stream_chunk *stream_chunk_new(uint32_t stream, uint64_t bytes);
void stream_give(accl_device *device, struct stream_chunk *chunk);
/* Notes a put of rank SOURCE that there was no memory for. */
void stream_lose(accl_device *device, uint32_t stream, uint32_t source, uint64_t bytes);
bool stream_has_room(accl_device *device, size_t bytes);
void stream_free(accl_device *device);

/* dump.c */
struct text_out {
    char *text;
    size_t space, length;
};
void text_add(struct text_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *operation_name(uint32_t operation);

#endif
