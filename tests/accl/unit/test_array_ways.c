/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * How a rank chooses whether others read its array where it is or get it in rounds: by the times
 * that they show.
 */
#include "accl/transport/shm/direct.h"
#include "tests/support/check.h"

enum { MEMBERS = 3, BYTES = 1 << 20 };

static struct lane others[MEMBERS];
static uint64_t number;

/* Makes a call with an array of BYTES, which takes the slowest member so many ns, by the way. */
static bool call_reads(struct communicator *comm, uint64_t bytes, uint64_t in_rounds, uint64_t read)
{
    struct operation op = {.comm = comm, .count = bytes, .source_type = ACCL_INT8};
    struct direct d = {.op = &op, .number = ++number};
    bool reads = acclib_direct_choose_read(&d);
    CHECK(d.timed);

    uint64_t ns = reads ? read : in_rounds;
    others[1].read_call = others[2].read_call = ns ? number : 0;
    others[1].read_ns = ns / 2;
    others[2].read_ns = ns;
    return reads;
}

static unsigned reads_of(struct communicator *comm, unsigned calls, uint64_t in_rounds,
                         uint64_t read)
{
    unsigned n = 0;
    for (unsigned i = 0; i < calls; i++)
        n += call_reads(comm, BYTES, in_rounds, read);
    return n;
}

static struct communicator *new_communicator(void)
{
    static struct communicator comm;
    free(comm.lanes);
    comm = (struct communicator){.n = MEMBERS};
    comm.lanes = calloc(1, sizeof *comm.lanes + MEMBERS * sizeof *comm.lanes->of);
    CHECK(comm.lanes != NULL);
    for (int i = 1; i < MEMBERS; i++)
        comm.lanes->of[i] = &others[i];
    return &comm;
}

int main(void)
{
    /* Both ways in turns, then the quicker one, and the other one again in each 64th call. */
    struct communicator *comm = new_communicator();
    CHECK(call_reads(comm, BYTES, 100, 200) && !call_reads(comm, BYTES, 100, 200));
    CHECK(call_reads(comm, BYTES, 100, 200) && !call_reads(comm, BYTES, 100, 200));
    CHECK(reads_of(comm, 59, 100, 200) == 0 && call_reads(comm, BYTES, 100, 200));
    CHECK(reads_of(comm, 63, 100, 200) == 0 && call_reads(comm, BYTES, 100, 200));

    /* A way that has become quicker is noticed then, and kept but for the calls that try. */
    CHECK(reads_of(comm, 63, 100, 50) == 0 && call_reads(comm, BYTES, 100, 50));
    CHECK(reads_of(comm, 63, 100, 50) == 63 && !call_reads(comm, BYTES, 100, 50));

    /* A single long time, for which another member may be the reason, changes nothing. */
    CHECK(call_reads(comm, BYTES, 100, 1000000));
    CHECK(reads_of(comm, 20, 100, 50) == 20);
    /* If it stays so, the way is left. */
    CHECK(reads_of(comm, 20, 100, 1000000) < 10);

    /* Other sizes have times of their own. */
    CHECK(call_reads(comm, BYTES / 2, 100, 200) && !call_reads(comm, BYTES / 2, 100, 200));

    /* Time until the array is posted counts, too. */
    comm = new_communicator();
    for (int i = 0; i < 8; i++) {
        bool reads = call_reads(comm, BYTES, 100, 200);
        CHECK(i < 4 || reads);
        comm->lanes->ways.own_ns = reads ? 0 : 300;
    }

    /* Members that show nothing: in rounds, which need no permission. */
    comm = new_communicator();
    reads_of(comm, 4, 0, 0);
    CHECK(reads_of(comm, 50, 0, 0) == 0);
    free(comm->lanes);
    puts("ok");
    return 0;
}
