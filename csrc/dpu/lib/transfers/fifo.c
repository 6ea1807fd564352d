/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fifo.c: links to FIFOs in WRAM, which the host feeds and empties while the program runs.
 *
 * What host and program share. The variable NAME is a structure in .data.__sys_host, so that the
 * host finds it, whose start is the same for both directions:
 *
 *   offset  size  input FIFO           output FIFO
 *        0     8  read position        read position      counted in elements, never reduced:
 *        8     8  write position       write position     element P is at P % 2^ptr_size
 *       16     4  address of the elements
 *       20     4  address of a copy of an element for each tasklet (the program's own)
 *       24     4  ptr_size: there are 2^ptr_size elements, at most 1024
 *       28     4  data_size: bytes of an element, a multiple of 8
 *       32     4  -                    elements that tasklets have reserved (the program's own)
 *
 * A second variable, __NAME_data, has the elements, and the host must find it too. Positions are
 * 64 bits, little-endian. The program moves the read position of an input FIFO and the write
 * position of an output FIFO, the host the other one. A FIFO is empty if the positions are equal,
 * and full if they differ by 2^ptr_size.
 */
#include "dpu/lib/transfers/fifo.h"

#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu/lib/sets/set_program.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_RETRIES 1000
#define DEFAULT_RETRY_US 10

enum {
    POSITION_BITS = 24,
    ELEMENT_SIZE = 28,
    STRUCTURE_SIZE = 32,
};

/* Header in front of dpu_fifo_link_t.rank_fifos: the owner of them. */
struct fifo_owner {
    uint32_t nr_ranks;
    const struct dpu_rank_t *ranks[];
};

/* --- links --- */

static size_t owner_size(uint32_t nr_ranks)
{
    size_t size = sizeof(struct fifo_owner) + nr_ranks * sizeof(struct dpu_rank_t *);
    return (size + 15) / 16 * 16;
}

/* The pointer to it is in the word before the FIFOs. */
static struct fifo_owner *owner_of(const struct dpu_fifo_link_t *link)
{
    struct fifo_owner *owner;
    memcpy(&owner, (const char *)link->rank_fifos - sizeof owner, sizeof owner);
    return owner;
}

static dpu_error_t allocate(struct dpu_fifo_link_t *link, const struct dpu_set_t *set)
{
    const uint32_t nr_ranks = set->kind == DPU_SET_RANKS ? set->list.nr_ranks : 1;
    const size_t front = owner_size(nr_ranks) + 16;
    char *memory = calloc(1, front + nr_ranks * sizeof *link->rank_fifos);
    if (memory == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (link to a FIFO)");

    struct fifo_owner *owner = (struct fifo_owner *)(void *)memory;
    owner->nr_ranks = nr_ranks;
    for (uint32_t i = 0; i < nr_ranks; i++)
        owner->ranks[i] = set->kind == DPU_SET_RANKS ? set->list.ranks[i] : set->dpu->rank;

    memcpy(memory + front - sizeof owner, &owner, sizeof owner);
    link->rank_fifos = (struct dpu_fifo_rank_t *)(void *)(memory + front);
    return DPU_OK;
}

struct dpu_fifo_rank_t *dpulib_fifo_of(const struct dpu_fifo_link_t *link,
                                       const struct dpu_rank_t *rank)
{
    if (link == NULL || link->rank_fifos == NULL)
        return NULL;
    const struct fifo_owner *owner = owner_of(link);
    for (uint32_t i = 0; i < owner->nr_ranks; i++)
        if (owner->ranks[i] == rank)
            return &link->rank_fifos[i];
    return NULL;
}

DPU_EXPORT dpu_error_t dpu_fifo_link_free(struct dpu_fifo_link_t *fifo_link)
{
    if (fifo_link != NULL && fifo_link->rank_fifos != NULL) {
        free(owner_of(fifo_link));
        fifo_link->rank_fifos = NULL;
    }
    return DPU_OK;
}

struct parameters {
    uint32_t structure;
    uint32_t position_bits, element_size;
};

static dpu_error_t read_parameters(struct dpu_t *dpu, void *argument)
{
    struct parameters *p = argument;
    if (dpu_machine_read_wram(dpu->machine, p->structure + POSITION_BITS, &p->position_bits, 4) &&
        dpu_machine_read_wram(dpu->machine, p->structure + ELEMENT_SIZE, &p->element_size, 4))
        return DPU_OK;
    return dpulib_fail(DPU_ERR_INVALID_WRAM_ACCESS, "the FIFO is not in WRAM");
}

static dpu_error_t find_data(struct dpu_set_t set, const char *name, struct dpu_symbol_t *symbol)
{
    char *data_name = NULL;
    if (asprintf(&data_name, "__%s_data", name) < 0)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (name)");
    dpu_error_t error = dpulib_find_symbol(set, data_name, symbol);
    free(data_name);
    return error;
}

/* The structure comes from the program, which may be none that has FIFOs. */
static dpu_error_t check_parameters(const struct parameters *p, const char *name,
                                    struct dpu_symbol_t structure, struct dpu_symbol_t data)
{
    bool fits = p->position_bits <= DPULIB_FIFO_BITS_MAX && p->element_size % 8 == 0 &&
                p->element_size != 0 && p->element_size <= DPU_MACHINE_WRAM_ROOM &&
                (p->element_size << p->position_bits) <= data.size &&
                structure.size >= STRUCTURE_SIZE;
    if (!fits)
        return dpulib_fail(DPU_ERR_INVALID_WRAM_ACCESS,
                           "'%s' is no FIFO: 2^%u elements of %u bytes, in %u bytes", name,
                           p->position_bits, p->element_size, data.size);
    return DPU_OK;
}

static bool is_in_wram(struct dpu_symbol_t symbol)
{
    return symbol.address % 4 == 0 && symbol.address < DPU_MACHINE_WRAM_ROOM &&
           symbol.size <= DPU_MACHINE_WRAM_ROOM - symbol.address;
}

static void fill_link(struct dpu_fifo_link_t *link, const struct parameters *p, uint32_t data)
{
    struct fifo_owner *owner = owner_of(link);
    for (uint32_t i = 0; i < owner->nr_ranks; i++) {
        struct dpu_fifo_rank_t *fifo = &link->rank_fifos[i];
        fifo->dpu_fifo_ptr_size = (uint8_t)p->position_bits;
        fifo->dpu_fifo_address = data / 4;
        fifo->dpu_fifo_data_size = p->element_size;
        fifo->max_retries = DEFAULT_RETRIES;
        fifo->time_for_retry = DEFAULT_RETRY_US;
        fifo->transfer_matrix.offset = data / 4;
        fifo->transfer_matrix.size = p->element_size / 4;
        if (link->direction == DPU_OUTPUT_FIFO)
            fifo->transfer_matrix.size <<= p->position_bits;
        fifo->fifo_pointers_matrix.offset = p->structure / 4;
        fifo->fifo_pointers_matrix.size = 4;
        for (uint32_t j = 0; j < MAX_NR_DPUS_PER_RANK; j++)
            fifo->fifo_pointers_matrix.ptr[j] = &fifo->dpu_fifo_pointers[2 * j];
    }
}

static dpu_error_t make_link(struct dpu_set_t set, struct dpu_fifo_link_t *link, const char *name,
                             enum dpu_fifo_direction_t direction)
{
    struct dpu_symbol_t structure, data;
    if (link == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "the link must not be NULL");

    memset(link, 0, sizeof *link);
    link->direction = direction;
    dpu_error_t error = dpulib_find_symbol(set, name, &structure);
    if (error == DPU_OK)
        error = find_data(set, name, &data);
    if (error != DPU_OK)
        return error;
    if (!is_in_wram(structure) || !is_in_wram(data))
        return dpulib_fail(DPU_ERR_INVALID_WRAM_ACCESS, "'%s' is not in WRAM", name);

    struct parameters p = {.structure = structure.address};
    struct dpu_t *dpu = dpulib_next_dpu(&set, &(struct dpulib_cursor){0});
    const struct dpulib_spec spec = {.run = read_parameters, .argument = &p, .parallel = true};
    error = dpu != NULL ? dpulib_run_on_dpu(dpu, &spec) : DPU_ERR_INVALID_DPU_SET;
    if (error == DPU_OK)
        error = check_parameters(&p, name, structure, data);
    if (error == DPU_OK)
        error = allocate(link, &set);
    if (error != DPU_OK)
        return error;

    link->fifo_symbol = structure;
    fill_link(link, &p, data.address);
    return DPU_OK;
}

DPU_EXPORT dpu_error_t dpu_link_input_fifo(struct dpu_set_t dpu_set, struct dpu_fifo_link_t *link,
                                           char *fifo_name)
{
    return make_link(dpu_set, link, fifo_name, DPU_INPUT_FIFO);
}

DPU_EXPORT dpu_error_t dpu_link_output_fifo(struct dpu_set_t dpu_set, struct dpu_fifo_link_t *link,
                                            char *fifo_name)
{
    return make_link(dpu_set, link, fifo_name, DPU_OUTPUT_FIFO);
}

/* The FIFO of the next DPU's rank, NULL after the last. */
static struct dpu_fifo_rank_t *next_fifo(const struct dpu_fifo_link_t *link,
                                         const struct dpu_set_t *set, struct dpulib_cursor *at)
{
    for (struct dpu_t *dpu; (dpu = dpulib_next_dpu(set, at)) != NULL;) {
        struct dpu_fifo_rank_t *fifo = dpulib_fifo_of(link, dpu->rank);
        if (fifo != NULL)
            return fifo;
    }
    return NULL;
}

DPU_EXPORT void dpu_fifo_set_push_max_retries(struct dpu_fifo_link_t *fifo_link,
                                              struct dpu_set_t dpu_set, uint32_t max_retries)
{
    struct dpu_fifo_rank_t *fifo;
    if (dpulib_check_set(dpu_set) != DPU_OK)
        return;
    for (struct dpulib_cursor at = {0}; (fifo = next_fifo(fifo_link, &dpu_set, &at)) != NULL;)
        fifo->max_retries = max_retries;
}

DPU_EXPORT void dpu_fifo_set_time_for_push_retries(struct dpu_fifo_link_t *fifo_link,
                                                   struct dpu_set_t dpu_set, uint32_t time_us)
{
    struct dpu_fifo_rank_t *fifo;
    if (dpulib_check_set(dpu_set) != DPU_OK)
        return;
    for (struct dpulib_cursor at = {0}; (fifo = next_fifo(fifo_link, &dpu_set, &at)) != NULL;)
        fifo->time_for_retry = time_us;
}

/* --- elements that have come --- */

static uint64_t position_of(const struct dpu_fifo_rank_t *fifo, const struct dpu_t *dpu,
                            size_t which)
{
    if (fifo == NULL || dpu == NULL)
        return 0;
    return fifo->dpu_fifo_pointers[2 * (size_t)dpulib_dpu_index(dpu) + which];
}

/* As the vendor's library gives it: eight bits, also of a larger FIFO. */
static uint8_t index_of(const struct dpu_fifo_rank_t *fifo, uint64_t position)
{
    if (fifo == NULL)
        return 0;
    return (uint8_t)(position & ((UINT64_C(1) << fifo->dpu_fifo_ptr_size) - 1));
}

DPU_EXPORT uint64_t get_fifo_abs_rd_ptr(struct dpu_fifo_rank_t *fifo, struct dpu_t *dpu)
{
    return position_of(fifo, dpu, 0);
}

DPU_EXPORT uint64_t get_fifo_abs_wr_ptr(struct dpu_fifo_rank_t *fifo, struct dpu_t *dpu)
{
    return position_of(fifo, dpu, 1);
}

DPU_EXPORT uint8_t get_fifo_rd_ptr(struct dpu_fifo_rank_t *fifo, struct dpu_t *dpu)
{
    return index_of(fifo, position_of(fifo, dpu, 0));
}

DPU_EXPORT uint8_t get_fifo_wr_ptr(struct dpu_fifo_rank_t *fifo, struct dpu_t *dpu)
{
    return index_of(fifo, position_of(fifo, dpu, 1));
}

DPU_EXPORT uint16_t get_fifo_max_size(struct dpu_rank_t *rank, struct dpu_fifo_rank_t *fifo)
{
    uint16_t most = 0;
    if (fifo == NULL || dpulib_check_rank(rank) != DPU_OK)
        return 0;

    for (uint32_t i = 0; i < dpulib_rank_size(rank); i++) {
        const struct dpu_t *dpu = &rank->dpus[i];
        uint16_t size = (uint16_t)(position_of(fifo, dpu, 1) - position_of(fifo, dpu, 0));
        if (dpu->enabled && size > most)
            most = size;
    }

    return most;
}

DPU_EXPORT uint16_t get_fifo_size(struct dpu_fifo_link_t *fifo_link, struct dpu_set_t dpu)
{
    struct dpu_t *one;
    struct dpu_fifo_rank_t *fifo = NULL;
    if (dpulib_check_single(dpu, &one) == DPU_OK)
        fifo = dpulib_fifo_of(fifo_link, one->rank);
    if (fifo == NULL)
        return 0;

    const uint64_t *positions = &fifo->dpu_fifo_pointers[(size_t)2 * dpulib_dpu_index(one)];
    return (uint16_t)(positions[1] - positions[0]);
}

DPU_EXPORT uint8_t *get_fifo_elem(struct dpu_fifo_link_t *fifo_link, struct dpu_set_t dpu,
                                  uint8_t *fifo_data, uint8_t i)
{
    struct dpu_t *one;
    struct dpu_fifo_rank_t *fifo = NULL;
    if (dpulib_check_single(dpu, &one) == DPU_OK)
        fifo = dpulib_fifo_of(fifo_link, one->rank);
    if (fifo == NULL)
        return fifo_data;

    uint64_t position = fifo->dpu_fifo_pointers[(size_t)2 * dpulib_dpu_index(one)] + i;
    uint64_t mask = (UINT64_C(1) << fifo->dpu_fifo_ptr_size) - 1;
    return fifo_data + (position & mask) * fifo->dpu_fifo_data_size;
}

DPU_EXPORT uint8_t get_fifo_elem_index(struct dpu_fifo_link_t *fifo_link, struct dpu_set_t dpu,
                                       uint8_t i)
{
    struct dpu_t *one;
    struct dpu_fifo_rank_t *fifo = NULL;
    if (dpulib_check_single(dpu, &one) == DPU_OK)
        fifo = dpulib_fifo_of(fifo_link, one->rank);
    return fifo == NULL ? 0 : index_of(fifo, position_of(fifo, one, 0) + i);
}
