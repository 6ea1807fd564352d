/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * defined.c: which bits have never been written. What is copied, padding included, is copied with
 * its state; told is what decides where a tasklet goes on and which memory it uses.
 */
#include "dpu/checks/state.h"

#include "dpu/isa/forms.h"

#include <string.h>

#define STACK_POINTER 22
#define ALL UINT32_MAX

/* --- memory --- */

static void mark(struct dpu_checks *checks, uint32_t address, uint32_t end, uint8_t mask)
{
    uint32_t size = dpu_machine_wram_size(checks->machine);
    end = end < size ? end : size;
    if (address < end)
        memset(checks->undefined + address, mask, end - address);
}

static const uint8_t *wram_of(struct dpu_checks *checks)
{
    struct dpu_machine *machine = checks->machine;
    return dpu_machine_wram(machine, 0, dpu_machine_wram_size(machine), false);
}

void defined_load(struct dpu_checks *checks)
{
    const struct dpu_check_layout *layout = &checks->layout;
    memset(checks->undefined, 0, dpu_machine_wram_size(checks->machine));
    defined_end(checks);
    if (!checks->is_known)
        return;
    if (layout->heap != UINT32_MAX && layout->heap_pointer != UINT32_MAX)
        mark(checks, layout->heap, UINT32_MAX, 0xFF);
    for (uint32_t i = 0; i < checks->thread_count; i++)
        mark(checks, layout->stacks[i].address, layout->stacks[i].address + layout->stacks[i].size,
             0xFF);
}

/* Takes for written by the host what has changed since the last launch, and what is beside it: it
 * writes words. */
void defined_by_host(struct dpu_checks *checks)
{
    const uint8_t *wram = wram_of(checks);
    uint32_t size = dpu_machine_wram_size(checks->machine);
    for (uint32_t i = 0; i < size; i += 8)
        if (memcmp(wram + i, checks->kept + i, 8) != 0)
            mark(checks, i, i + 8, 0);
}

void defined_end(struct dpu_checks *checks)
{
    memcpy(checks->kept, wram_of(checks), dpu_machine_wram_size(checks->machine));
}

void defined_transfer(struct dpu_checks *checks, const struct dpu_transfer *transfer)
{
    if (!transfer->writes_mram && !transfer->to_iram)
        mark(checks, transfer->near, transfer->near + transfer->bytes, 0);
}

void defined_stack(struct dpu_checks *checks, uint32_t from, uint32_t to)
{
    if (to < from && from - to < dpu_machine_wram_size(checks->machine))
        mark(checks, to, from, 0xFF);
}

void defined_heap(struct dpu_checks *checks, struct tasklet *tasklet)
{
    uint32_t end;
    tasklet->moves_heap = false;
    if (dpu_machine_read_wram(checks->machine, checks->layout.heap_pointer, &end, sizeof end))
        mark(checks, tasklet->heap_end, end, 0xFF);
}

void defined_start(struct tasklet *tasklet)
{
    for (uint32_t i = 0; i < DPU_MACHINE_REGISTERS; i++)
        tasklet->undefined[i] = ALL;
    tasklet->undefined_carry = ALL;
    tasklet->moves_heap = false;
}

/* --- registers --- */

/* Operands of an instruction: bits that are not defined, and values. */
struct sources {
    uint32_t a, b;
    uint32_t value_a, value_b;
};

static uint32_t up_from(uint32_t bits)
{
    return bits | (0u - bits);
}

static uint32_t any(uint32_t bits)
{
    return bits != 0 ? ALL : 0;
}

static uint32_t extended(uint32_t bits, uint32_t sign)
{
    uint32_t low = bits & (2 * sign - 1);
    return (low & sign) != 0 ? low | ~(2 * sign - 1) : low;
}

static uint32_t undefined_and(const struct sources *s)
{
    return (s->a & s->b) | (s->a & s->value_b) | (s->b & s->value_a);
}

static uint32_t undefined_or(const struct sources *s)
{
    return (s->a & s->b) | (s->a & ~s->value_b) | (s->b & ~s->value_a);
}

