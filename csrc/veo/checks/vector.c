/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vector.c: undefined bits of vectors and masks. A vector instruction writes elements below the
 * length; those from there on are what they were, and that is left over from another use of the
 * register if somebody has read it before: such elements count as never written then. A value that
 * nobody has read was made for the elements that remain.
 */
#include "state.h"

#include <string.h>

#include "veo/machine/executors.h"
#include "veo/time/kinds.h"

bool ve_mask_is_undefined(const struct ve_checks *checks, unsigned mask, uint32_t i)
{
    return mask != 0 && ve_mask_bit(checks->vm[mask % VE_MASKS], i);
}

static void set_mask_bit(uint64_t *mask, uint32_t i, bool value)
{
    uint64_t bit = UINT64_C(1) << (63 - i % 64);
    mask[i / 64] = value ? mask[i / 64] | bit : mask[i / 64] & ~bit;
}

/* --- registers --- */

static uint64_t *row(const struct ve_checks *checks, unsigned number)
{
    return checks->shade->v[number];
}

void ve_check_read(struct ve_checks *checks, unsigned number)
{
    if (checks->read_to[number] < checks->core->vl)
        checks->read_to[number] = (uint16_t)checks->core->vl;
}

void ve_check_write(struct ve_checks *checks, unsigned number, bool keeps)
{
    uint64_t *to = row(checks, number);
    uint32_t vl = checks->core->vl;
    for (uint32_t i = vl; !keeps && i < checks->read_to[number]; i++)
        to[i] = ALL;
    if (!keeps)
        checks->written[number] = (uint16_t)vl;
    else if (checks->written[number] < vl)
        checks->written[number] = (uint16_t)vl;
    checks->read_to[number] = 0;
}

/* The vectors and scalars that an instruction reads. */
struct sources {
    unsigned numbers[4];
    unsigned count;
    bool has_scalar; /* its undefined bits are in `scalar` */
    uint64_t scalar;
};

static struct sources sources_of(const struct ve_checks *checks, const struct ve_fact *fact)
{
    const struct ve_instruction *i = checks->instruction;
    unsigned reads = fact->reads;
    struct sources s = {.count = 0};
    if ((reads & VE_TIME_Y_MAY_BE_SCALAR) != 0 && i->cs != 0)
        reads = (reads & ~(unsigned)VE_TIME_VY) | VE_TIME_SY;
    else if ((reads & VE_TIME_Y_MAY_BE_SCALAR) != 0)
        reads &= ~(unsigned)VE_TIME_SY;
    if ((reads & VE_TIME_Z_MAY_BE_SCALAR) != 0 && i->cs2 != 0)
        reads = (reads & ~(unsigned)VE_TIME_VZ) | VE_TIME_SY;
    if ((reads & VE_TIME_VY) != 0)
        s.numbers[s.count++] = vector_number(checks, i->vy);
    if ((reads & VE_TIME_VZ) != 0)
        s.numbers[s.count++] = vector_number(checks, i->vz);
    if ((reads & VE_TIME_VW) != 0)
        s.numbers[s.count++] = vector_number(checks, i->vw);
    if ((reads & VE_TIME_SY) != 0)
        s.scalar |= undefined_of(checks, i->y_source);
    if ((reads & VE_TIME_SZ) != 0)
        s.scalar |= undefined_of(checks, i->z_source);
    return s;
}

static bool reads_vector(const struct sources *sources, unsigned number)
{
    for (unsigned k = 0; k < sources->count; k++)
        if (sources->numbers[k] == number)
            return true;
    return false;
}

static void read_all(struct ve_checks *checks, const struct sources *sources)
{
    for (unsigned k = 0; k < sources->count; k++)
        ve_check_read(checks, sources->numbers[k]);
}

/* --- element by element --- */

static uint64_t y_value(const struct ve_checks *checks, uint32_t i)
{
    const struct ve_instruction *in = checks->instruction;
    return in->cs != 0 ? ve_y(checks->core, in) : checks->core->v[vector_number(checks, in->vy)][i];
}

static uint64_t y_undefined(const struct ve_checks *checks, uint32_t i)
{
    const struct ve_instruction *in = checks->instruction;
    return in->cs != 0 ? undefined_of(checks, in->y_source)
                       : row(checks, vector_number(checks, in->vy))[i];
}

static uint64_t z_value(const struct ve_checks *checks, uint32_t i)
{
    return checks->core->v[vector_number(checks, checks->instruction->vz)][i];
}

