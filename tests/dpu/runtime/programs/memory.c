/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocators, readers and MRAM of any alignment; errors[] counts what goes wrong. */
#include <alloc.h>
#include <barrier.h>
#include <defs.h>
#include <errno.h>
#include <mram.h>
#include <mram_unaligned.h>
#include <mutex.h>
#include <perfcounter.h>
#include <seqread.h>
#include <soft_cache.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

BARRIER_INIT(all, NR_TASKLETS);
MUTEX_INIT(guard);

__host uint32_t errors[12], counted_a, counted_b;
__host uint32_t first_heap, blocks_left;
__mram_noinit uint8_t data[65536];
__mram_noinit int totals[32];
__mram_noinit uint8_t bytes[64];
static fsb_allocator_t blocks;
static void *owned[24][40];

static void add_int(int *value, void *amount)
{
    *value += (int)(uintptr_t)amount;
}

static void add_byte(uint8_t *value, void *amount)
{
    *value = (uint8_t)(*value + (uintptr_t)amount);
}

static void error(int which)
{
    mutex_lock(guard);
    errors[which]++;
    mutex_unlock(guard);
}

static void check_buddy(uint32_t id)
{
    uint32_t state = 77 + id;
    uint8_t *at[8] = {0};
    uint32_t size[8] = {0};

    for (int step = 0; step < 60; step++) {
        uint32_t slot;
        state = state * 1664525 + 1013904223;
        slot = state >> 29;
        if (at[slot] == NULL) {
            size[slot] = 1 + ((state >> 16) & 127);
            at[slot] = buddy_alloc(size[slot]);
            if (at[slot] == NULL) {
                if (errno != ENOMEM)
                    error(0);
                continue;
            }
            if ((uintptr_t)at[slot] & 7)
                error(0);
            memset(at[slot], (int)(id * 8 + slot), size[slot]);
        } else {
            for (uint32_t i = 0; i < size[slot]; i++)
                if (at[slot][i] != (uint8_t)(id * 8 + slot)) {
                    error(1);
                    break;
                }
            if (state & 0x10000) {
                uint32_t other = 1 + ((state >> 17) & 127);
                uint8_t *moved = buddy_realloc(at[slot], other);
                if (moved != NULL) {
                    for (uint32_t i = 0; i < (other < size[slot] ? other : size[slot]); i++)
                        if (moved[i] != (uint8_t)(id * 8 + slot))
                            error(2);
                    memset(moved, (int)(id * 8 + slot), other);
                    at[slot] = moved;
                    size[slot] = other;
                }
            } else {
                buddy_free(at[slot] + (size[slot] > 8 ? 8 : 0));
                at[slot] = NULL;
            }
        }
    }
    for (int slot = 0; slot < 8; slot++)
        buddy_free(at[slot]);
}

static void check_seqread(uint32_t id)
{
    seqreader_t reader;
    uint32_t offset = id * 37, step = 1 + id % 40;
    uint8_t *at = seqread_init(seqread_alloc(), &data[offset], &reader);

    for (int i = 0; i < 400; i++) {
        if (*at != (uint8_t)(offset * 7 + (offset >> 8)))
            error(3);
        if (seqread_tell(at, &reader) != &data[offset])
            error(4);
        at = seqread_get(at, step, &reader);
        offset += step;
    }
    offset = 20000 + id;
    at = seqread_seek(&data[offset], &reader);
    if (*at != (uint8_t)(offset * 7 + (offset >> 8)))
        error(5);
    at = seqread_seek(&data[3], &reader);
    if (*at != 21)
        error(5);
}

