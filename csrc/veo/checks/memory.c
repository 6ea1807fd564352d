/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: where loads and stores go to, and what they load. */
#include "state.h"

#include <string.h>

#include "veo/checks/shadow.h"

/* An access below is one by a null pointer. */
#define LOWEST 65536
#define COLUMNS 16

/* An access of an instruction: elements of a vector, or the only one of a scalar. */
struct access {
    const struct ve_fact *fact;
    bool is_vector, writes;
    uint32_t count;
    uint64_t bytes;
};

/* --- bounds and alignment --- */

bool ve_check_inside(struct ve_checks *checks, struct ve_finding finding)
{
    uint64_t hidden = finding.address;
    bool outside = finding.address < LOWEST || finding.address + finding.size < finding.address ||
                   ve_shadow_find_hidden(finding.address, finding.size, &hidden);
    if (!outside && checks->services->zone != NULL)
        outside = checks->services->zone(finding.address, finding.size) == VE_ZONE_OUTSIDE;
    if (outside)
        ve_check_tell(checks, finding);
    return !outside;
}

static bool is_right(struct ve_checks *checks, const struct access *access, uint64_t address,
                     uint32_t element)
{
    struct ve_finding finding = {
        .kind = VE_FINDING_OUTSIDE,
        .check = VE_CHECK_BOUNDS,
        .writes = access->writes,
        .address = address,
        .size = access->bytes,
        .element = access->is_vector ? element : VE_FINDING_NONE,
    };
    if (address % access->bytes != 0) {
        struct ve_finding misaligned = finding;
        misaligned.kind = VE_FINDING_MISALIGNED;
        misaligned.check = access->is_vector || access->fact->kind == VE_FACT_ATOMIC
                               ? VE_CHECK_ALIGN
                               : VE_CHECK_ALIGN_SCALAR;
        ve_check_tell(checks, misaligned);
    }
    return !check_wants(checks, VE_CHECK_BOUNDS) || ve_check_inside(checks, finding);
}

/* --- addresses --- */

static void address_register(struct ve_checks *checks, unsigned source)
{
    if (undefined_of(checks, source) == 0)
        return;
    ve_check_tell_scalar(checks, VE_FINDING_ADDRESS, source);
    checks->s[source] = 0;
}

static unsigned addresses_of(const struct ve_checks *checks)
{
    const struct ve_instruction *in = checks->instruction;
    return in->cs == 0 ? vector_number(checks, in->vy)
                       : (unsigned)checks->core->s[in->sw % 64] % VE_VECTORS;
}

static uint64_t address_of(const struct ve_checks *checks, const struct access *access, uint32_t i)
{
    const struct ve_core *core = checks->core;
    const struct ve_instruction *in = checks->instruction;
    enum ve_fact_kind kind = (enum ve_fact_kind)access->fact->kind;
    uint64_t y = ve_y(core, in), z = ve_z(core, in);
    if (kind == VE_FACT_GATHER || kind == VE_FACT_SCATTER)
        return core->v[addresses_of(checks)][i];
    if (access->fact->is_2d)
        return z + i / COLUMNS * (uint64_t)((int64_t)y >> 16) + i % COLUMNS * (y & UINT16_MAX);
    return z + i * y;
}

/* --- vectors --- */

static void tell_elements(struct ve_checks *checks, enum ve_finding_kind kind, unsigned vector,
                          uint32_t first, uint32_t last)
{
    ve_check_tell(checks, (struct ve_finding){.kind = kind,
                                              .check = VE_CHECK_UNINITIALISED,
                                              .element = VE_FINDING_NONE,
                                              .scalar = VE_FINDING_NONE,
                                              .vector = vector,
                                              .first = first,
                                              .last = last,
                                              .written = checks->written[vector]});
}

/* Tells of elements of addresses that were never written, and takes them as written. */
static void address_elements(struct ve_checks *checks, const struct access *access)
{
    unsigned number = addresses_of(checks);
    uint64_t *undefined = checks->shade->v[number];
    uint32_t first = VE_FINDING_NONE, last = 0;
    for (uint32_t i = 0; i < access->count; i++) {
        bool active = ve_mask_bit(checks->core->vm[checks->instruction->mask % VE_MASKS], i);
        if (undefined[i] == 0 || !active)
            continue;
        first = first == VE_FINDING_NONE ? i : first;
        last = i;
        undefined[i] = 0;
    }
    if (first != VE_FINDING_NONE)
        tell_elements(checks, VE_FINDING_ADDRESS, number, first, last);
    ve_check_read(checks, number);
}