/* The amount of a shift is the immediate, the other source, or not known to be defined. */
static uint32_t undefined_shift(const struct fact *fact, const struct sources *s)
{
    uint32_t by = fact->b != NO_REGISTER ? s->value_b & 31 : fact->shift & 31;
    if (s->b != 0)
        return ALL;
    switch ((enum dpu_operation_kind)fact->operation) {
    case DPU_OP_LSL: return s->a << by;
    case DPU_OP_LSR: return s->a >> by;
    case DPU_OP_ASR: return (uint32_t)((int32_t)s->a >> by);
    default: return any(s->a);
    }
}

/* Of the result, from sources of which one at least is not defined everywhere. */
static uint32_t undefined_result(const struct fact *fact, const struct sources *s)
{
    switch ((enum dpu_operation_kind)fact->operation) {
    case DPU_OP_AND:
    case DPU_OP_NAND: return undefined_and(s);
    case DPU_OP_OR:
    case DPU_OP_NOR: return undefined_or(s);
    case DPU_OP_XOR:
    case DPU_OP_NXOR: return fact->a == fact->b && fact->a != NO_REGISTER ? 0 : s->a | s->b;
    case DPU_OP_SUB: return fact->a == fact->b && fact->a != NO_REGISTER ? 0 : up_from(s->a | s->b);
    case DPU_OP_ADD:
    case DPU_OP_RSUB: return up_from(s->a | s->b);
    case DPU_OP_EXTUB: return s->a & 0xFF;
    case DPU_OP_EXTUH: return s->a & 0xFFFF;
    case DPU_OP_EXTSB: return extended(s->a, 0x80);
    case DPU_OP_EXTSH: return extended(s->a, 0x8000);
    case DPU_OP_LSL:
    case DPU_OP_LSR:
    case DPU_OP_ASR: return undefined_shift(fact, s);
    default: return any(s->a | s->b);
    }
}

static bool has_no_result(enum dpu_operation_kind kind)
{
    switch (kind) {
    case DPU_OP_ACQUIRE:
    case DPU_OP_RELEASE:
    case DPU_OP_BOOT:
    case DPU_OP_RESUME:
    case DPU_OP_READ_RUN:
    case DPU_OP_CLR_RUN:
    case DPU_OP_STOP:
    case DPU_OP_NOP:
    case DPU_OP_FAULT:
    case DPU_OP_TELL:
    case DPU_OP_LDMA:
    case DPU_OP_LDMAI:
    case DPU_OP_SDMA: return true;
    default: return false;
    }
}

static bool is_memory(enum dpu_operation_kind kind)
{
    switch (kind) {
    case DPU_OP_LBS:
    case DPU_OP_LBU:
    case DPU_OP_LHS:
    case DPU_OP_LHU:
    case DPU_OP_LW:
    case DPU_OP_LD:
    case DPU_OP_SB:
    case DPU_OP_SH:
    case DPU_OP_SW:
    case DPU_OP_SD:
    case DPU_OP_SB_ID:
    case DPU_OP_SH_ID:
    case DPU_OP_SW_ID:
    case DPU_OP_SD_ID: return true;
    default: return false;
    }
}

static uint32_t bits_of(const struct tasklet *tasklet, uint8_t r)
{
    return r != NO_REGISTER ? tasklet->undefined[r] : 0;
}

static void define(struct tasklet *tasklet, uint8_t r)
{
    if (r != NO_REGISTER)
        tasklet->undefined[r] = 0;
}

static void tell(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                 enum dpu_finding_kind kind)
{
    struct dpu_finding finding = {
        .kind = kind,
        .check = DPU_CHECK_UNINITIALISED,
        .here = check_point(checks, thread, pc),
    };
    check_tell(checks, &finding);
}

static struct sources sources_of(struct dpu_checks *checks, uint32_t thread,
                                 const struct fact *fact)
{
    const struct tasklet *tasklet = &checks->tasklets[thread];
    struct sources s = {.a = bits_of(tasklet, fact->a), .b = bits_of(tasklet, fact->b)};
    if (fact->b_pair != 0)
        s.b |= bits_of(tasklet, (uint8_t)(fact->b + 1));

    struct dpu_thread_state state;
    if ((s.a | s.b) == 0 || !dpu_machine_get_thread(checks->machine, thread, &state))
        return s;
    s.value_a = fact->a != NO_REGISTER ? state.registers[fact->a] : fact->constant_a;
    s.value_b = fact->b != NO_REGISTER ? state.registers[fact->b] : fact->immediate;
    return s;
}

