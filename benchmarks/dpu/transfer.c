/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times copies to and from DPUs, each in turns with memcpy() of the same bytes in the same pieces.
 * Prints, for each case, two lines: its name and "+memcpy", and nanoseconds of every round.
 *
 * dpu_transfer ROUNDS LARGEST
 */
#include "dpu.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MOST_DPUS 64
#define VOLUME ((size_t)4 << 20) /* bytes of one round, so that small copies can be timed */

static const struct dpu_symbol_t mram = {0x08000000, 64 << 20};
static size_t rounds;

#define BLOCKS 4 /* of a DPU, in scatter/gather transfers */

enum kind { TO, FROM, COPY_TO, COPY_FROM, BROADCAST, SCATTER, GATHER };

struct one {
    enum kind kind;
    struct dpu_set_t set;
    uint32_t dpus;
    size_t size;
    uint8_t *host, *other; /* a part of each DPU follows that of the one before */
};

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void prepare(const struct one *o)
{
    struct dpu_set_t set = o->set, dpu;
    uint32_t i;
    DPU_FOREACH(set, dpu, i)
    DPU_ASSERT(dpu_prepare_xfer(dpu, o->host + i * o->size));
}

static bool get_block(struct sg_block_info *out, uint32_t dpu, uint32_t block, void *argument)
{
    const struct one *o = *(const struct one **)argument;
    size_t part = o->size / BLOCKS;
    *out = (struct sg_block_info){o->host + dpu * o->size + block * part, (uint32_t)part};
    return block < BLOCKS;
}

static void transfer(const struct one *o)
{
    get_block_t blocks = {get_block, &o, sizeof o};
    switch (o->kind) {
    case TO:
    case FROM:
        DPU_ASSERT(dpu_push_xfer_symbol(o->set, o->kind == TO ? DPU_XFER_TO_DPU : DPU_XFER_FROM_DPU,
                                        mram, 0, o->size, DPU_XFER_NO_RESET));
        break;
    case COPY_TO: DPU_ASSERT(dpu_copy_to_symbol(o->set, mram, 0, o->host, o->size)); break;
    case COPY_FROM: DPU_ASSERT(dpu_copy_from_symbol(o->set, mram, 0, o->host, o->size)); break;
    case SCATTER:
    case GATHER:
        DPU_ASSERT(dpu_push_sg_xfer_symbol(o->set,
                                           o->kind == SCATTER ? DPU_XFER_TO_DPU : DPU_XFER_FROM_DPU,
                                           mram, 0, o->size, &blocks, DPU_SG_XFER_DEFAULT));
        break;
    case BROADCAST:
        DPU_ASSERT(dpu_broadcast_to_symbol(o->set, mram, 0, o->host, o->size, DPU_XFER_DEFAULT));
        break;
    }
}

static bool is_from(const struct one *o)
{
    return o->kind == FROM || o->kind == COPY_FROM || o->kind == GATHER;
}

static void plain(const struct one *o)
{
    const bool from = is_from(o), in_blocks = o->kind == SCATTER || o->kind == GATHER;
    const size_t part = in_blocks ? o->size / BLOCKS : o->size;
    for (uint32_t i = 0; i < o->dpus * (o->size / part); i++) {
        uint8_t *host = o->host + (o->kind == BROADCAST ? 0 : i * part);
        uint8_t *other = o->other + i * part;
        memcpy(from ? host : other, from ? other : host, part);
        __asm__ volatile("" : : "r"(host), "r"(other) : "memory");
    }
}

static void fail(const char *what)
{
    fprintf(stderr, "dpu_transfer: %s\n", what);
    exit(1);
}

/* Compares the data of the DPUs with those that were to be there. */
static void verify(const struct one *o)
{
    struct dpu_set_t set = o->set, dpu;
    uint32_t i;
    uint8_t *seen = malloc(o->size);
    if (seen == NULL)
        fail("no memory");
    DPU_FOREACH(set, dpu, i)
    {
        DPU_ASSERT(dpu_copy_from_symbol(dpu, mram, 0, seen, o->size));
        if (memcmp(seen, o->host + (o->kind == BROADCAST ? 0 : i * o->size), o->size) != 0)
            fail("the data are not the same");
    }
    free(seen);
}

static void fill(uint8_t *bytes, size_t size, uint32_t seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
}