static void check_unaligned(uint32_t id)
{
    __dma_aligned uint8_t buffer[120];
    uint32_t start = 40000 + id * 61;

    for (uint32_t n = 0; n < 61; n += 4) {
        for (uint32_t i = 0; i < 100; i++)
            buffer[i] = 0xee;
        for (uint32_t i = 0; i < n; i++)
            buffer[(start & 7) + i] = (uint8_t)(id + i + n);
        mram_write_unaligned(buffer + (start & 7), &data[start], n);
        memset(buffer, 0, sizeof(buffer));
        uint8_t *at = mram_read_unaligned(&data[start], buffer, n);
        for (uint32_t i = 0; i < n; i++)
            if (at[i] != (uint8_t)(id + i + n))
                error(6);
    }
    __memset_mram(&data[50000 + id * 99], (int)id + 1, 99);
    barrier_wait(&all);
    uint8_t odd[101];
    __memcpy_wm(odd + 1, &data[50000 + id * 99], 99);
    for (int i = 1; i < 100; i++)
        if (odd[i] != id + 1)
            error(7);
    barrier_wait(&all);
    memset(odd, (int)id + 100, 101);
    __memcpy_mw(&data[50000 + id * 99], odd + 1, 99);
    barrier_wait(&all);
    __memcpy_mm(&data[53000 + id * 99], &data[50000 + id * 99], 99);
    barrier_wait(&all);
    memset(odd, 0, 101);
    __memcpy_wm(odd, &data[53000 + id * 99], 99);
    for (int i = 0; i < 99; i++)
        if (odd[i] != id + 100)
            error(7);
}

int main(void)
{
    uint32_t id = me();

    if (id == 0) {
        first_heap = (uint32_t)mem_reset();
        buddy_init(2048);
        blocks = fsb_alloc(13, 12 * NR_TASKLETS);
        __dma_aligned uint8_t piece[256];
        for (uint32_t at = 0; at < 65536; at += 256) {
            for (uint32_t i = 0; i < 256; i++)
                piece[i] = (uint8_t)((at + i) * 7 + ((at + i) >> 8));
            mram_write(piece, &data[at], 256);
        }
        memset(piece, 0, 256);
        mram_write(piece, totals, 128);
        mram_write(piece, bytes, 64);
        perfcounter_config(COUNT_CYCLES, true);
    }
    barrier_wait(&all);
    check_buddy(id);
    for (int i = 0; i < 12; i++) {
        owned[id][i] = fsb_get(blocks);
        if (owned[id][i] == NULL || ((uintptr_t)owned[id][i] & 7))
            error(8);
        memset(owned[id][i], (int)id, 16);
    }
    barrier_wait(&all);
    if (fsb_get(blocks) != NULL)
        error(8);
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 16; k++)
            if (((uint8_t *)owned[id][i])[k] != id)
                error(8);
    }
    barrier_wait(&all);
    for (int i = 0; i < 12; i++)
        fsb_free(blocks, owned[id][i]);
    uint8_t *mine = mem_alloc(20 + id);
    memset(mine, (int)id, 20 + id);
    check_seqread(id);
    check_unaligned(id);
    for (uint32_t i = 0; i < 20 + id; i++)
        if (mine[i] != id)
            error(9);
    for (int i = 0; i < 30; i++) {
        mram_update_int_atomic(&totals[(id + (uint32_t)i) & 31], add_int,
                               (void *)(uintptr_t)(id + 1));
        mram_update_byte_atomic(&bytes[i], add_byte, (void *)1);
    }
    barrier_wait(&all);
    if (id == 0) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < 32; i++)
            sum += __mram_load32((uintptr_t)&totals[i]);
        if (sum != 30 * NR_TASKLETS * (NR_TASKLETS + 1) / 2)
            error(10);
        for (uint32_t i = 0; i < 30; i++)
            if (__mram_load8((uintptr_t)&bytes[i]) != NR_TASKLETS)
                error(10);
        mram_write_int_atomic(&totals[3], -5);
        mram_write_byte_atomic(&bytes[5], 77);
        __mram_store16((uintptr_t)&bytes[6], 0x1234);
        __mram_store64((uintptr_t)&bytes[8], 0x0102030405060708);
        if ((int)__mram_load32((uintptr_t)&totals[3]) != -5 ||
            __mram_load64((uintptr_t)bytes) >> 40 != 0x12344d ||
            __mram_load16((uintptr_t)&bytes[12]) != 0x0304)
            error(11);
        uint64_t now = perfcounter_get();
        counted_a = (uint32_t)now;
        counted_b = (uint32_t)(perfcounter_config(COUNT_NOTHING, false) - now);
        void *p;
        while ((p = fsb_get(blocks)) != NULL)
            blocks_left++;
        if (buddy_alloc(2048) == NULL)
            error(2);
    }
    return 0;
}
