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
    return thread == racer->thread || record_clock(earlier) <= racer->clock[thread];
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
                  .pc = record_pc(earlier),
                  .calls = record_calls(earlier),
                  .writes = wrote,
                  .by_dma = record_by_dma(earlier)},
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
    if (record_clock(cell->read) != SHADOW_SHARED) {
        if (cell->read.bits != 0 && !is_before(racer, cell->read))
            tell(racer, cell->read, false, address);
        return;
    }

    uint32_t number = record_table(cell->read);
    const struct record *reads = shadow_table(shadow, number);
    for (uint32_t i = 0; i < shadow->threads; i++)
        if (reads[i].bits != 0 && !is_before(racer, reads[i]))
            tell(racer, reads[i], false, address);
    shadow_give_table(shadow, number);
}

static void note_read(struct racer *racer, struct cell *cell)
{
    struct shadow *shadow = &racer->checks->shadow;
    uint32_t number;
    if (record_clock(cell->read) == SHADOW_SHARED) {
        shadow_table(shadow, record_table(cell->read))[racer->thread] = racer->record;
        return;
    }
    if (cell->read.bits == 0 || is_before(racer, cell->read)) {
        cell->read = racer->record;
        return;
    }
    if (!shadow_take_table(shadow, &number))
        return;

    struct record *reads = shadow_table(shadow, number);
    reads[record_thread(cell->read)] = cell->read;
    reads[racer->thread] = racer->record;
    cell->read = record_shared(number);
}

static void pass(struct racer *racer, struct cell *cell, uint32_t address)
{
    if (cell->write.bits != 0 && !is_before(racer, cell->write))
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

static void pass_mram(struct racer *racer, uint32_t address, uint32_t size, bool writes)
{
    struct shadow *shadow = &racer->checks->shadow;
    racer->in_mram = true;
    racer->writes = writes;
    racer->address = address;
    racer->size = size;
    for (uint32_t done = 0; done < size; done += shadow->grain) {
        struct cell *cell = shadow_mram(shadow, address + done);
        if (cell != NULL)
            pass(racer, cell, address + done);
    }
}

void races_access(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                  const struct dpu_access *access)
{
    uint32_t far;
    struct racer racer = racer_of(checks, thread, pc, false);
    if (check_is_in_mram(checks, access, &far))
        pass_mram(&racer, far, access->size, access->writes);
    else
        pass_wram(&racer, access->address, access->size, access->writes);
}

void races_transfer(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                    const struct dpu_transfer *transfer)
{
    struct racer racer = racer_of(checks, thread, pc, true);
    pass_mram(&racer, transfer->mram, transfer->bytes, transfer->writes_mram);
    if (transfer->to_iram)
        return;

    racer = racer_of(checks, thread, pc, true);
    pass_wram(&racer, transfer->near, transfer->bytes, !transfer->writes_mram);
}
