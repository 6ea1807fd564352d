/* SPDX-License-Identifier: BSD-3-Clause */
/* bounds.c: accesses to what is no variable, and where variables end. */
#include "dpu/checks/state.h"

/* The end of the largest area that has ADDRESS; 0 if there is none. */
static uint32_t find_end(const struct area *areas, size_t count, uint32_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (areas[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }

    uint32_t end = 0;
    for (; low > 0 && areas[low - 1].furthest > address; low--)
        if (areas[low - 1].end > address && areas[low - 1].end > end)
            end = areas[low - 1].end;
    return end;
}

static uint32_t end_of_stack(const struct dpu_checks *checks, uint32_t address)
{
    for (uint32_t i = 0; i < checks->thread_count; i++) {
        const struct dpu_check_area *stack = &checks->layout.stacks[i];
        if (address >= stack->address && address - stack->address < stack->size)
            return stack->address + stack->size;
    }
    return 0;
}

/* Where what was taken of the heap ends; UINT32_MAX if that is not known. */
static uint32_t end_of_heap(const struct dpu_checks *checks)
{
    uint32_t end;
    if (!checks->is_known || checks->layout.heap == UINT32_MAX ||
        checks->layout.heap_pointer == UINT32_MAX ||
        !dpu_machine_read_wram(checks->machine, checks->layout.heap_pointer, &end, sizeof end) ||
        end < checks->layout.heap)
        return UINT32_MAX;
    return end;
}

uint32_t bounds_end_in_wram(const struct dpu_checks *checks, uint32_t address)
{
    if (!checks->is_known)
        return 0;

    uint32_t end = find_end(checks->wram, checks->layout.wram_count, address);
    if (end == 0)
        end = end_of_stack(checks, address);
    if (end != 0)
        return end;
    uint32_t heap = end_of_heap(checks);
    return heap != UINT32_MAX && address >= checks->layout.heap && address < heap ? heap : 0;
}

uint32_t bounds_end_in_mram(const struct dpu_checks *checks, uint32_t address)
{
    return checks->is_known ? find_end(checks->mram, checks->layout.mram_count, address) : 0;
}

void bounds_access(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                   const struct dpu_access *access)
{
    if (!checks->is_known || access->address >= dpu_machine_wram_size(checks->machine))
        return;

    struct dpu_finding finding = {
        .check = DPU_CHECK_BOUNDS,
        .address = access->address,
        .size = access->size,
    };
    uint32_t heap = end_of_heap(checks);
    if (access->address < 8)
        finding.kind = DPU_FINDING_NULL;
    else if (access->address >= heap && bounds_end_in_wram(checks, access->address) == 0) {
        finding.kind = DPU_FINDING_NOTHING;
        finding.end = heap - checks->layout.heap;
    } else
        return;

    finding.here = check_point(checks, thread, pc);
    finding.here.writes = access->writes;
    check_tell(checks, &finding);
}