static void tell_mask(struct ve_checks *checks, const struct access *access)
{
    unsigned mask = checks->instruction->mask;
    for (uint32_t i = 0; mask != 0 && i < access->count; i++)
        if (ve_mask_is_undefined(checks, mask, i)) {
            memset(checks->vm[mask % VE_MASKS], 0, sizeof checks->vm[0]);
            ve_check_tell(checks, (struct ve_finding){.kind = VE_FINDING_MASK,
                                                      .check = VE_CHECK_UNINITIALISED,
                                                      .element = i,
                                                      .scalar = VE_FINDING_NONE,
                                                      .vector = VE_FINDING_NONE});
            return;
        }
}

/* True if all elements lie behind each other where nothing is hidden and nothing undefined. */
static bool is_simple(struct ve_checks *checks, const struct access *access)
{
    const struct ve_instruction *in = checks->instruction;
    enum ve_fact_kind kind = (enum ve_fact_kind)access->fact->kind;
    uint64_t base = ve_z(checks->core, in), found;
    uint64_t size = access->count * access->bytes;
    bool strided = kind == VE_FACT_VECTOR_LOAD || kind == VE_FACT_VECTOR_STORE;
    if (!strided || access->fact->is_2d || ve_y(checks->core, in) != access->bytes ||
        base % access->bytes != 0 || base < LOWEST || base + size < base || in->mask != 0)
        return false;
    return !ve_shadow_find_hidden(base, size, &found) &&
           !ve_shadow_find_undefined(base, size, &found) &&
           (checks->services->zone == NULL ||
            checks->services->zone(base, size) == VE_ZONE_UNKNOWN ||
            (!access->writes && checks->services->zone(base, size) == VE_ZONE_INSIDE));
}

/* The undefined bits of a loaded element, from those of memory. */
static uint64_t loaded(const struct ve_instruction *in, uint64_t bytes, uint64_t undefined)
{
    switch (in->operation) {
    case VE_OP_LDU:
    case VE_OP_DLDU:
    case VE_OP_VLDU:
    case VE_OP_VLDU2D:
    case VE_OP_VGTU: return undefined << 32;
    case VE_OP_LDL_ZX:
    case VE_OP_DLDL_ZX:
    case VE_OP_LD2B_ZX:
    case VE_OP_LD1B_ZX:
    case VE_OP_VLDL_ZX:
    case VE_OP_VLDL2D_ZX:
    case VE_OP_VGTL_ZX: return undefined;
    default: break;
    }
    uint64_t sign = bytes < 8 ? undefined >> (8 * bytes - 1) & 1 : 0;
    return sign != 0 ? undefined | ALL << 8 * bytes : undefined;
}

/* The undefined bits of what a store writes. */
static uint64_t stored(const struct ve_instruction *in, uint64_t bytes, uint64_t undefined)
{
    switch (in->operation) {
    case VE_OP_STU:
    case VE_OP_VSTU:
    case VE_OP_VSTU2D:
    case VE_OP_VSCU: return undefined >> 32;
    default: return bytes < 8 ? undefined & ((UINT64_C(1) << 8 * bytes) - 1) : undefined;
    }
}

static bool is_seen_by_host(const struct ve_checks *checks, uint64_t address, uint64_t bytes)
{
    return checks->services->zone != NULL &&
           checks->services->zone(address, bytes) == VE_ZONE_INSIDE;
}

static bool is_all(uint64_t undefined, uint64_t bytes)
{
    return undefined == (bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : ALL);
}

static void load_elements(struct ve_checks *checks, const struct access *access)
{
    const struct ve_instruction *in = checks->instruction;
    unsigned x = vector_number(checks, in->vx);
    uint64_t *to = checks->shade->v[x], found[VE_VECTOR_LENGTH];
    bool keeps = in->mask != 0;
    if (is_simple(checks, access)) {
        memset(to, 0, access->count * sizeof *to);
        ve_check_write(checks, x, false);
        return;
    }

    /* Of the addresses as they are: the result may be the same register. */
    for (uint32_t i = 0; i < access->count; i++) {
        found[i] = to[i];
        if (!ve_mask_bit(checks->core->vm[in->mask % VE_MASKS], i))
            continue;
        uint64_t address = address_of(checks, access, i);
        found[i] = is_right(checks, access, address, i)
                       ? loaded(in, access->bytes, ve_shadow_load(address, (uint32_t)access->bytes))
                       : 0;
    }
    memcpy(to, found, access->count * sizeof *to);
    ve_check_write(checks, x, keeps);
}

