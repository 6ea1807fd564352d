/* SPDX-License-Identifier: BSD-3-Clause */
#include "dram.h"

#include "machine_state.h"

#include <string.h>

#define COLUMN 8
#define NEVER UINT64_MAX

/* --- units --- */

static uint64_t ticks_of_cycles(const struct dpu_machine *m, uint64_t cycles)
{
    return cycles * m->options.dram_mhz;
}

static uint64_t ticks_of_clocks(const struct dpu_machine *m, uint64_t clocks)
{
    return clocks * m->options.clock_mhz;
}

/* The cycle of the machine with which TICK is over: engines and tasklets follow the DPU's clock. */
static uint64_t cycle_at(const struct dpu_machine *m, uint64_t tick)
{
    return m->launch_cycles + (tick + m->options.dram_mhz - 1) / m->options.dram_mhz;
}

/* --- a bank --- */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Opens ROW from tick AT on. Returns when columns may be accessed. */
static uint64_t open_row(const struct dpu_machine *m, struct dpu_bank *bank, uint64_t row,
                         uint64_t period, uint64_t at)
{
    const struct dpu_machine_options *o = &m->options;
    bool is_open = bank->row != DPU_NO_ROW && bank->period == period;
    if (is_open && bank->row == row)
        return at;
    if (is_open)
        at = later(at, bank->opened + ticks_of_clocks(m, o->dram_ras)) +
             ticks_of_clocks(m, o->dram_rp);

    bank->row = row;
    bank->period = period;
    bank->opened = at;
    return at + ticks_of_clocks(m, o->dram_rcd);
}

static void close_row(const struct dpu_machine *m, struct dpu_bank *bank)
{
    const struct dpu_machine_options *o = &m->options;
    bank->free = later(bank->free, bank->opened + ticks_of_clocks(m, o->dram_ras)) +
                 ticks_of_clocks(m, o->dram_rp);
    bank->row = DPU_NO_ROW;
}

static struct dpu_bank *bank_of(const struct dpu_machine *m, struct dpu_dram *dram, uint64_t row)
{
    return &dram->banks[row % m->options.dram_banks];
}

/* Accesses COLUMNS of a row, from tick AT on. Returns when the next one could be accessed. What a
 * refresh comes before goes on after it, with the row opened again. */
static uint64_t access_row(const struct dpu_machine *m, struct dpu_dram *dram, uint64_t row,
                           uint32_t columns, uint64_t at)
{
    const struct dpu_machine_options *o = &m->options;
    const uint64_t interval = ticks_of_cycles(m, o->dram_refresh_interval);
    const uint64_t refresh = ticks_of_cycles(m, o->dram_refresh_cycles);
    const uint64_t column = ticks_of_clocks(m, o->dram_ccd);
    struct dpu_bank *bank = bank_of(m, dram, row);
    at = later(at, bank->free);
    while (columns != 0) {
        uint64_t period = at / interval, end = (period + 1) * interval - refresh;
        if (at < end)
            at = open_row(m, bank, row, period, at);

        uint64_t fits = at < end ? (end - at) / column : 0;
        uint32_t now = fits < columns ? (uint32_t)fits : columns;
        columns -= now;
        at = columns == 0 ? at + now * column : (period + 1) * interval;
    }

    bank->free = at;
    if (o->dram_open_rows == 0)
        close_row(m, bank);
    return at;
}

/* The part of a transfer that is in its first row. */
static uint32_t bytes_in_row(const struct dpu_machine *m, uint32_t far, uint32_t bytes)
{
    uint32_t left = m->options.dram_row_bytes - far % m->options.dram_row_bytes;
    return bytes < left ? bytes : left;
}

/* Takes that part off a transfer, from tick AT on, and returns as access_row(). */
static uint64_t take_row(const struct dpu_machine *m, struct dpu_dram *dram,
                         struct dpu_request *request, uint64_t at)
{
    uint32_t here = bytes_in_row(m, request->far, request->bytes);
    at = access_row(m, dram, request->far / m->options.dram_row_bytes, here / COLUMN, at);
    request->far += here;
    request->bytes -= here;
    return at;
}

/* --- in the order of issue --- */

static void transfer_in_order(struct dpu_machine *m, struct dpu_request request)
{
    uint64_t *free = &m->dma_free[m->dma_engine];
    uint64_t start = later(*free, request.issued) - m->launch_cycles;
    uint64_t at = ticks_of_cycles(m, start + request.setup);
    while (request.bytes != 0)
        at = take_row(m, &m->dram, &request, at);

    *free = cycle_at(m, at + ticks_of_clocks(m, m->options.dram_cl));
    m->threads[request.thread].ready = *free + request.wait;
}

