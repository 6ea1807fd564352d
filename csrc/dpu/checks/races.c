/* SPDX-License-Identifier: BSD-3-Clause */
/* races.c: accesses that nothing orders. */
#include "dpu/checks/state.h"

/* One access to some cells. */
struct racer {
    struct dpu_checks *checks;
    const uint32_t *clock; /* of the tasklet */
    struct record record;
    uint32_t thread, pc;
    bool writes, by_dma, in_mram;
    uint32_t address, size;
    bool told; /* of this access; once is enough */
};

static bool is_before(const struct racer *racer, struct record earlier)
{
    uint32_t thread = record_thread(earlier);
    return thread == racer->thread || earlier.clock <= racer->clock[thread];
}

static void tell(struct racer *racer, struct record earlier, bool wrote, uint32_t address)
{
    if (racer->told)
        return;

    racer->told = true;
    struct dpu_finding finding = {
        .kind = DPU_FINDING_RACE,
        .check = DPU_CHECK_RACE,
        .here = check_point(racer->checks, racer->thread, racer->pc),
        .other = {.thread = record_thread(earlier),
                  .pc = earlier.where >> 5 & (DPU_MACHINE_IRAM - 1),
                  .calls = earlier.where >> 18,
                  .writes = wrote,
                  .by_dma = (earlier.where >> 17 & 1) != 0},
        .has_other = true,
        .in_mram = racer->in_mram,
        .address = address,
        .size = racer->size - (address - racer->address),
    };
    finding.here.writes = racer->writes;
    finding.here.by_dma = racer->by_dma;
    check_tell(racer->checks, &finding);
}

/* A write comes after all reads, or races with one of them. */
static void pass_reads(struct racer *racer, struct cell *cell, uint32_t address)
{
    struct shadow *shadow = &racer->checks->shadow;
    if (cell->read.clock != SHADOW_SHARED) {
        if (cell->read.clock != 0 && !is_before(racer, cell->read))
            tell(racer, cell->read, false, address);
        return;
    }

    const struct reads *reads = &shadow->tables[cell->read.where];
    for (uint32_t i = 0; i < DPU_MACHINE_THREADS; i++)
        if (reads->of[i].clock != 0 && !is_before(racer, reads->of[i]))
            tell(racer, reads->of[i], false, address);
    shadow_give_table(shadow, cell->read.where);
}

static void note_read(struct racer *racer, struct cell *cell)
{
    struct shadow *shadow = &racer->checks->shadow;
    uint32_t number;
    if (cell->read.clock == SHADOW_SHARED) {
        shadow->tables[cell->read.where].of[racer->thread] = racer->record;
        return;
    }
    if (cell->read.clock == 0 || is_before(racer, cell->read)) {
        cell->read = racer->record;
        return;
    }
    if (!shadow_take_table(shadow, &number))
        return;

    struct reads *reads = &shadow->tables[number];
    reads->of[record_thread(cell->read)] = cell->read;
    reads->of[racer->thread] = racer->record;
    cell->read = (struct record){SHADOW_SHARED, number};
}

static void pass(struct racer *racer, struct cell *cell, uint32_t address)
{
    if (cell->write.clock != 0 && !is_before(racer, cell->write))
        tell(racer, cell->write, true, address);
    if (!racer->writes) {
        note_read(racer, cell);
        return;
    }

    pass_reads(racer, cell, address);
    *cell = (struct cell){.write = racer->record};
}

static struct racer racer_of(struct dpu_checks *checks, uint32_t thread, uint32_t pc, bool by_dma)
{
    const struct tasklet *tasklet = &checks->tasklets[thread];
    return (struct racer){
        .checks = checks,
        .clock = tasklet->clock,
        .record = record_of(tasklet->clock[thread], thread, pc, tasklet->calls, by_dma),
        .thread = thread,
        .pc = pc,
        .by_dma = by_dma,
    };
}

static void pass_wram(struct racer *racer, uint32_t address, uint32_t size, bool writes)
{
    uint32_t end = dpu_machine_wram_size(racer->checks->machine);
    racer->writes = writes;
    racer->address = address;
    racer->size = size;
    for (uint32_t i = 0; i < size && address < end; i++, address++)
        pass(racer, &racer->checks->shadow.wram[address], address);
}

void races_wram(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                const struct dpu_access *access)
{
    struct racer racer = racer_of(checks, thread, pc, false);
    pass_wram(&racer, access->address, access->size, access->writes);
}

static void pass_mram(struct racer *racer, const struct dpu_transfer *transfer)
{
    racer->in_mram = true;
    racer->writes = transfer->writes_mram;
    racer->address = transfer->mram;
    racer->size = transfer->bytes;
    for (uint32_t done = 0; done < transfer->bytes; done += 8) {
        uint32_t at = (transfer->mram + done) & (DPU_MACHINE_MRAM - 1);
        struct cell *page = shadow_page(&racer->checks->shadow, at / SHADOW_PAGE);
        if (page != NULL)
            pass(racer, &page[at % SHADOW_PAGE / 8], transfer->mram + done);
    }
}

void races_transfer(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                    const struct dpu_transfer *transfer)
{
    struct racer racer = racer_of(checks, thread, pc, true);
    pass_mram(&racer, transfer);
    if (transfer->to_iram)
        return;

    racer = racer_of(checks, thread, pc, true);
    pass_wram(&racer, transfer->near, transfer->bytes, !transfer->writes_mram);
}