static bool is_on_stack(const struct ve_checks *checks, uint64_t address)
{
    return address >= checks->core->s[VE_S_STACK] && address < checks->top;
}

static void store_elements(struct ve_checks *checks, const struct access *access)
{
    const struct ve_instruction *in = checks->instruction;
    unsigned x = vector_number(checks, in->vx);
    const uint64_t *from = checks->shade->v[x];
    uint32_t first = VE_FINDING_NONE, last = 0;
    bool simple = is_simple(checks, access);
    /* Compilers keep copies on the stack, as in vector.c. */
    if (is_on_stack(checks, ve_z(checks->core, in)))
        checks->read_to[x] = 0;
    else
        ve_check_read(checks, x);
    for (uint32_t i = 0; i < access->count; i++) {
        uint64_t undefined = stored(in, access->bytes, from[i]);
        if (!ve_mask_bit(checks->core->vm[in->mask % VE_MASKS], i) || (simple && undefined == 0))
            continue;
        uint64_t address = address_of(checks, access, i);
        if (!is_right(checks, access, address, i))
            continue;
        if (is_all(undefined, access->bytes) && is_seen_by_host(checks, address, access->bytes)) {
            first = first == VE_FINDING_NONE ? i : first;
            last = i;
        }
        ve_shadow_store(address, (uint32_t)access->bytes, undefined);
    }
    if (first != VE_FINDING_NONE)
        tell_elements(checks, VE_FINDING_STORED, x, first, last);
}

static void vector_access(struct ve_checks *checks, const struct ve_fact *fact)
{
    const struct ve_instruction *in = checks->instruction;
    enum ve_fact_kind kind = (enum ve_fact_kind)fact->kind;
    struct access access = {
        .fact = fact,
        .is_vector = true,
        .writes = kind == VE_FACT_VECTOR_STORE || kind == VE_FACT_SCATTER,
        .count = checks->core->vl,
        .bytes = fact->bytes,
    };
    if (kind == VE_FACT_GATHER || kind == VE_FACT_SCATTER) {
        address_elements(checks, &access);
    } else {
        address_register(checks, in->y_source);
        address_register(checks, in->z_source);
    }
    tell_mask(checks, &access);
    if (access.writes)
        store_elements(checks, &access);
    else
        load_elements(checks, &access);
}

/* --- scalars --- */

/* RRM and RRMHM have a base alone. */
static bool has_index(const struct ve_instruction *in)
{
    return ve_operation_info(in->operation)->format == VE_FORMAT_RM;
}

static void scalar_access(struct ve_checks *checks, const struct ve_fact *fact)
{
    const struct ve_instruction *in = checks->instruction;
    uint64_t address =
        has_index(in) ? ve_address(checks->core, in) : ve_base_address(checks->core, in);
    struct access access = {
        .fact = fact, .writes = fact->kind != VE_FACT_LOAD, .count = 1, .bytes = fact->bytes};
    if (has_index(in))
        address_register(checks, in->y_source);
    address_register(checks, in->z_source);
    bool inside = is_right(checks, &access, address, 0);

    unsigned x = in->x % 64;
    uint32_t bytes = fact->bytes;
    if (fact->kind == VE_FACT_LOAD) {
        checks->s[x] = inside ? loaded(in, bytes, ve_shadow_load(address, bytes)) : 0;
        return;
    }
    if (!inside) {
        checks->s[x] = fact->kind == VE_FACT_ATOMIC ? 0 : checks->s[x];
        return;
    }

    uint64_t undefined = stored(in, bytes, checks->s[x]);
    if (fact->kind == VE_FACT_ATOMIC) {
        uint64_t old = ve_shadow_load(address, bytes);
        ve_shadow_store(address, bytes, old | undefined);
        checks->s[x] = old;
        return;
    }
    if (is_all(undefined, bytes) && is_seen_by_host(checks, address, bytes)) {
        ve_check_tell_scalar(checks, VE_FINDING_STORED, x);
        checks->s[x] = undefined = 0;
    }
    ve_shadow_store(address, bytes, undefined);
}

void ve_check_memory(struct ve_checks *checks, const struct ve_fact *fact)
{
    if (fact->kind == VE_FACT_LOAD || fact->kind == VE_FACT_STORE || fact->kind == VE_FACT_ATOMIC)
        scalar_access(checks, fact);
    else
        vector_access(checks, fact);
}
