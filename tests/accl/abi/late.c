/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl -Wl,--wrap=acclib_lane_use -Wl,--wrap=acclib_lane_may_use
 *    -Wl,--wrap=acclib_lane_source -Wl,--wrap=acclib_lane_used -Wl,--wrap=acclib_lane_finish
 *    -Wl,--wrap=acclib_lane_publish -Wl,--wrap=acclib_lane_wait_post -Wl,--wrap=acclib_lane_keep
 *    -Wl,--wrap=acclib_lane_move_source -Wl,--wrap=acclib_convert -Wl,--wrap=acclib_reduce
 *    -Wl,--wrap=acclib_wait_pause
 *
 * Ranks that come late, stop in the middle of a call or die there: once a call has returned, nobody
 * reads or writes its buffers, and a call that succeeds has the right result. Each round is a call
 * on a communicator of its own, with delays at steps that are drawn; whoever returns overwrites its
 * buffers. usage: late ROUNDS SEED all|send|interrupt
 */
#include <stdatomic.h>
#include <sys/mman.h>

#include "ranks.h"

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/reduce.h"
#include "accl/transport/shm/lane_keep.h"
#include "accl/transport/shm/lane_use.h"
#include "accl/transport/wait.h"

enum { RANKS = 4, TIMEOUT_MS = 20, ROUNDS_PER_JOB = 12, STEPS = 40, LARGEST = 60000, MORE = 20 };
#define BARRIER_S 60
#define REUSED 1e30F

static char job[64];
static int only_sends; /* of much data, which the receiver copies from the sender's memory */
static int interrupts; /* of sends, as if Ctrl-C was pressed */
static _Atomic int was_interrupted;
static uint64_t seed;

/* State that the ranks of a job share besides accl. */
static struct shared {
    _Atomic uint32_t arrived[RANKS], dead[RANKS]; /* the last round; that of its death, or 0 */
    _Atomic int ends;                             /* a check has failed */
    _Atomic uint32_t succeeded, failed;           /* of all rounds */
} *shared;

static uint32_t draw(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % below;
}

/* --- delays and deaths ------------------------------------------------------------------------ */

static struct plan {
    uint32_t rank, round;
    uint32_t before_us, at, us; /* a delay before the call, and one at step AT */
    int dies;                   /* there, instead */
} plan;
static uint32_t step_count;

static void fail(void)
{
    atomic_store(&shared->ends, 1);
    _Exit(1);
}

static void pause_us(uint32_t us)
{
    struct timespec ts = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    if (us)
        nanosleep(&ts, NULL);
}

static void step(void)
{
    if (step_count++ != plan.at)
        return;
    if (plan.dies) {
        atomic_store(&shared->dead[plan.rank], plan.round);
        _exit(0);
    }
    pause_us(plan.us);
}

/* The caller's check, of a rank that has to do with the call. */
static int interrupt(void *argument)
{
    (void)argument;
    atomic_store(&was_interrupted, 1);
    return 1;
}

static void draw_plan(uint32_t rank, uint32_t round, struct plan *p)
{
    static const uint32_t most_us[] = {100, 10000, 30000, 60000};
    *p = (struct plan){.rank = rank, .round = round};
    p->before_us = draw(2) ? draw(most_us[draw(4)] + 1) : 0;
    p->at = draw(STEPS);
    p->us = draw(most_us[draw(4)] + 1) + (interrupts ? 50000 : 0);
    p->dies = draw(150) == 0;
}

#define STEPPED(type, name, parameters, arguments) \
    type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters \
    { \
        step(); \
        type result = __real_##name arguments; \
        step(); \
        return result; \
    }
#define STEPPED_VOID(name, parameters, arguments) \
    void __real_##name parameters; \
    void __wrap_##name parameters; \
    void __wrap_##name parameters \
    { \
        step(); \
        __real_##name arguments; \
        step(); \
    }

