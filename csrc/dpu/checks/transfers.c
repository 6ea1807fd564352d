/* SPDX-License-Identifier: BSD-3-Clause */
/* transfers.c: DMA: where it reads and writes, and who touches that while it is under way. */
#include "dpu/checks/state.h"

static struct dpu_finding finding_of(const struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                                     const struct dpu_transfer *transfer)
{
    struct dpu_finding finding = {
        .check = DPU_CHECK_DMA,
        .here = check_point(checks, thread, pc),
        .address = transfer->near,
        .size = transfer->bytes,
    };
    finding.here.by_dma = true;
    finding.here.writes = !transfer->writes_mram;
    return finding;
}

static struct dpu_finding of_mram(struct dpu_finding finding, uint32_t address)
{
    finding.in_mram = true;
    finding.address = address;
    finding.here.writes = !finding.here.writes;
    return finding;
}

/*
 * True if a transfer is part of an access to a datum in MRAM: it goes through the tasklet's word in
 * WRAM. UPMEM's compiler does not align the address, nor the place of the datum in that word, and
 * counts on the hardware to drop the low bits.
 */
static bool is_access_to_datum(const struct dpu_checks *checks, uint32_t thread, uint32_t near,
                               uint32_t bytes)
{
    uint32_t words = checks->is_known ? checks->layout.data_words : 0;
    return words != 0 && bytes == 8 && (near & ~7u) == words + 8 * thread;
}

static void check_alignment(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                            const struct dpu_finding *base)
{
    struct dpu_thread_state state;
    const struct fact *fact = &checks->facts[pc];
    if (!dpu_machine_get_thread(checks->machine, thread, &state))
        return;

    uint32_t near = fact->a != NO_REGISTER ? state.registers[fact->a] & 0xFFFFFF : 0;
    uint32_t mram = fact->b != NO_REGISTER ? state.registers[fact->b] : 0;
    struct dpu_finding finding = *base;
    finding.kind = DPU_FINDING_DMA_MISALIGNED;
    if (((near | mram) & 7) == 0 || is_access_to_datum(checks, thread, near, base->size))
        return;
    if ((near & 7) != 0) {
        finding.address = near;
        check_tell(checks, &finding);
    }
    if ((mram & 7) != 0) {
        finding = of_mram(finding, mram);
        check_tell(checks, &finding);
    }
}

static void check_range(struct dpu_checks *checks, const struct dpu_finding *base, uint32_t size,
                        uint32_t end)
{
    struct dpu_finding finding = *base;
    uint64_t last = (uint64_t)finding.address + finding.size;
    finding.kind = DPU_FINDING_DMA_OUT_OF_MEMORY;
    finding.end = size;
    if (last > size) {
        check_tell(checks, &finding);
        return;
    }

    finding.kind = DPU_FINDING_DMA_BEYOND;
    finding.end = end;
    /* Variables are padded to what DMA can transfer. */
    if (end != 0 && last > ((end + 7) & ~7u))
        check_tell(checks, &finding);
}

void transfers_check(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                     const struct dpu_transfer *transfer)
{
    struct dpu_finding finding = finding_of(checks, thread, pc, transfer);
    check_alignment(checks, thread, pc, &finding);
    if (!transfer->to_iram)
        check_range(checks, &finding, dpu_machine_wram_size(checks->machine),
                    bounds_end_in_wram(checks, transfer->near));
    finding = of_mram(finding, transfer->mram);
    check_range(checks, &finding, dpu_machine_mram_size(checks->machine),
                bounds_end_in_mram(checks, transfer->mram));
}

static bool overlap(uint32_t a, uint32_t a_size, uint32_t b, uint32_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

static void tell_flight(struct dpu_checks *checks, struct dpu_finding *finding,
                        const struct tasklet *other, bool other_writes)
{
    finding->kind = DPU_FINDING_DMA_IN_FLIGHT;
    finding->check = DPU_CHECK_DMA;
    finding->other = other->flight_point;
    finding->other.writes = other_writes;
    finding->has_other = true;
    check_tell(checks, finding);
}

/* The tasklets, but this one, whose transfers are under way. */
static uint64_t flights_beside(struct dpu_checks *checks, uint32_t thread)
{
    uint64_t now = dpu_machine_now(checks->machine);
    for (uint64_t bits = checks->flights; bits != 0; bits &= bits - 1) {
        uint32_t id = (uint32_t)__builtin_ctzll(bits);
        if (checks->tasklets[id].flight.tasklet_end <= now)
            checks->flights &= ~(UINT64_C(1) << id);
    }
    return checks->flights & ~(UINT64_C(1) << thread);
}

void transfers_access(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                      const struct dpu_access *access)
{
    uint32_t far;
    const bool in_mram = check_is_in_mram(checks, access, &far);
    const uint32_t address = in_mram ? far : access->address;
    for (uint64_t bits = flights_beside(checks, thread); bits != 0; bits &= bits - 1) {
        const struct tasklet *other = &checks->tasklets[__builtin_ctzll(bits)];
        bool fills = other->flight.writes_mram == in_mram;
        uint32_t at = in_mram ? other->flight.mram : other->flight.near;
        if ((other->flight.to_iram && !in_mram) || (!fills && !access->writes) ||
            !overlap(address, access->size, at, other->flight.bytes))
            continue;

        struct dpu_finding finding = {.here = check_point(checks, thread, pc),
                                      .in_mram = in_mram,
                                      .address = address,
                                      .size = access->size};
        finding.here.writes = access->writes;
        tell_flight(checks, &finding, other, fills);
    }
}

static void check_flights(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                          const struct dpu_transfer *transfer)
{
    for (uint64_t bits = flights_beside(checks, thread); bits != 0; bits &= bits - 1) {
        const struct tasklet *other = &checks->tasklets[__builtin_ctzll(bits)];
        const struct dpu_transfer *flight = &other->flight;
        struct dpu_finding finding = finding_of(checks, thread, pc, transfer);
        if (!flight->to_iram && !transfer->to_iram &&
            !(flight->writes_mram && transfer->writes_mram) &&
            overlap(transfer->near, transfer->bytes, flight->near, flight->bytes))
            tell_flight(checks, &finding, other, !flight->writes_mram);
        if ((flight->writes_mram || transfer->writes_mram) &&
            overlap(transfer->mram, transfer->bytes, flight->mram, flight->bytes)) {
            finding = of_mram(finding_of(checks, thread, pc, transfer), transfer->mram);
            tell_flight(checks, &finding, other, flight->writes_mram);
        }
    }
}

void transfers_begin(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                     const struct dpu_transfer *transfer)
{
    struct tasklet *tasklet = &checks->tasklets[thread];
    check_flights(checks, thread, pc, transfer);
    tasklet->flight = *transfer;
    tasklet->flight_point = check_point(checks, thread, pc);
    tasklet->flight_point.by_dma = true;
    checks->flights |= UINT64_C(1) << thread;
}