/* The bits that the condition of a jump depends on. */
static uint32_t deciding(const struct fact *fact, const struct sources *s, uint32_t result)
{
    switch ((enum dpu_condition)fact->condition) {
    case DPU_IF_Z:
    case DPU_IF_NZ: return result;
    case DPU_IF_PL:
    case DPU_IF_MI: return result & 0x80000000;
    case DPU_IF_E:
    case DPU_IF_O: return result & 1;
    case DPU_IF_SZ:
    case DPU_IF_SNZ: return s->a;
    case DPU_IF_SPL:
    case DPU_IF_SMI: return s->a & 0x80000000;
    case DPU_IF_SE:
    case DPU_IF_SO: return s->a & 1;
    default: return s->a | s->b;
    }
}

static void write_result(struct tasklet *tasklet, const struct fact *fact, uint32_t result)
{
    if (fact->result == NO_REGISTER)
        return;

    uint8_t high = fact->result, low = (uint8_t)(high + 1);
    switch ((enum dpu_destination)fact->pair) {
    case DPU_DEST_D64S:
        tasklet->undefined[high] = (result >> 31) != 0 ? ALL : 0;
        tasklet->undefined[low] = result;
        return;
    case DPU_DEST_D64U:
        tasklet->undefined[high] = 0;
        tasklet->undefined[low] = result;
        return;
    case DPU_DEST_D64: tasklet->undefined[high] = tasklet->undefined[low] = any(result); return;
    case DPU_DEST_NONE:
    case DPU_DEST_DISCARD:
    case DPU_DEST_R32: tasklet->undefined[high] = result; return;
    }
}

static bool move_pairs(struct tasklet *tasklet, const struct fact *fact)
{
    if (fact->operation == DPU_OP_MOVD && fact->b != NO_REGISTER && fact->result != NO_REGISTER) {
        tasklet->undefined[fact->result] = tasklet->undefined[fact->b];
        tasklet->undefined[fact->result + 1] = tasklet->undefined[fact->b + 1];
        return true;
    }
    if (fact->operation == DPU_OP_SWAPD && fact->b != NO_REGISTER && fact->result != NO_REGISTER) {
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t bits = tasklet->undefined[fact->result + i];
            tasklet->undefined[fact->result + i] = tasklet->undefined[fact->b + i];
            tasklet->undefined[fact->b + i] = bits;
        }
        return true;
    }
    return false;
}

static bool uses_carry(enum dpu_operation_kind kind)
{
    return kind == DPU_OP_ADDC || kind == DPU_OP_SUBC || kind == DPU_OP_RSUBC;
}

static bool makes_without_sources(const struct fact *fact)
{
    return fact->operation == DPU_OP_CALL || fact->operation == DPU_OP_TIME ||
           fact->operation == DPU_OP_TIME_CFG;
}

void defined_instruction(struct dpu_checks *checks, uint32_t thread, uint32_t pc)
{
    struct tasklet *tasklet = &checks->tasklets[thread];
    const struct fact *fact = &checks->facts[pc];
    enum dpu_operation_kind kind = (enum dpu_operation_kind)fact->operation;
    if (!fact->known || has_no_result(kind) || is_memory(kind) || move_pairs(tasklet, fact))
        return;
    if (fact->operation == DPU_OP_CALL && bits_of(tasklet, fact->a) != 0) {
        tell(checks, thread, pc, DPU_FINDING_UNDEFINED_ADDRESS);
        define(tasklet, fact->a);
    }
    if (makes_without_sources(fact)) {
        write_result(tasklet, fact, 0);
        return;
    }

    struct sources s = sources_of(checks, thread, fact);
    uint32_t carry = uses_carry(kind) ? tasklet->undefined_carry : 0;
    uint32_t result = (s.a | s.b) != 0 ? undefined_result(fact, &s) : 0;
    result = carry != 0 ? ALL : result;
    if (fact->decides && (deciding(fact, &s, result) | carry) != 0) {
        tell(checks, thread, pc, DPU_FINDING_UNDEFINED_CONDITION);
        /* Told once, it is not told of all that follows. */
        define(tasklet, fact->a);
        define(tasklet, fact->b);
        if (fact->b_pair != 0)
            define(tasklet, (uint8_t)(fact->b + 1));
        result = 0;
    }

    if (fact->sets_carry)
        tasklet->undefined_carry = any(result);
    write_result(tasklet, fact, result);
}