STEPPED_VOID(acclib_lane_use, (const struct communicator *c, uint64_t n), (c, n))
STEPPED(uint32_t, acclib_lane_may_use,
        (accl_device * d, struct communicator *c, uint32_t i, uint64_t n), (d, c, i, n))
STEPPED(uint64_t, acclib_lane_source, (const struct communicator *c, uint32_t i, uint64_t n),
        (c, i, n))
STEPPED_VOID(acclib_lane_used, (const struct communicator *c), (c))
STEPPED_VOID(acclib_lane_finish, (accl_device * d, const struct operation *op, uint64_t n),
             (d, op, n))
STEPPED_VOID(acclib_lane_publish,
             (accl_device * d, const struct operation *op, struct lane_post *p, uint64_t n),
             (d, op, p, n))
STEPPED(uint32_t, acclib_lane_wait_post,
        (accl_device * d, const struct operation *op, uint32_t i, uint64_t n, uint32_t s,
         struct lane_seen *seen),
        (d, op, i, n, s, seen))
STEPPED(uint8_t *, acclib_lane_keep,
        (accl_device * d, const struct communicator *c, uint64_t n, uint64_t b), (d, c, n, b))
STEPPED(uint32_t, acclib_lane_move_source,
        (accl_device * d, const struct operation *op, uint64_t n, uint64_t o), (d, op, n, o))
STEPPED_VOID(acclib_convert,
             (void *to, uint32_t t, const void *from, uint32_t f, uint64_t n, bool v),
             (to, t, from, f, n, v))
STEPPED_VOID(acclib_reduce, (const struct reduction *r, uint64_t from, uint64_t n), (r, from, n))
STEPPED(uint32_t, acclib_wait_pause, (struct waiter * w), (w))

/* --- a round ---------------------------------------------------------------------------------- */

struct round {
    uint32_t number; /* from 1 */
    struct accl_call call;
    uint32_t n, members[RANKS]; /* of the communicator */
    int in_place;
};

/* All ranks draw the same. */
static void draw_round(struct round *round, uint32_t number)
{
    static const uint64_t counts[] = {5, 1300, 3000, LARGEST};
    uint32_t first = draw(RANKS);
    *round = (struct round){.number = number, .n = 2 + draw(RANKS - 1)};
    for (uint32_t i = 0, n = 0; n < round->n; i++) /* sorted, as splitting sorts them */
        if ((i + RANKS - first) % RANKS < round->n)
            round->members[n++] = i;

    uint32_t operation = ACCL_BCAST + draw(ACCL_ALLTOALL - ACCL_BCAST + 2);
    operation = only_sends || operation > ACCL_ALLTOALL ? ACCL_SEND : operation;
    uint64_t count = counts[draw(4)];
    round->call = make_call(operation, only_sends ? LARGEST : count, ACCL_FLOAT32);
    round->call.root_src_dst = draw(round->n);
    round->call.function = ACCL_SUM;
    round->in_place = draw(3) == 0;
    if (draw(4) == 0) {
        round->call.compressed_dtype = ACCL_FLOAT16;
        round->call.compression_flags = ACCL_ETH_COMPRESSED;
    }
}

/* Exact in float16, and so is their sum. */
static float value_of(uint32_t member, uint64_t i)
{
    return (float)(member * 8 + i % 7 + 1);
}

static float expected(const struct round *round, uint32_t me, uint32_t part, uint64_t i)
{
    uint64_t own = me * round->call.count + i;
    float sum = 0;
    switch (round->call.operation) {
    case ACCL_SEND: return value_of(0, i);
    case ACCL_BCAST: return value_of(round->call.root_src_dst, i);
    case ACCL_SCATTER: return value_of(round->call.root_src_dst, own);
    case ACCL_GATHER:
    case ACCL_ALLGATHER: return value_of(part, i);
    case ACCL_ALLTOALL: return value_of(part, own);
    default: break;
    }
    for (uint32_t k = 0; k < round->n; k++)
        sum += value_of(k, round->call.operation == ACCL_REDUCE_SCATTER ? own : i);
    return sum;
}