/* Results that are exact: of logic, where a 0 or 1 settles a bit, and of shifts. */
static bool is_exact(const struct ve_checks *checks, uint32_t i, uint64_t *result)
{
    uint64_t uz = row(checks, vector_number(checks, checks->instruction->vz))[i];
    uint64_t uy, y, z;
    switch (checks->instruction->operation) {
    case VE_OP_VAND:
    case VE_OP_PVAND:
    case VE_OP_PVAND_LO:
    case VE_OP_PVAND_UP:
    case VE_OP_VOR:
    case VE_OP_PVOR:
    case VE_OP_PVOR_LO:
    case VE_OP_PVOR_UP:
    case VE_OP_VXOR:
    case VE_OP_PVXOR:
    case VE_OP_VEQV:
    case VE_OP_PVEQV:
    case VE_OP_VSLL:
    case VE_OP_VSRL:
    case VE_OP_VSRA_L:
    case VE_OP_VSLA_L: break;
    default: return false;
    }

    uy = y_undefined(checks, i);
    y = y_value(checks, i);
    z = z_value(checks, i);
    unsigned by = (unsigned)y & 63;
    switch (checks->instruction->operation) {
    case VE_OP_VAND:
    case VE_OP_PVAND:
    case VE_OP_PVAND_LO:
    case VE_OP_PVAND_UP: *result = (uy & uz) | (uy & z) | (uz & y); break;
    case VE_OP_VOR:
    case VE_OP_PVOR:
    case VE_OP_PVOR_LO:
    case VE_OP_PVOR_UP: *result = (uy & uz) | (uy & ~z) | (uz & ~y); break;
    case VE_OP_VSLL:
    case VE_OP_VSLA_L: *result = (uy & 63) != 0 ? ALL : uz << by; break;
    case VE_OP_VSRL: *result = (uy & 63) != 0 ? ALL : uz >> by; break;
    case VE_OP_VSRA_L: *result = (uy & 63) != 0 ? ALL : (uint64_t)((int64_t)uz >> by); break;
    default: *result = uy | uz; break;
    }
    return true;
}

static uint64_t element_of(const struct ve_checks *checks, const struct ve_fact *fact,
                           const struct sources *sources, uint32_t i)
{
    uint64_t undefined = sources->scalar;
    uint64_t result;
    if (is_exact(checks, i, &result))
        return fact->to == VE_PART_LOW    ? result & LOW_HALF
               : fact->to == VE_PART_HIGH ? result & HIGH_HALF
                                          : result;
    for (unsigned k = 0; k < sources->count; k++)
        undefined |= row(checks, sources->numbers[k])[i];
    return ve_check_spread(fact, undefined);
}

/* The bits of an element that a mask lets be written. */
static uint64_t lanes_of(const struct ve_checks *checks, const struct ve_instruction *in,
                         uint32_t i, uint64_t *unknown)
{
    bool is_pair = ve_operation_info(in->operation)->masking == VE_MASKING_PAIR;
    unsigned mask = in->mask, lower = is_pair && mask != 0 ? mask + 1u : mask;
    *unknown = (ve_mask_is_undefined(checks, mask, i) ? HIGH_HALF : 0) |
               (ve_mask_is_undefined(checks, lower, i) ? LOW_HALF : 0);
    return (ve_mask_bit(checks->core->vm[mask % VE_MASKS], i) ? HIGH_HALF : 0) |
           (ve_mask_bit(checks->core->vm[lower % VE_MASKS], i) ? LOW_HALF : 0);
}

/* A copy as compilers make it: both registers are needed then, so that neither value is read yet.
 */
static bool is_copy(const struct ve_checks *checks)
{
    const struct ve_instruction *in = checks->instruction;
    return in->operation == VE_OP_VOR && in->cs != 0 && in->mask == 0 && in->y_source >= 64 &&
           ve_y(checks->core, in) == 0;
}

static void elements(struct ve_checks *checks, const struct ve_fact *fact)
{
    const struct ve_instruction *in = checks->instruction;
    struct sources sources = sources_of(checks, fact);
    unsigned x = vector_number(checks, in->vx);
    uint64_t *to = row(checks, x);
    bool keeps = reads_vector(&sources, x) || in->mask != 0;
    uint64_t unknown = 0;
    if (is_copy(checks))
        checks->read_to[vector_number(checks, in->vz)] = 0;
    else
        read_all(checks, &sources);
    for (uint32_t i = 0; i < checks->core->vl; i++) {
        uint64_t lanes = in->mask != 0 ? lanes_of(checks, in, i, &unknown) : ALL;
        uint64_t result = element_of(checks, fact, &sources, i);
        to[i] = (result & lanes) | (to[i] & ~lanes) | unknown;
    }
    ve_check_write(checks, x, keeps);
}

