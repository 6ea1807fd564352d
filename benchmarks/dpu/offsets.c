/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times copies to and from DPUs at several offsets in a page: of MRAM, and of the host's buffers.
 *
 * dpu_offsets ROUNDS DPUS SIZE...: copies to and from one DPU, or with DPUS > 1 pushes and
 * scatter/gather transfers of all.
 */
#include <stdint.h>

#include "benchmarks/common/copy_offsets.h"
#include "dpu.h"

#define BLOCKS 4 /* per DPU, in scatter/gather transfers */

enum kind { COPY, PUSH, SCATTER };

/* Each DPU has a part of the host's buffers that begins with a page. */
struct sides {
    struct dpu_set_t set;
    uint32_t dpus;
    size_t size, stride;
    size_t host_offset;
    enum kind kind;
    bool from_dpu;
    uint8_t *host, *other, *back;
};

static const struct dpu_symbol_t mram = {0x08000000, 64 << 20};

static bool get_block(struct sg_block_info *out, uint32_t dpu, uint32_t block, void *argument)
{
    const struct sides *s = *(const struct sides **)argument;
    const size_t part = s->size / BLOCKS;
    uint8_t *host = s->host + dpu * s->stride + s->host_offset;
    *out = (struct sg_block_info){host + block * part, (uint32_t)part};
    return block < BLOCKS;
}

static void prepare(const struct sides *s)
{
    struct dpu_set_t set = s->set, dpu;
    uint32_t i;
    DPU_FOREACH(set, dpu, i)
    DPU_ASSERT(dpu_prepare_xfer(dpu, s->host + i * s->stride + s->host_offset));
}

static void transfer(const struct offset_case *one, size_t to, size_t from)
{
    struct sides *s = one->context;
    const uint32_t there = (uint32_t)(s->from_dpu ? from : to);
    const dpu_xfer_t direction = s->from_dpu ? DPU_XFER_FROM_DPU : DPU_XFER_TO_DPU;
    s->host_offset = s->from_dpu ? to : from;
    get_block_t blocks = {get_block, &s, sizeof s};
    switch (s->kind) {
    case COPY:
        if (s->from_dpu)
            DPU_ASSERT(dpu_copy_from_symbol(s->set, mram, there, s->host + to, s->size));
        else
            DPU_ASSERT(dpu_copy_to_symbol(s->set, mram, there, s->host + from, s->size));
        break;
    case PUSH:
        prepare(s);
        DPU_ASSERT(dpu_push_xfer_symbol(s->set, direction, mram, there, s->size, DPU_XFER_DEFAULT));
        break;
    case SCATTER:
        DPU_ASSERT(dpu_push_sg_xfer_symbol(s->set, direction, mram, there, s->size, &blocks,
                                           DPU_SG_XFER_DEFAULT));
        break;
    }
}

static void plain(const struct offset_case *one, size_t to, size_t from)
{
    const struct sides *s = one->context;
    uint8_t *target = s->from_dpu ? s->host : s->other, *source = s->from_dpu ? s->other : s->host;
    const size_t part = s->kind == SCATTER ? s->size / BLOCKS : s->size;
    for (uint32_t i = 0; i < s->dpus; i++)
        for (size_t at = i * s->stride; at < i * s->stride + s->size; at += part) {
            memcpy(target + to + at, source + from + at, part);
            __asm__ volatile("" : : "r"(target) : "memory");
        }
}

static bool is_right(const struct offset_case *one, size_t to, size_t from)
{
    const struct sides *s = one->context;
    struct dpu_set_t set = s->set, dpu;
    uint32_t i;
    DPU_FOREACH(set, dpu, i)
    {
        const uint8_t *host = s->host + i * s->stride + (s->from_dpu ? to : from);
        DPU_ASSERT(
            dpu_copy_from_symbol(dpu, mram, (uint32_t)(s->from_dpu ? from : to), s->back, s->size));
        if (memcmp(s->back, host, s->size) != 0)
            return false;
    }
    return true;
}

static void measure(struct sides *s, const char *name, enum kind kind, bool from_dpu, size_t rounds)
{
    const clockid_t clock = kind == COPY ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    const struct offset_case one = {name, s->dpus * s->size, clock, s, transfer, plain, is_right};
    s->kind = kind;
    s->from_dpu = false;
    fill_random(s->host, s->dpus * s->stride, 5);
    transfer(&one, 0, 0);
    s->from_dpu = from_dpu;
    if (from_dpu)
        memset(s->host, 0, s->dpus * s->stride);
    measure_offsets(&one, rounds);
}

static void measure_size(struct dpu_set_t set, uint32_t dpus, size_t size, size_t rounds)
{
    struct sides s = {.set = set, .dpus = dpus, .size = size};
    s.stride = (size + 2 * PAGE - 1) / PAGE * PAGE;
    s.host = new_pages(dpus * s.stride, 1);
    s.other = new_pages(dpus * s.stride, 2);
    s.back = new_pages(size, 3);

    if (dpus == 1) {
        s.set = dpu_set_dpu_iterator_from(&set).next;
        measure(&s, "copy-to", COPY, false, rounds);
        measure(&s, "copy-from", COPY, true, rounds);
    } else {
        measure(&s, "push-to", PUSH, false, rounds);
        measure(&s, "push-from", PUSH, true, rounds);
        measure(&s, "scatter", SCATTER, false, rounds);
        measure(&s, "gather", SCATTER, true, rounds);
    }

    free(s.host);
    free(s.other);
    free(s.back);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    struct dpu_set_t set;
    const uint32_t dpus = (uint32_t)strtoul(argv[2], NULL, 0);
    DPU_ASSERT(dpu_alloc(dpus, "sgXferEnable=true", &set));

    for (int i = 3; i < argc; i++)
        measure_size(set, dpus, strtoull(argv[i], NULL, 0), strtoull(argv[1], NULL, 0));
    DPU_ASSERT(dpu_free(set));
    return 0;
}