/* --- open rows first --- */

static bool is_open(const struct dpu_machine *m, struct dpu_dram *dram,
                    const struct dpu_request *request, uint64_t at)
{
    uint64_t row = request->far / m->options.dram_row_bytes;
    const struct dpu_bank *bank = bank_of(m, dram, row);
    return bank->row == row &&
           bank->period == at / ticks_of_cycles(m, m->options.dram_refresh_interval);
}

static uint64_t issue_of(const struct dpu_machine *m, const struct dpu_request *request)
{
    return ticks_of_cycles(m, request->issued - m->launch_cycles);
}

/* Of the requests that have come by tick AT, the first whose row is open, or else the first. */
static struct dpu_request *choose(const struct dpu_machine *m, struct dpu_dram *dram, uint64_t at)
{
    for (uint32_t i = 0; i < dram->count && issue_of(m, &dram->requests[i]) <= at; i++)
        if (is_open(m, dram, &dram->requests[i], at))
            return &dram->requests[i];
    return dram->requests;
}

static void remove_request(struct dpu_dram *dram, struct dpu_request *request)
{
    size_t behind = (size_t)(dram->requests + --dram->count - request);
    memmove(request, request + 1, behind * sizeof *request);
}

/* The engine takes a row of one request after the other, until what comes next begins at UNTIL or
 * later, or nothing is left. Tasklets know then when those are over that are. */
static void run_engine(struct dpu_machine *m, struct dpu_dram *dram, uint64_t until)
{
    while (dram->count != 0) {
        uint64_t at = later(dram->engine_free, issue_of(m, dram->requests));
        if (at >= until)
            return;

        struct dpu_request *request = choose(m, dram, at);
        if (!request->has_begun)
            at += ticks_of_cycles(m, request->setup);
        request->has_begun = true;
        dram->engine_free = take_row(m, dram, request, at);
        if (request->bytes != 0)
            continue;

        uint64_t end = cycle_at(m, dram->engine_free + ticks_of_clocks(m, m->options.dram_cl));
        dram->engine_free = ticks_of_cycles(m, end - m->launch_cycles);
        m->threads[request->thread].ready = end + request->wait;
        remove_request(dram, request);
    }
}

/* Transfers that began before stay as they are; the rest is planned anew, with this one. */
static void transfer_reordered(struct dpu_machine *m, const struct dpu_request *request)
{
    struct dpu_dram *dram = &m->dram;
    run_engine(m, dram, issue_of(m, request));
    /* A tasklet has another transfer only if a debugger made it run on. */
    for (uint32_t i = dram->count; i-- > 0;)
        if (dram->requests[i].thread == request->thread)
            remove_request(dram, &dram->requests[i]);
    dram->requests[dram->count++] = *request;

    struct dpu_dram plan = *dram;
    run_engine(m, &plan, NEVER);
    m->dma_free[m->dma_engine] = cycle_at(m, plan.engine_free);
}

/* --- what others see --- */

bool dpu_machine_dram_is_possible(const struct dpu_machine_options *o)
{
    uint64_t usable = (uint64_t)(o->dram_refresh_interval - o->dram_refresh_cycles) * o->dram_mhz;
    bool has_time = usable >= ((uint64_t)o->dram_rcd + o->dram_ccd) * o->clock_mhz;
    bool is_power = (o->dram_row_bytes & (o->dram_row_bytes - 1)) == 0;
    bool can_reorder = o->dram_open_rows != 0 && o->dma_engines == 1;
    return o->dram_banks == 0 || (is_power && o->dram_ras >= o->dram_rcd && has_time &&
                                  (o->dram_open_row_first == 0 || can_reorder));
}

bool dpu_dram_reorders(const struct dpu_machine *m)
{
    return m->transfer_time == DPU_TRANSFERS_OF_BANKS && m->options.dram_open_row_first != 0;
}

void dpu_dram_reset(struct dpu_machine *m)
{
    memset(&m->dram, 0, sizeof m->dram);
    for (uint32_t i = 0; i < DPU_DRAM_BANKS_MOST; i++)
        m->dram.banks[i].row = DPU_NO_ROW;
}

void dpu_dram_transfer(struct dpu_machine *m, const struct dpu_request *request)
{
    if (dpu_dram_reorders(m))
        transfer_reordered(m, request);
    else
        transfer_in_order(m, *request);
}