static void check_result(const struct round *round, uint32_t me, const float *result)
{
    uint32_t operation = round->call.operation, root = round->call.root_src_dst;
    uint64_t count = round->call.count;
    int to_root = operation == ACCL_GATHER || operation == ACCL_REDUCE;
    int many =
        operation == ACCL_GATHER || operation == ACCL_ALLGATHER || operation == ACCL_ALLTOALL;
    if (operation == ACCL_BARRIER || (to_root && me != root) || (operation == ACCL_SEND && me != 1))
        return;

    for (uint32_t part = 0; part < (many ? round->n : 1); part++)
        for (uint64_t i = 0; i < count; i++) {
            float got = result[part * count + i];
            if (got == expected(round, me, part, i))
                continue;
            fprintf(stderr,
                    "round %u: member %u of %u, operation %u, %llu elements%s: success, "
                    "but part %u [%llu] is %g\n",
                    round->number, me, round->n, operation, (unsigned long long)count,
                    round->in_place ? " in place" : "", part, (unsigned long long)i, (double)got);
            fail();
        }
}

static void meet(uint32_t rank, uint32_t number)
{
    double start = seconds();
    atomic_store(&shared->arrived[rank], number);
    for (uint32_t i = 0; i < RANKS; i++)
        while (atomic_load(&shared->arrived[i]) < number && !atomic_load(&shared->dead[i])) {
            if (seconds() - start > BARRIER_S) {
                fprintf(stderr, "round %u: rank %u waits for rank %u\n", number, rank, i);
                fail();
            }
            if (atomic_load(&shared->ends))
                _Exit(1);
            pause_us(200);
        }
}

struct buffers {
    accl_buffer *source, *result;
    float *in, *out;
};

static void reuse(float *at, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        at[i] = REUSED;
}

static void check_reused(const struct round *round, uint32_t me, uint32_t bits, const char *which,
                         const float *at)
{
    for (uint64_t i = 0; i < (uint64_t)RANKS * LARGEST; i++) {
        if (at[i] == REUSED)
            continue;
        fprintf(stderr,
                "round %u: member %u of %u, operation %u, %llu elements, returned 0x%x: "
                "its %s was written afterwards: [%llu] is %g\n",
                round->number, me, round->n, round->call.operation,
                (unsigned long long)round->call.count, bits, which, (unsigned long long)i,
                (double)at[i]);
        fail();
    }
}

/* Makes the call as member ME. Error bits. */
static uint32_t make(const struct rank *r, const struct round *round, uint32_t me, uint32_t comm,
                     const struct buffers *b)
{
    struct accl_call call = round->call;
    int in_place = round->in_place || call.operation == ACCL_BCAST;
    if (call.operation == ACCL_SEND && me > 1)
        return 0;
    if (call.operation == ACCL_SEND) {
        call.root_src_dst = me ? 0 : 1;
        call.operation = me ? ACCL_RECV : ACCL_SEND;
        in_place = 0;
    }
    call.comm = comm;
    call.address[0] = accl_buffer_address(b->source);
    call.address[2] = accl_buffer_address(in_place ? b->source : b->result);
    for (uint64_t i = 0; i < (uint64_t)RANKS * call.count; i++)
        b->in[i] = value_of(me, i);

    pause_us(plan.before_us);
    step_count = 0;
    atomic_store(&was_interrupted, 0);
    accl_set_interrupt_check(r->device, interrupts ? interrupt : NULL, NULL);
    uint32_t bits = run_call(r, &call);
    accl_set_interrupt_check(r->device, NULL, NULL);
    step_count = STEPS;
    CHECK(!atomic_load(&was_interrupted) || bits == ACCL_ERROR(INTERRUPTED_ERROR));

    if (!bits)
        check_result(round, me, in_place ? b->in : b->out);
    return bits;
}

