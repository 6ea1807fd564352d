/* SPDX-License-Identifier: BSD-3-Clause */
/* checks_text.c: findings as sentences, with the places that they are about. */
#include "veo/run/checks.h"

#include <string.h>

#include "common/readable_name.h"

#define LINE "\n== "

enum { CALLS_MAX = 16, LOWEST = 65536 };

typedef unsigned long long wide;

/* A report and its parts. */
struct report {
    struct text *text;
    const struct verun_code *code;
    const struct verun_zones *zones;
    const struct ve_checks *checks;
    const struct ve_finding *finding;
};

static const char *name_of(enum ve_check check)
{
    switch (check) {
#define X(identifier, name, value) \
    case VE_CHECK_##identifier: return name;
        VE_CHECK_LIST(X)
#undef X
    }
    return "";
}

/* --- places --- */

static void add_place(const struct report *r, const char *how, uint64_t pc)
{
    text_add(r->text, LINE "   %s pc 0x%llx", how, (wide)pc);
    r->code->add(r->text, pc);
}

static void add_calls(const struct report *r)
{
    const uint64_t pc = r->finding->pc;
    unsigned shown = 0;
    add_place(r, "at", pc);
    for (size_t i = 0; i < ve_checks_depth(r->checks); i++) {
        uint64_t caller = ve_checks_caller(r->checks, i);
        if (caller == 0 || (i == 0 && caller == pc))
            continue; /* the host called, or a gate is told of by its call */
        if (shown++ == CALLS_MAX) {
            text_add(r->text, LINE "   and further calls");
            return;
        }
        add_place(r, "called at", caller);
    }
}

static void add_block_calls(const struct report *r, const char *what,
                            const struct ve_block_place *place)
{
    if (place->calls[0] == 0) {
        text_add(r->text, LINE "  the block was %s by the host", what);
        return;
    }
    text_add(r->text, LINE "  the block was %s", what);
    for (size_t i = 0; i < VE_BLOCK_CALLS && place->calls[i] != 0; i++)
        add_place(r, i == 0 ? "at" : "called at", place->calls[i]);
}

/* --- what it is --- */

static void add_instruction(struct text *text, const struct ve_finding *finding)
{
    char instruction[VE_TEXT_MAX];
    if (finding->function != NULL) {
        readable_name_add(text, finding->function);
        text_add(text, "()");
        return;
    }
    ve_disassemble(finding->instruction->word, instruction, sizeof instruction);
    text_add(text, "'%s'", instruction);
}

static void add_element(struct text *text, const struct ve_finding *finding)
{
    if (finding->element != VE_FINDING_NONE)
        text_add(text, " for element %u", finding->element);
}

static void add_elements(struct text *text, const struct ve_finding *finding)
{
    if (finding->first == finding->last)
        text_add(text, "element %u of %%v%u", finding->first, finding->vector);
    else
        text_add(text, "elements %u-%u of %%v%u", finding->first, finding->last, finding->vector);
}

/* Why elements count as never written. */
static void add_reason(struct text *text, const struct ve_finding *finding)
{
    if (finding->written != 0 && finding->first >= finding->written)
        text_add(text, ", which was last written with a length of %u", finding->written);
    else
        text_add(text, ", which %s never written, or computed from what was not",
                 finding->first == finding->last ? "was" : "were");
}

/* --- addresses --- */

/* "8 bytes after a block of 80 bytes". */
static void add_distance(struct text *text, uint64_t address, uint64_t start, uint64_t size,
                         const char *what)
{
    if (address < start)
        text_add(text, ", %llu bytes before %s of %llu bytes", (wide)(start - address), what,
                 (wide)size);
    else if (address >= start + size)
        text_add(text, ", %llu bytes after %s of %llu bytes", (wide)(address - start - size), what,
                 (wide)size);
    else
        text_add(text, ", %llu bytes into %s of %llu bytes", (wide)(address - start), what,
                 (wide)size);
}