/* --- elements that move: the machine moves their undefined bits in the same way --- */

static bool moves_scalar(uint16_t operation)
{
    return operation == VE_OP_VBRD || operation == VE_OP_VBRDL || operation == VE_OP_VBRDU ||
           operation == VE_OP_PVBRD || operation == VE_OP_VMRG || operation == VE_OP_VMRG_W;
}

/* True if it is not known whether the mask, or one of a pair, lets element i move. */
static bool may_move(const struct ve_checks *checks, uint32_t i)
{
    const struct ve_instruction *in = checks->instruction;
    bool is_pair = in->operation == VE_OP_VMRG_W || in->operation == VE_OP_PVBRD;
    return ve_mask_is_undefined(checks, in->mask, i) ||
           (is_pair && in->mask != 0 && ve_mask_is_undefined(checks, in->mask + 1u, i));
}

/* Elements whose mask is not known; all, if one decides where others go. */
static void forget_moved(struct ve_checks *checks, bool all)
{
    const struct ve_instruction *in = checks->instruction;
    uint64_t *to = row(checks, vector_number(checks, in->vx));
    bool packs = in->operation == VE_OP_VCP || in->operation == VE_OP_VEX;
    uint64_t from = in->operation == VE_OP_VMV ? ve_y(checks->core, in) : 0;
    for (uint32_t i = 0; packs && i < checks->core->vl; i++)
        all = all || may_move(checks, i);
    for (uint32_t i = 0; i < checks->core->vl; i++)
        if (all || may_move(checks, (uint32_t)(from + i) % VE_VECTOR_LENGTH))
            to[i] = ALL;
}

static void move(struct ve_checks *checks, const struct ve_fact *fact)
{
    struct ve_core *core = checks->core, *shade = checks->shade;
    const struct ve_instruction *in = checks->instruction;
    struct ve_instruction copy = *in;
    struct sources sources = sources_of(checks, fact);
    unsigned x = vector_number(checks, in->vx);
    bool keeps = reads_vector(&sources, x) || in->mask != 0;
    read_all(checks, &sources);

    copy.y_source = 0;
    shade->s[0] = moves_scalar(in->operation) ? undefined_of(checks, in->y_source) : ve_y(core, in);
    shade->vl = core->vl;
    shade->vix = core->vix;
    memcpy(shade->vm, core->vm, sizeof shade->vm);
    ve_executors[in->operation](shade, &copy);
    forget_moved(checks, !moves_scalar(in->operation) && sources.scalar != 0);
    ve_check_write(checks, x, keeps);
}

/* --- sums, maxima --- */

static void reduce(struct ve_checks *checks, const struct ve_fact *fact)
{
    const struct ve_instruction *in = checks->instruction;
    unsigned from = vector_number(checks, in->vy), x = vector_number(checks, in->vx);
    uint32_t first = VE_FINDING_NONE, last = 0;
    ve_check_read(checks, from);
    for (uint32_t i = 0; i < checks->core->vl; i++) {
        uint64_t unknown = 0;
        uint64_t lanes = in->mask != 0 ? lanes_of(checks, in, i, &unknown) : ALL;
        if ((ve_check_spread(fact, row(checks, from)[i] & lanes) | unknown) != 0) {
            first = first == VE_FINDING_NONE ? i : first;
            last = i;
        }
    }
    if (first != VE_FINDING_NONE)
        ve_check_tell(checks, (struct ve_finding){.kind = VE_FINDING_REDUCED,
                                                  .check = VE_CHECK_UNINITIALISED,
                                                  .element = VE_FINDING_NONE,
                                                  .scalar = VE_FINDING_NONE,
                                                  .vector = from,
                                                  .first = first,
                                                  .last = last,
                                                  .written = checks->written[from]});

    /* The result is in the first element, of positions in the second. */
    row(checks, x)[0] = row(checks, x)[1] = 0;
    checks->read_to[x] = 0;
}

static void recur(struct ve_checks *checks, const struct ve_fact *fact)
{
    struct sources sources = sources_of(checks, fact);
    unsigned x = vector_number(checks, checks->instruction->vx);
    uint64_t before = sources.scalar;
    bool keeps = reads_vector(&sources, x);
    read_all(checks, &sources);
    for (uint32_t i = 0; i < checks->core->vl; i++) {
        for (unsigned k = 0; k < sources.count; k++)
            before |= row(checks, sources.numbers[k])[i];
        row(checks, x)[i] = before = ve_check_spread(fact, before);
    }
    ve_check_write(checks, x, keeps);
}

