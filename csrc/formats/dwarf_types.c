/* SPDX-License-Identifier: BSD-3-Clause */
#include "formats/dwarf_types.h"

#include <stdio.h>
#include <string.h>

#include "formats/dwarf_forms.h"
#include "formats/dwarf_refer.h"
#include "formats/dwarf_unit.h"

#define MAX_CHAIN 64

/* Table 7.11. */
enum encoding {
    ATE_address = 0x01,
    ATE_boolean = 0x02,
    ATE_float = 0x04,
    ATE_signed = 0x05,
    ATE_signed_char = 0x06,
    ATE_unsigned = 0x07,
    ATE_unsigned_char = 0x08,
    ATE_UTF = 0x10,
    ATE_UCS = 0x11,
    ATE_ASCII = 0x12,
};

bool dwarf_copy_name(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_die *die,
                     char name[DWARF_TYPE_NAME])
{
    size_t length;
    const char *text = dwarf_has(die, DWARF_AT_NAME)
                           ? dwarf_string(d, unit, &die->value[DWARF_AT_NAME], &length)
                           : NULL;
    if (text == NULL || length == 0)
        return false;

    length = length < DWARF_TYPE_NAME - 16 ? length : DWARF_TYPE_NAME - 16;
    for (size_t i = 0; i < length; i++)
        name[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    name[length] = '\0';
    return true;
}

/* "struct point"; the alias that led to it if it has no name of its own. */
static void describe(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_die *die,
                     const char *kind, const char *alias, char name[DWARF_TYPE_NAME])
{
    char own[DWARF_TYPE_NAME];
    if (dwarf_copy_name(d, unit, die, own))
        snprintf(name, DWARF_TYPE_NAME, "%.8s%s%.48s", kind, *kind != '\0' ? " " : "", own);
    else if (*alias != '\0')
        snprintf(name, DWARF_TYPE_NAME, "%.60s", alias);
    else
        snprintf(name, DWARF_TYPE_NAME, "%.40s without a name", *kind != '\0' ? kind : "a type");
}

static char integer_letter(uint64_t size, bool is_signed)
{
    switch (size) {
    case 1: return is_signed ? 'b' : 'B';
    case 2: return is_signed ? 'h' : 'H';
    case 4: return is_signed ? 'i' : 'I';
    case 8: return is_signed ? 'l' : 'L';
    default: return 0;
    }
}

static uint64_t constant(const struct dwarf_die *die, enum dwarf_attribute which)
{
    const struct dwarf_value *value = &die->value[which];
    return dwarf_has(die, which) && dwarf_is_constant(value) ? value->number : 0;
}

static char base_letter(const struct dwarf_die *die)
{
    uint64_t size = constant(die, DWARF_AT_BYTE_SIZE);
    switch (constant(die, DWARF_AT_ENCODING)) {
    case ATE_float: return (char)(size == 4 ? 'f' : size == 8 ? 'd' : 0);
    case ATE_signed:
    case ATE_signed_char: return integer_letter(size, true);
    case ATE_boolean:
    case ATE_unsigned:
    case ATE_unsigned_char:
    case ATE_UTF:
    case ATE_UCS:
    case ATE_ASCII: return integer_letter(size, false);
    case ATE_address: return (char)(size == 8 ? 'p' : 0);
    default: return 0;
    }
}

/* Old debug information does not name an enumeration's integer: negative members show it. */
static bool has_negative_member(struct dwarf *d, const struct dwarf_unit *unit,
                                const struct dwarf_die *die)
{
    struct dwarf_die member;
    for (size_t at = die->has_children ? die->next : 0; at != 0;
         at = dwarf_after(d, unit, &member)) {
        if (dwarf_die_at(d, unit, at, &member) != DWARF_DIE)
            return false;

        const struct dwarf_value *value = &member.value[DWARF_AT_CONST_VALUE];
        if (dwarf_has(&member, DWARF_AT_CONST_VALUE) && dwarf_is_constant(value) &&
            (int64_t)value->number < 0)
            return true;
    }

    return false;
}

static char enumeration_letter(struct dwarf *d, const struct dwarf_unit *unit,
                               const struct dwarf_die *die)
{
    uint64_t encoding = constant(die, DWARF_AT_ENCODING);
    bool is_signed = encoding != 0 ? encoding == ATE_signed || encoding == ATE_signed_char
                                   : has_negative_member(d, unit, die);
    return integer_letter(constant(die, DWARF_AT_BYTE_SIZE), is_signed);
}

/* A pointer to a member function is two words, one to data is an offset. */
static char member_pointer_letter(struct dwarf *d, const struct dwarf_place *at,
                                  const struct dwarf_die *die)
{
    struct dwarf_place to;
    struct dwarf_die target;
    if (!dwarf_has(die, DWARF_AT_TYPE) ||
        !dwarf_refer(d, &at->unit, &die->value[DWARF_AT_TYPE], &to) ||
        dwarf_die_at(d, &to.unit, to.offset, &target) != DWARF_DIE ||
        target.tag == DWARF_TAG_subroutine_type)
        return 0;

    return 'l';
}

static bool is_nullptr_type(struct dwarf *d, const struct dwarf_unit *unit,
                            const struct dwarf_die *die)
{
    char name[DWARF_TYPE_NAME];
    return dwarf_copy_name(d, unit, die, name) && strstr(name, "nullptr") != NULL;
}

/* State of a type while typedefs and qualifiers are followed to what they stand for. */
struct type {
    struct dwarf_place at;
    struct dwarf_die die;
    const struct dwarf_value *next; /* refers to the type that it stands for, or NULL */
    char letter;                    /* valid if next is NULL; 0 if it has none */
    const char *kind;               /* for messages */
    char alias[DWARF_TYPE_NAME];    /* the first typedef on the way, or "" */
};

/* An attribute of the DIE that refers to a type; NULL if it is absent. */
static const struct dwarf_value *reference(const struct dwarf_die *die, enum dwarf_attribute which)
{
    return dwarf_has(die, which) ? &die->value[which] : NULL;
}

static void see_enumeration(struct dwarf *d, struct type *type)
{
    const struct dwarf_die *die = &type->die;
    type->kind = "enum";
    type->next = reference(die, DWARF_AT_SIGNATURE);
    if (type->next == NULL)
        type->next = reference(die, DWARF_AT_TYPE);
    if (type->next == NULL)
        type->letter = enumeration_letter(d, &type->at.unit, die);
}

static void see_record(struct type *type)
{
    const struct dwarf_die *die = &type->die;
    type->kind = die->tag == DWARF_TAG_structure_type ? "struct"
                 : die->tag == DWARF_TAG_union_type   ? "union"
                                                      : "class";
    /* Its name may be in a unit of its own. */
    if (!dwarf_has(die, DWARF_AT_NAME))
        type->next = reference(die, DWARF_AT_SIGNATURE);
}

/* Finds out what the DIE of a type says. */
static void see(struct dwarf *d, struct type *type, bool is_result)
{
    const struct dwarf_die *die = &type->die;
    bool vector = dwarf_flag(die, DWARF_AT_GNU_VECTOR);
    type->next = NULL;
    type->letter = 0;

    switch (die->tag) {
    case DWARF_TAG_typedef:
    case DWARF_TAG_template_alias:
        if (*type->alias == '\0')
            dwarf_copy_name(d, &type->at.unit, die, type->alias);
        /* fall through */
    case DWARF_TAG_const_type:
    case DWARF_TAG_volatile_type:
    case DWARF_TAG_restrict_type:
    case DWARF_TAG_atomic_type:
    case DWARF_TAG_immutable_type:
    case DWARF_TAG_packed_type:
    case DWARF_TAG_shared_type:
    case DWARF_TAG_subrange_type:
        type->next = reference(die, DWARF_AT_TYPE);
        type->letter = 'v';
        break;
    case DWARF_TAG_base_type: type->letter = base_letter(die); break;
    case DWARF_TAG_enumeration_type: see_enumeration(d, type); break;
    case DWARF_TAG_pointer_type:
    case DWARF_TAG_reference_type:
    case DWARF_TAG_rvalue_reference_type: type->letter = 'p'; break;
    case DWARF_TAG_ptr_to_member_type:
        type->kind = "a pointer to a member";
        type->letter = member_pointer_letter(d, &type->at, die);
        break;
    case DWARF_TAG_array_type:
        type->kind = vector ? "a vector" : "an array";
        type->letter = (char)(is_result || vector ? 0 : 'p');
        break;
    case DWARF_TAG_string_type:
    case DWARF_TAG_subroutine_type:
        type->kind = die->tag == DWARF_TAG_string_type ? "a string" : "a function";
        type->letter = (char)(is_result ? 0 : 'p');
        break;
    case DWARF_TAG_unspecified_type:
        if (is_nullptr_type(d, &type->at.unit, die))
            type->letter = 'p';
        else if (is_result)
            type->letter = 'v';
        break;
    case DWARF_TAG_structure_type:
    case DWARF_TAG_class_type:
    case DWARF_TAG_interface_type:
    case DWARF_TAG_union_type: see_record(type); break;
    default: type->kind = "a type of an unknown kind"; break;
    }
}

/* Follows the chain that begins at VALUE to its end. */
static bool follow(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_value *value,
                   bool is_result, struct type *type)
{
    type->at = (struct dwarf_place){.unit = *unit};
    type->next = value;
    type->letter = 'v';
    type->kind = "";
    type->alias[0] = '\0';
    type->die.tag = 0;

    for (int depth = 0; type->next != NULL; depth++) {
        if (depth == MAX_CHAIN || !dwarf_refer(d, &type->at.unit, type->next, &type->at) ||
            dwarf_die_at(d, &type->at.unit, type->at.offset, &type->die) != DWARF_DIE)
            return false;
        see(d, type, is_result);
    }
    return true;
}

char dwarf_pointee_letter(struct dwarf *d, const struct dwarf_unit *unit,
                          const struct dwarf_value *value)
{
    struct type type;
    struct type to;
    if (d->result != DWARF_FOUND || !follow(d, unit, value, false, &type))
        return 0;
    if (type.die.tag != DWARF_TAG_pointer_type && type.die.tag != DWARF_TAG_array_type)
        return 0;

    const struct dwarf_value *element = reference(&type.die, DWARF_AT_TYPE);
    bool found = element != NULL && follow(d, &type.at.unit, element, false, &to) &&
                 to.die.tag == DWARF_TAG_base_type;
    d->result = DWARF_FOUND;
    return (char)(found ? to.letter : 0);
}

bool dwarf_type_letter(struct dwarf *d, const struct dwarf_unit *unit,
                       const struct dwarf_value *value, bool is_result, char *letter,
                       char name[DWARF_TYPE_NAME])
{
    struct type type;
    snprintf(name, DWARF_TYPE_NAME, "void");
    *letter = 0;
    if (!follow(d, unit, value, is_result, &type))
        return dwarf_fail(d, DWARF_MALFORMED, "a type in the debug information is broken");
    if (d->result != DWARF_FOUND)
        return false;

    *letter = type.letter;
    if (type.letter == 0)
        describe(d, &type.at.unit, &type.die, type.kind, type.alias, name);
    return true;
}
