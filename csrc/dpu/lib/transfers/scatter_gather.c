/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/transfers/scatter_gather.h"

#include "common/copy.h"
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/core/job_kind.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/ranks/table.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu/lib/transfers/place.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct scatter {
    struct dpulib_target target;
    struct dpulib_place place; /* once it is resolved */
    dpu_xfer_t direction;
    bool check_length;
    get_block_t get_block;
    void *args_copy;
    /* The caller's function is called by one thread at a time. */
    pthread_mutex_t lock;
    struct dpulib_table *indexes; /* of a DPU in the set, plus 1 */
};

/* --- asking for blocks --- */

static dpu_error_t append(struct sg_xfer_buffer *blocks, const struct sg_block_info *block)
{
    if (blocks->nr_blocks == blocks->max_nr_blocks) {
        uint32_t room = blocks->nr_blocks != 0 ? 2 * blocks->nr_blocks : 16;
        void *addresses = realloc(blocks->blocks_addr, room * sizeof *blocks->blocks_addr);
        if (addresses != NULL)
            blocks->blocks_addr = addresses;
        void *lengths = realloc(blocks->blocks_length, room * sizeof *blocks->blocks_length);
        if (lengths != NULL)
            blocks->blocks_length = lengths;
        if (addresses == NULL || lengths == NULL)
            return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (%u blocks)", room);

        blocks->max_nr_blocks = room;
    }

    blocks->blocks_addr[blocks->nr_blocks] = block->addr;
    blocks->blocks_length[blocks->nr_blocks++] = block->length;
    return DPU_OK;
}

static dpu_error_t mismatch(const struct scatter *s, uint32_t index, uint64_t bytes)
{
    return dpulib_fail(DPU_ERR_SG_LENGTH_MISMATCH,
                       "the blocks of DPU %u of the set have %s%llu bytes, the transfer has %u",
                       index, bytes > s->place.size ? "at least " : "", (unsigned long long)bytes,
                       s->place.size);
}

static dpu_error_t collect(const struct scatter *s, uint32_t index, uint32_t most,
                           struct sg_xfer_buffer *blocks)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0;; i++) {
        struct sg_block_info block = {NULL, 0};
        if (!s->get_block.f(&block, index, i, s->get_block.args))
            break;
        if (i >= most)
            return dpulib_fail(DPU_ERR_SG_TOO_MANY_BLOCKS,
                               "DPU %u of the set has more than %u blocks; the profile's "
                               "sgXferMaxBlocksPerDpu allows for more",
                               index, most);
        if (block.length == 0)
            continue;

        if (block.addr == NULL)
            return dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER,
                               "block %u of DPU %u of the set is NULL", i, index);
        bytes += block.length;
        if (s->check_length && bytes > s->place.size)
            return mismatch(s, index, bytes);

        dpu_error_t error = append(blocks, &block);
        if (error != DPU_OK)
            return error;
    }

    return s->check_length && bytes != s->place.size ? mismatch(s, index, bytes) : DPU_OK;
}

/* --- copying --- */

void dpulib_copy_blocks(const struct dpulib_place *place, struct dpu_machine *machine, bool to_dpu,
                        const struct sg_xfer_buffer *blocks)
{
    uint8_t *mram = dpu_machine_mram(machine, place->offset, place->size, to_dpu);
    uint32_t done = 0;
    for (uint32_t i = 0; i < blocks->nr_blocks && done < place->size; i++) {
        uint32_t left = place->size - done;
        uint32_t some = blocks->blocks_length[i] < left ? blocks->blocks_length[i] : left;
        if (some == 0) /* its address may be NULL */
            continue;

        if (to_dpu)
            copy_memory(mram + done, blocks->blocks_addr[i], some);
        else
            copy_memory(blocks->blocks_addr[i], mram + done, some);
        done += some;
    }

    if (to_dpu)
        memset(mram + done, 0, place->size - done);
}

static dpu_error_t run_scatter(struct dpu_t *dpu, void *argument)
{
    struct scatter *s = argument;
    struct sg_xfer_buffer blocks = {0, NULL, NULL, 0};
    uint32_t index = (uint32_t)(uintptr_t)*dpulib_table_entry(s->indexes, dpu) - 1;
    pthread_mutex_lock(&s->lock);
    dpu_error_t error = collect(s, index, dpu->rank->configuration.sg_max_blocks, &blocks);
    pthread_mutex_unlock(&s->lock);
    if (error == DPU_OK)
        dpulib_copy_blocks(&s->place, dpu->machine, s->direction == DPU_XFER_TO_DPU, &blocks);
    free(blocks.blocks_addr);
    free(blocks.blocks_length);
    return error;
}