static void add_where(const struct report *r)
{
    const struct ve_finding *finding = r->finding;
    const struct ve_core *core = ve_checks_core(r->checks);
    struct text *text = r->text;
    uint64_t address = finding->address;
    struct ve_block block;
    if (address < LOWEST) {
        text_add(text, ", which is a null pointer%s", address != 0 ? " with an offset" : "");
    } else if (ve_blocks_nearest(address, &block)) {
        bool starts_inside = address >= block.address && address < block.address + block.size;
        if (starts_inside && !block.is_freed) /* it ends beyond */
            address = block.address + block.size;
        add_distance(text, address, block.address, block.size,
                     block.is_freed ? "a freed block" : "a block");
    } else if (address >= core->stack_low && address < core->s[VE_S_STACK]) {
        text_add(text, ", %llu bytes below the stack pointer",
                 (wide)(core->s[VE_S_STACK] - address));
    } else if (r->zones != NULL && r->zones->find(address, finding->size) == VE_ZONE_OUTSIDE) {
        r->zones->describe(text, address);
    } else {
        text_add(text, ", below the stack pointer of another thread or beyond a stack");
    }
}

static void add_block(const struct report *r)
{
    struct ve_block block;
    if (!ve_blocks_nearest(r->finding->address, &block))
        return;
    add_block_calls(r, "allocated", &block.allocated);
    if (block.is_freed)
        add_block_calls(r, "freed", &block.freed);
}

static void add_access(struct text *text, const struct ve_finding *finding)
{
    add_instruction(text, finding);
    text_add(text, " %s %llu byte%s at 0x%llx", finding->writes ? "writes" : "reads",
             (wide)finding->size, finding->size == 1 ? "" : "s", (wide)finding->address);
    add_element(text, finding);
}

/* --- sentences --- */

static void add_uninitialised(struct text *text, const struct ve_finding *finding)
{
    static const char made[] = "which was never written, or computed from what was not";
    add_instruction(text, finding);
    switch (finding->kind) {
    case VE_FINDING_CONDITION:
        text_add(text, " decides by %%s%u, %s", finding->scalar, made);
        return;
    case VE_FINDING_LENGTH:
        text_add(text, " takes the vector length from %%s%u, %s", finding->scalar, made);
        return;
    case VE_FINDING_ARGUMENT:
        text_add(text, " gets argument %u, %s", finding->scalar + 1, made);
        return;
    case VE_FINDING_CONTENT:
        text_add(text, " reads the byte at 0x%llx, %s", (wide)finding->address, made);
        return;
    case VE_FINDING_MASK:
        text_add(text,
                 " has a mask whose element %u comes from a comparison with what was never "
                 "written",
                 finding->element);
        return;
    case VE_FINDING_REDUCED: text_add(text, " takes in "); break;
    case VE_FINDING_STORED: text_add(text, " stores, where the host reads it, "); break;
    default: text_add(text, " takes an address from "); break;
    }
    if (finding->vector == VE_FINDING_NONE) {
        text_add(text, "%%s%u, %s", finding->scalar, made);
        return;
    }
    add_elements(text, finding);
    add_reason(text, finding);
}

static void add_freed(struct text *text, const struct ve_finding *finding)
{
    struct ve_block block;
    add_instruction(text, finding);
    text_add(text, " is given 0x%llx", (wide)finding->address);
    if (ve_blocks_nearest(finding->address, &block) && block.address == finding->address)
        text_add(text, ", a block of %llu bytes that is freed already", (wide)block.size);
    else if (ve_blocks_nearest(finding->address, &block))
        add_distance(text, finding->address, block.address, block.size, "a block");
}

void verun_add_finding(struct text *text, const struct verun_code *code,
                       const struct verun_zones *zones, const struct ve_checks *checks,
                       const struct ve_finding *finding)
{
    const struct report report = {text, code, zones, checks, finding};
    const char *file = code->file(finding->pc);
    text_add(text, "== VE %s: %s: ", file != NULL ? file : "?", name_of(finding->check));
    switch (finding->kind) {
    case VE_FINDING_OUTSIDE:
        add_access(text, finding);
        add_where(&report);
        break;
    case VE_FINDING_FREED: add_freed(text, finding); break;
    case VE_FINDING_MISALIGNED:
        add_access(text, finding);
        text_add(text, ", which is no multiple of %llu", (wide)finding->size);
        break;
    default: add_uninitialised(text, finding); break;
    }
    add_calls(&report);
    if (finding->check == VE_CHECK_BOUNDS)
        add_block(&report);
}