/* --- masks --- */

static void make_mask(struct ve_checks *checks, const struct ve_fact *fact)
{
    const struct ve_instruction *in = checks->instruction;
    unsigned x = in->vx % VE_MASKS, z = vector_number(checks, in->vz);
    bool is_constant = in->condition == VE_ALWAYS || in->condition == VE_NEVER;
    ve_check_read(checks, z);
    for (uint32_t i = 0; x != 0 && i < checks->core->vl; i++) {
        bool active = ve_mask_bit(checks->core->vm[in->mask % VE_MASKS], i);
        bool undefined = !is_constant && active && ve_check_spread(fact, row(checks, z)[i]) != 0;
        set_mask_bit(checks->vm[x], i, undefined || ve_mask_is_undefined(checks, in->mask, i));
    }
}

static void combine_masks(struct ve_checks *checks, const struct ve_fact *fact)
{
    const struct ve_instruction *in = checks->instruction;
    unsigned x = in->vx % VE_MASKS, y = in->vy % VE_MASKS, z = in->vz % VE_MASKS;
    for (size_t w = 0; x != 0 && w < VE_MASK_WORDS; w++) {
        uint64_t uy = checks->vm[y][w], uz = checks->vm[z][w];
        uint64_t vy = checks->core->vm[y][w], vz = checks->core->vm[z][w];
        if ((fact->reads & VE_TIME_MZ) == 0)
            uz = 0;
        if (in->operation == VE_OP_NNDM)
            vy = ~vy;
        if (in->operation == VE_OP_ORM)
            vy = ~vy, vz = ~vz;
        bool is_logical = in->operation == VE_OP_ANDM || in->operation == VE_OP_NNDM ||
                          in->operation == VE_OP_ORM;
        checks->vm[x][w] = is_logical ? (uy & uz) | (uy & vz) | (uz & vy) : uy | uz;
    }
}

static void count_mask(struct ve_checks *checks)
{
    const struct ve_instruction *in = checks->instruction;
    bool undefined = false;
    for (uint32_t i = 0; i < checks->core->vl; i++)
        undefined = undefined || ve_mask_is_undefined(checks, in->vy % VE_MASKS, i);
    checks->s[in->x % 64] = undefined ? ALL : 0;
}

/* --- elements and words by themselves --- */

static void single(struct ve_checks *checks, enum ve_fact_kind kind)
{
    const struct ve_instruction *in = checks->instruction;
    uint64_t index = ve_y(checks->core, in), uz = undefined_of(checks, in->z_source);
    uint64_t unknown = undefined_of(checks, in->y_source) != 0 ? ALL : 0;
    unsigned x = vector_number(checks, in->vx), element = (unsigned)index % VE_VECTOR_LENGTH;
    unsigned word = (unsigned)index % VE_MASK_WORDS, made = in->vx % VE_MASKS;
    unsigned read = in->vz % VE_MASKS;
    switch (kind) {
    case VE_FACT_ELEMENT_SET:
        row(checks, x)[element] = uz;
        for (uint32_t i = 0; unknown != 0 && i < VE_VECTOR_LENGTH; i++)
            row(checks, x)[i] = ALL;
        return;
    case VE_FACT_ELEMENT_GOT: checks->s[in->x % 64] = row(checks, x)[element] | unknown; return;
    case VE_FACT_MASK_SET:
        if (made != 0)
            checks->vm[made][word] = uz;
        for (uint32_t i = 0; made != 0 && unknown != 0 && i < VE_MASK_WORDS; i++)
            checks->vm[made][i] = ALL;
        return;
    default: checks->s[in->x % 64] = (read != 0 ? checks->vm[read][word] : 0) | unknown; return;
    }
}

void ve_check_vector(struct ve_checks *checks, const struct ve_fact *fact)
{
    switch ((enum ve_fact_kind)fact->kind) {
    case VE_FACT_VECTOR: elements(checks, fact); return;
    case VE_FACT_MOVE: move(checks, fact); return;
    case VE_FACT_REDUCE: reduce(checks, fact); return;
    case VE_FACT_RECUR: recur(checks, fact); return;
    case VE_FACT_MASK_MADE: make_mask(checks, fact); return;
    case VE_FACT_MASK_COMBINED: combine_masks(checks, fact); return;
    case VE_FACT_MASK_COUNTED: count_mask(checks); return;
    default: single(checks, (enum ve_fact_kind)fact->kind); return;
    }
}