/* False if a rank has died. */
static int go(const struct rank *r, const struct round *round, const struct buffers *b)
{
    uint32_t me = round->n, comm = 0, bits = 0;
    for (uint32_t i = 0; i < round->n; i++)
        me = round->members[i] == r->rank ? i : me;

    if (me < round->n) {
        CHECK(accl_split_communicator(r->device, 0, round->members, round->n, &comm) == ACCL_OK);
        bits = make(r, round, me, comm, b);
        atomic_fetch_add(bits ? &shared->failed : &shared->succeeded, 1);
        /* From here on the buffers are the program's. */
        reuse(b->in, (uint64_t)RANKS * LARGEST);
        reuse(b->out, (uint64_t)RANKS * LARGEST);
    }
    meet(r->rank, round->number);
    if (me < round->n) {
        check_reused(round, me, bits, "source", b->in);
        check_reused(round, me, bits, "result", b->out);
        CHECK(accl_free_communicator(r->device, comm) == ACCL_OK);
    }
    for (uint32_t i = 0; i < RANKS; i++)
        if (atomic_load(&shared->dead[i]) && atomic_load(&shared->dead[i]) <= round->number)
            return 0;
    return 1;
}

static void body(uint32_t rank, uint32_t n)
{
    struct rank r;
    struct buffers b;
    struct plan plans[RANKS];
    size_t bytes = sizeof(float) * RANKS * LARGEST;
    plan.at = UINT32_MAX;
    rank_open(&r, job, rank, n, ACCL_MEMORY_UNIFIED, 8, 4096);
    set_timeout(&r, 10000);
    CHECK(accl_buffer_create(r.device, bytes, ACCL_FLOAT32, 0, &b.source) == ACCL_OK);
    CHECK(accl_buffer_create(r.device, bytes, ACCL_FLOAT32, 0, &b.result) == ACCL_OK);
    b.in = accl_buffer_host(b.source);
    b.out = accl_buffer_host(b.result);
    reuse(b.in, (uint64_t)RANKS * LARGEST);
    reuse(b.out, (uint64_t)RANKS * LARGEST);
    struct accl_call barrier = make_call(ACCL_BARRIER, 0, 0);
    CHECK(run_call(&r, &barrier) == 0);
    set_timeout(&r, interrupts ? 10000 : TIMEOUT_MS);

    int all_live = 1;
    for (uint32_t number = 1; all_live && number <= ROUNDS_PER_JOB; number++) {
        struct round round;
        draw_round(&round, number);
        for (uint32_t i = 0; i < RANKS; i++)
            draw_plan(i, number, &plans[i]);
        plan = plans[rank];
        all_live = go(&r, &round, &b);
    }
    plan.at = UINT32_MAX;
    rank_close(&r);
    accl_buffer_free(b.source);
    accl_buffer_free(b.result);
}

static int has_both(void)
{
    return atomic_load(&shared->succeeded) > 0 && atomic_load(&shared->failed) > 0;
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    interrupts = strcmp(argv[3], "interrupt") == 0;
    only_sends = interrupts || strcmp(argv[3], "send") == 0;
    uint32_t rounds = (uint32_t)atoi(argv[1]);
    seed = (uint64_t)atoi(argv[2]);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    /* On a busy machine some dozen rounds may have no call that comes too late: then there are
     * more. */
    for (uint32_t done = 0; done < rounds || (!has_both() && done < MORE * rounds);
         done += ROUNDS_PER_JOB) {
        memset(shared->arrived, 0, sizeof shared->arrived);
        memset(shared->dead, 0, sizeof shared->dead);
        snprintf(job, sizeof job, "late %d %u", (int)getpid(), done);
        seed += 7919;
        run_ranks(RANKS, body);
    }

    /* The delays are of use: some calls fail, and some do not. */
    fprintf(stderr, "%u calls succeeded, %u failed\n", atomic_load(&shared->succeeded),
            atomic_load(&shared->failed));
    CHECK(has_both());
    puts("ok");
    return 0;
}