static void measure(const struct one *o, const char *name)
{
    static double ours[1000], theirs[1000];
    const size_t total = o->size * o->dpus;
    const size_t count = VOLUME / total < 1 ? 1 : VOLUME / total > 2000 ? 2000 : VOLUME / total;
    prepare(o);
    if (is_from(o)) {
        /* The DPUs get known data, and the host's are cleared. */
        struct one put = *o;
        put.kind = TO;
        fill(o->host, total, 5);
        transfer(&put);
        memset(o->host, 0, total);
    } else {
        fill(o->host, total, (uint32_t)o->size + 7);
    }
    transfer(o);
    verify(o);
    for (size_t r = 0; r < rounds; r++) {
        double start = now_ns();
        for (size_t i = 0; i < count; i++)
            transfer(o);
        double middle = now_ns();
        for (size_t i = 0; i < count; i++)
            plain(o);
        ours[r] = (middle - start) / (double)count;
        theirs[r] = (now_ns() - middle) / (double)count;
    }
    printf("%s:%u:%zu", name, o->dpus, o->size);
    for (size_t r = 0; r < rounds; r++)
        printf(" %.0f", ours[r]);
    printf("\n%s:%u:%zu+memcpy", name, o->dpus, o->size);
    for (size_t r = 0; r < rounds; r++)
        printf(" %.0f", theirs[r]);
    putchar('\n');
    fflush(stdout);
}

static struct dpu_set_t allocate(uint32_t dpus)
{
    struct dpu_set_t set;
    DPU_ASSERT(dpu_alloc(dpus, "sgXferEnable=true", &set));
    return set;
}

static struct dpu_set_t first(struct dpu_set_t *set)
{
    return dpu_set_dpu_iterator_from(set).next;
}

/* Pages are made on the first write, here and there. */
static void first_touch(size_t size, uint8_t *host)
{
    double ours[3], theirs[3];
    const size_t total = size * MOST_DPUS;
    for (int r = 0; r < 3; r++) {
        struct one o = {TO, allocate(MOST_DPUS), MOST_DPUS, size, host, NULL};
        prepare(&o);
        double start = now_ns();
        transfer(&o);
        ours[r] = now_ns() - start;
        verify(&o);
        DPU_ASSERT(dpu_free(o.set));
        o.other = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (o.other == MAP_FAILED)
            fail("no memory");
        start = now_ns();
        plain(&o);
        theirs[r] = now_ns() - start;
        munmap(o.other, total);
    }
    printf("first-touch:%d:%zu %.0f %.0f %.0f\n", MOST_DPUS, size, ours[0], ours[1], ours[2]);
    printf("first-touch:%d:%zu+memcpy %.0f %.0f %.0f\n", MOST_DPUS, size, theirs[0], theirs[1],
           theirs[2]);
}

int main(int argc, char **argv)
{
    static const uint32_t counts[] = {1, 8, 64};
    static const size_t sizes[] = {8, 4 << 10, 64 << 10, 1 << 20};
    if (argc != 3)
        return 2;
    rounds = strtoull(argv[1], NULL, 0);
    const size_t largest = strtoull(argv[2], NULL, 0);
    const size_t room = MOST_DPUS * ((size_t)1 << 20);
    uint8_t *host = malloc(room), *other = malloc(room);
    if (host == NULL || other == NULL || rounds < 1 || rounds > 1000)
        fail("no memory, or a number of rounds that is none");
    memset(host, 1, room);
    memset(other, 2, room);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct dpu_set_t set = allocate(counts[i]);
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes && sizes[j] <= largest; j++) {
            struct one o = {TO, set, counts[i], sizes[j], host, other};
            measure(&o, "push-to");
            o.kind = FROM;
            measure(&o, "push-from");
            o.kind = BROADCAST;
            measure(&o, "broadcast");
            if (sizes[j] >= 4096) {
                o.kind = SCATTER;
                measure(&o, "scatter");
                o.kind = GATHER;
                measure(&o, "gather");
            }
            if (counts[i] != 1)
                continue;
            o.set = first(&set);
            o.kind = COPY_TO;
            measure(&o, "copy-to");
            o.kind = COPY_FROM;
            measure(&o, "copy-from");
        }
        DPU_ASSERT(dpu_free(set));
    }
    first_touch(sizes[2], host);
    if (largest >= sizes[3])
        first_touch(sizes[3], host);
    free(host);
    free(other);
    return 0;
}