/* --- loads, stores, transfers --- */

static uint32_t load_word(const struct dpu_checks *checks, uint32_t address, uint32_t size)
{
    uint32_t bits = 0, end = dpu_machine_wram_size(checks->machine);
    for (uint32_t i = 0; i < size && i < 4 && address + i < end; i++)
        bits |= (uint32_t)checks->undefined[address + i] << 8 * i;
    return bits;
}

static void store_word(struct dpu_checks *checks, uint32_t address, uint32_t size, uint32_t bits)
{
    uint32_t end = dpu_machine_wram_size(checks->machine);
    for (uint32_t i = 0; i < size && i < 4 && address + i < end; i++)
        checks->undefined[address + i] = (uint8_t)(bits >> 8 * i);
}

static void load(const struct dpu_checks *checks, struct tasklet *tasklet, const struct fact *fact,
                 const struct dpu_access *access)
{
    uint32_t bits = load_word(checks, access->address, access->size);
    if (fact->result == NO_REGISTER)
        return;
    if (fact->operation == DPU_OP_LD) {
        uint32_t high = load_word(checks, access->address + 4, 4);
        if (fact->big_endian)
            bits = high = any(bits | high);
        tasklet->undefined[fact->result + 1] = bits;
        tasklet->undefined[fact->result] = high;
        return;
    }

    if (fact->big_endian)
        bits = any(bits);
    if (fact->operation == DPU_OP_LBS)
        bits = extended(bits, 0x80);
    if (fact->operation == DPU_OP_LHS)
        bits = extended(bits, 0x8000);
    write_result(tasklet, fact, bits);
}

static void store(struct dpu_checks *checks, const struct tasklet *tasklet, const struct fact *fact,
                  const struct dpu_access *access)
{
    uint32_t bits = bits_of(tasklet, fact->b), high = 0;
    if (fact->b_pair != 0 && fact->b != NO_REGISTER) {
        high = bits;
        bits = tasklet->undefined[fact->b + 1];
    }
    if (fact->big_endian)
        bits = high = any(bits | high);
    store_word(checks, access->address, access->size, bits);
    if (access->size == 8)
        store_word(checks, access->address + 4, 4, high);
}

void defined_access(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                    const struct dpu_access *access)
{
    struct tasklet *tasklet = &checks->tasklets[thread];
    const struct fact *fact = &checks->facts[pc];
    if (bits_of(tasklet, fact->a) != 0) {
        tell(checks, thread, pc, DPU_FINDING_UNDEFINED_ADDRESS);
        define(tasklet, fact->a);
    }

    if (!access->writes) {
        load(checks, tasklet, fact, access);
        return;
    }
    store(checks, tasklet, fact, access);
    if (access->address == checks->layout.heap_pointer && checks->is_known) {
        tasklet->moves_heap = dpu_machine_read_wram(checks->machine, access->address,
                                                    &tasklet->heap_end, sizeof tasklet->heap_end);
        if (tasklet->heap_end < checks->layout.heap)
            tasklet->moves_heap = false;
    }
}

void defined_addresses(struct dpu_checks *checks, uint32_t thread, uint32_t pc)
{
    struct tasklet *tasklet = &checks->tasklets[thread];
    const struct fact *fact = &checks->facts[pc];
    if ((bits_of(tasklet, fact->a) | bits_of(tasklet, fact->b)) == 0)
        return;
    tell(checks, thread, pc, DPU_FINDING_UNDEFINED_ADDRESS);
    define(tasklet, fact->a);
    define(tasklet, fact->b);
}