static void release_scatter(void *argument)
{
    struct scatter *s = argument;
    pthread_mutex_destroy(&s->lock);
    free(s->args_copy);
    free(s->indexes);
    free(s);
}

/* --- API --- */

static dpu_error_t check_request(const struct dpu_set_t *set, struct scatter *s)
{
    if (set->kind != DPU_SET_RANKS)
        return dpulib_fail(DPU_ERR_INTERNAL,
                           "a scatter/gather transfer takes ranks, not a single DPU");

    dpu_error_t error = dpulib_target_resolve(&s->target, set);
    if (error != DPU_OK)
        return error;

    (void)dpulib_place_find(&s->place, &s->target); /* refuses nothing of MRAM */
    if (s->place.memory != DPU_PLACE_MRAM)
        return dpulib_fail(DPU_ERR_SG_NOT_MRAM_SYMBOL,
                           "the symbol at 0x%x is not in MRAM, which alone has scatter/gather "
                           "transfers",
                           s->target.symbol.address);
    if (!set->list.ranks[0]->configuration.sg_enabled)
        return dpulib_fail(DPU_ERR_SG_NOT_ACTIVATED,
                           "the profile given to dpu_alloc() has to say sgXferEnable=true");
    if (s->direction != DPU_XFER_TO_DPU && s->direction != DPU_XFER_FROM_DPU)
        return dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER,
                           "direction %d is neither DPU_XFER_TO_DPU nor DPU_XFER_FROM_DPU",
                           (int)s->direction);
    if (s->get_block.f == NULL)
        return dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER,
                           "get_block and its function must not be NULL");
    return dpulib_place_check(&s->place, set);
}

static dpu_error_t resolve_scatter(const struct dpu_set_t *set, struct dpulib_spec *spec)
{
    struct scatter *s = spec->argument;
    dpu_error_t error = check_request(set, s);
    if (error != DPU_OK)
        return error;
    s->indexes = dpulib_table_new(set);
    if (s->indexes == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (transfer)");

    struct dpu_t *dpu;
    uintptr_t index = 0;
    for (struct dpulib_cursor at = {0}; (dpu = dpulib_next_dpu(set, &at)) != NULL;)
        *dpulib_table_entry(s->indexes, dpu) = (void *)++index;
    return DPU_OK;
}

/* GET_BLOCK may be NULL, as the caller's mistake; its arguments are copied. NULL: out of memory. */
static struct scatter *new_scatter(const get_block_t *get_block)
{
    struct scatter *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;

    pthread_mutex_init(&s->lock, NULL);
    if (get_block == NULL)
        return s;
    s->get_block = *get_block;
    if (get_block->args_size == 0 || get_block->args == NULL)
        return s;

    s->args_copy = malloc(get_block->args_size);
    if (s->args_copy == NULL) {
        release_scatter(s);
        return NULL;
    }
    s->get_block.args = memcpy(s->args_copy, get_block->args, get_block->args_size);
    return s;
}

static dpu_error_t push_blocks(struct dpu_set_t set, dpu_xfer_t direction,
                               struct dpulib_target target, const get_block_t *get_block,
                               dpu_sg_xfer_flags_t flags)
{
    struct scatter *s = new_scatter(get_block);
    if (s == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (transfer)");

    s->target = target;
    s->direction = direction;
    s->check_length = (flags & DPU_SG_XFER_DISABLE_LENGTH_CHECK) == 0;

    /* The vendor's library does it in a callback. */
    const struct dpulib_spec spec = {.kind = DPULIB_JOB_CALLBACK,
                                     .run = run_scatter,
                                     .argument = s,
                                     .resolve = resolve_scatter,
                                     .release = release_scatter,
                                     .bytes = target.length,
                                     .move = direction == DPU_XFER_TO_DPU ? DPULIB_PARALLEL_TO
                                                                          : DPULIB_PARALLEL_FROM};
    return dpulib_submit(set, &spec, (flags & DPU_SG_XFER_ASYNC) != 0);
}

DPU_EXPORT dpu_error_t dpu_push_sg_xfer_symbol(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                               struct dpu_symbol_t symbol, uint32_t symbol_offset,
                                               size_t length, get_block_t *get_block,
                                               dpu_sg_xfer_flags_t flags)
{
    return push_blocks(dpu_set, xfer, dpulib_by_symbol(symbol, symbol_offset, length), get_block,
                       flags);
}

DPU_EXPORT dpu_error_t dpu_push_sg_xfer(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                        const char *symbol_name, uint32_t symbol_offset,
                                        size_t length, get_block_t *get_block,
                                        dpu_sg_xfer_flags_t flags)
{
    return push_blocks(dpu_set, xfer, dpulib_by_name(symbol_name, symbol_offset, length), get_block,
                       flags);
}
