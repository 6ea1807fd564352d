/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of a function from its DIE.
 *
 * A concrete instance of a function that was also inlined has an abstract one with the whole list
 * of parameters, of which it may itself leave out those that got lost to optimisation. So
 * parameters are taken from the abstract instance; the concrete one is asked what only it knows.
 */
#include "formats/dwarf_function.h"

#include <stdio.h>
#include <string.h>

#include "formats/dwarf_forms.h"
#include "formats/dwarf_ranges.h"
#include "formats/dwarf_refer.h"
#include "formats/dwarf_types.h"
#include "formats/dwarf_unit.h"

/* Tables 7.17 (languages) and 7.21 (calling conventions). */
enum language {
    LANG_C89 = 0x01,
    LANG_C = 0x02,
    LANG_Fortran77 = 0x07,
    LANG_Fortran90 = 0x08,
    LANG_C99 = 0x0c,
    LANG_Fortran95 = 0x0e,
    LANG_C11 = 0x1d,
    LANG_Fortran03 = 0x22,
    LANG_Fortran08 = 0x23,
    LANG_C17 = 0x2c,
    LANG_Fortran18 = 0x2d,
    LANG_Mips_Assembler = 0x8001,
};
enum { CC_program = 2 };

struct function {
    struct dwarf_place concrete; /* the DIE with the address */
    struct dwarf_place abstract; /* the one with the parameters, often the same */
    struct dwarf_place declared; /* what that refers to, should it have no parameters */
    bool has_declared;
    bool is_clone; /* concrete and abstract differ */
    bool prototyped, placed_in_source;
    struct dwarf_place result_at; /* unit of the result's type */
    struct dwarf_value result;
    bool has_result;
    uint64_t convention;
};

bool dwarf_origin(struct dwarf *d, struct dwarf_place *at, struct dwarf_die *die, bool *is_abstract)
{
    *is_abstract = dwarf_has(die, DWARF_AT_ABSTRACT_ORIGIN);
    enum dwarf_attribute which = *is_abstract ? DWARF_AT_ABSTRACT_ORIGIN : DWARF_AT_SPECIFICATION;
    return dwarf_has(die, which) && dwarf_refer(d, &at->unit, &die->value[which], at) &&
           dwarf_die_at(d, &at->unit, at->offset, die) == DWARF_DIE;
}

static bool is_fortran(const struct dwarf_unit *unit)
{
    switch (unit->language) {
    case LANG_Fortran77:
    case LANG_Fortran90:
    case LANG_Fortran95:
    case LANG_Fortran03:
    case LANG_Fortran08:
    case LANG_Fortran18: return true;
    default: return false;
    }
}

static bool is_c(const struct dwarf_unit *unit)
{
    return unit->language == LANG_C89 || unit->language == LANG_C || unit->language == LANG_C99 ||
           unit->language == LANG_C11 || unit->language == LANG_C17;
}

/* --- parameters --- */

/* Walks the children of a function that may be parameters; packs of C++ have theirs inside. */
struct children {
    const struct dwarf_unit *unit;
    size_t at;
    uint64_t depth;
};

static bool first_child(struct dwarf *d, const struct dwarf_place *place, struct children *walk)
{
    struct dwarf_die die;
    if (dwarf_die_at(d, &place->unit, place->offset, &die) != DWARF_DIE)
        return false;
    *walk = (struct children){&place->unit, die.next, die.has_children ? 1 : 0};
    return true;
}

/* 1: a child, 0: no more, -1: broken. */
static int next_child(struct dwarf *d, struct children *walk, struct dwarf_die *die)
{
    while (walk->depth > 0) {
        enum dwarf_read got = dwarf_die_at(d, walk->unit, walk->at, die);
        if (got == DWARF_BROKEN)
            return -1;

        if (got == DWARF_NULL) {
            walk->at = die->next;
            walk->depth--;
        } else if (die->tag == DWARF_TAG_GNU_formal_parameter_pack && die->has_children) {
            walk->at = die->next;
            walk->depth++;
        } else {
            walk->at = dwarf_after(d, walk->unit, die);
            return walk->at != 0 ? 1 : -1;
        }
    }

    return 0;
}

/* The concrete instance's own DIE of the parameter at ABSTRACT (its section offset). */
static bool concrete_parameter(struct dwarf *d, const struct function *f, size_t abstract,
                               struct dwarf_die *own)
{
    struct children walk;
    struct dwarf_place origin;
    if (!first_child(d, &f->concrete, &walk))
        return false;

    while (next_child(d, &walk, own) == 1) {
        if (own->tag == DWARF_TAG_formal_parameter && dwarf_has(own, DWARF_AT_ABSTRACT_ORIGIN) &&
            dwarf_refer(d, &f->concrete.unit, &own->value[DWARF_AT_ABSTRACT_ORIGIN], &origin) &&
            origin.offset == abstract && origin.unit.section == f->abstract.unit.section)
            return true;
    }

    return false;
}

/*
 * gcc lists the hidden parameters of constructors of virtual bases with the abstract instance;
 * which of them a concrete one has is up to it.
 */
static bool is_absent(struct dwarf *d, const struct function *f, const struct dwarf_die *parameter)
{
    static const char *const hidden[] = {"__in_chrg", "__vtt_parm"};
    struct dwarf_die own;
    size_t length;
    if (!f->is_clone || !dwarf_has(parameter, DWARF_AT_NAME))
        return false;

    const char *name =
        dwarf_string(d, &f->abstract.unit, &parameter->value[DWARF_AT_NAME], &length);
    for (size_t i = 0; name != NULL && i < 2; i++)
        if (length == strlen(hidden[i]) && memcmp(name, hidden[i], length) == 0)
            return !concrete_parameter(d, f, parameter->offset, &own);

    return false;
}

/* Fortran's debug information has the type that the source has, whether by reference or not. */
static enum dwarf_passing fortran_passing(struct dwarf *d, const struct function *f,
                                          const struct dwarf_die *parameter)
{
    struct dwarf_die own;
    if (f->is_clone) {
        if (!concrete_parameter(d, f, parameter->offset, &own))
            return DWARF_UNKNOWN;

        parameter = &own;
    }

    if (!dwarf_has(parameter, DWARF_AT_LOCATION))
        return DWARF_UNKNOWN;
    return dwarf_passing(d, &f->concrete.unit, &parameter->value[DWARF_AT_LOCATION]);
}

/* "" if it has none, as in a declaration. */
static void parameter_name(struct dwarf *d, const struct dwarf_place *list,
                           const struct dwarf_die *parameter, char name[DWARF_SIGNATURE_NAME])
{
    struct dwarf_place at = {list->unit, parameter->offset};
    struct dwarf_die named = *parameter;
    char text[DWARF_TYPE_NAME] = "";
    bool is_abstract;
    for (int depth = 0; depth < DWARF_MAX_ORIGINS; depth++)
        if (dwarf_copy_name(d, &at.unit, &named, text) ||
            !dwarf_origin(d, &at, &named, &is_abstract))
            break;
    snprintf(name, DWARF_SIGNATURE_NAME, "%.*s", DWARF_SIGNATURE_NAME - 1, text);
}

/* Where parameter NUMBER is spoken of: its name in brackets, if it has one. */
struct label {
    char text[DWARF_SIGNATURE_NAME + 16];
};

static struct label label_of(unsigned number, const char *name)
{
    struct label label;
    snprintf(label.text, sizeof label.text, *name ? "%u (%s)" : "%u", number, name);
    return label;
}

static bool parameter_letter(struct dwarf *d, const struct function *f,
                             const struct dwarf_place *list, const struct dwarf_die *parameter,
                             struct label label, char *letter, char *pointee)
{
    struct dwarf_place at = {list->unit, parameter->offset};
    struct dwarf_die typed = *parameter;
    char name[DWARF_TYPE_NAME];
    bool is_abstract;
    for (int depth = 0; !dwarf_has(&typed, DWARF_AT_TYPE); depth++)
        if (depth == DWARF_MAX_ORIGINS || !dwarf_origin(d, &at, &typed, &is_abstract))
            return dwarf_fail(d, DWARF_UNSUPPORTED, "parameter %s has no type", label.text);
    const struct dwarf_value *type = &typed.value[DWARF_AT_TYPE];
    if (!dwarf_type_letter(d, &at.unit, type, false, letter, name))
        return false;
    *pointee = (char)(*letter == 'p' ? dwarf_pointee_letter(d, &at.unit, type) : *letter);

    if (is_fortran(&list->unit) && *letter != 'p') {
        enum dwarf_passing passing = fortran_passing(d, f, parameter);
        /* A word in an integer register either way: all of it is passed on. */
        bool word = *letter != 0 && *letter != 'f' && *letter != 'd';
        if (passing == DWARF_BY_REFERENCE || (passing == DWARF_UNKNOWN && word))
            *letter = 'p';
        else if (passing == DWARF_UNKNOWN)
            return dwarf_fail(d, DWARF_AMBIGUOUS,
                              "the debug information does not say whether parameter %s is passed by"
                              " reference or by value",
                              label.text);
    }

    if (*letter == 0 || *letter == 'v')
        return dwarf_fail(d, DWARF_UNSUPPORTED,
                          "parameter %s has type %s, which the soft twin cannot pass", label.text,
                          name);
    /* Without a prototype, C passes float as double. */
    if (*letter == 'f' && !f->prototyped && is_c(&list->unit))
        *letter = 'd';
    if (*letter != 'p')
        *pointee = 0;
    return true;
}

static bool read_parameters(struct dwarf *d, const struct function *f,
                            const struct dwarf_place *list, struct dwarf_signature *out)
{
    struct children walk;
    struct dwarf_die die;
    int got = -1;
    if (!first_child(d, list, &walk))
        return false;

    while ((got = next_child(d, &walk, &die)) == 1) {
        if (die.tag == DWARF_TAG_unspecified_parameters)
            out->variadic = true;
        if (die.tag != DWARF_TAG_formal_parameter || is_absent(d, f, &die))
            continue;

        if (out->nargs == DWARF_SIGNATURE_ARGS)
            return dwarf_fail(d, DWARF_UNSUPPORTED, "the function has more than %d parameters",
                              DWARF_SIGNATURE_ARGS);
        char *name = out->names[out->nargs];
        parameter_name(d, list, &die, name);
        if (!parameter_letter(d, f, list, &die, label_of(out->nargs + 1U, name),
                              &out->args[out->nargs], &out->pointees[out->nargs]))
            return false;

        out->nargs++;
    }

    out->args[out->nargs] = '\0';
    return got == 0;
}

/* --- function --- */

/* Follows the origins of the DIE and collects what they say. */
static bool read_function(struct dwarf *d, const struct dwarf_place *place, struct function *f)
{
    struct dwarf_die die;
    memset(f, 0, sizeof *f);
    f->concrete = f->abstract = *place;
    struct dwarf_place at = *place;
    if (dwarf_die_at(d, &at.unit, at.offset, &die) != DWARF_DIE)
        return false;

    for (int depth = 0; depth < DWARF_MAX_ORIGINS; depth++) {
        f->prototyped = f->prototyped || dwarf_flag(&die, DWARF_AT_PROTOTYPED);
        f->placed_in_source = f->placed_in_source || dwarf_has(&die, DWARF_AT_DECL_LINE);
        if (!f->has_result && dwarf_has(&die, DWARF_AT_TYPE)) {
            f->has_result = true;
            f->result = die.value[DWARF_AT_TYPE];
            f->result_at = at;
        }

        if (f->convention == 0 && dwarf_has(&die, DWARF_AT_CALLING_CONVENTION))
            f->convention = die.value[DWARF_AT_CALLING_CONVENTION].number;
        bool is_abstract;
        if (!dwarf_origin(d, &at, &die, &is_abstract))
            return !dwarf_has(&die, DWARF_AT_ABSTRACT_ORIGIN) &&
                   !dwarf_has(&die, DWARF_AT_SPECIFICATION);
        if (is_abstract && !f->is_clone) {
            f->abstract = at;
            f->is_clone = true;
        } else {
            f->declared = at;
            f->has_declared = true;
        }
    }

    return false;
}

/* gcc's producer string has the options; the last one that sets a level counts. */
static bool producer_left_out_types(struct dwarf *d, const struct dwarf_unit *unit)
{
    struct dwarf_unit copy = *unit;
    struct dwarf_die root;
    size_t length;
    bool level1 = false;
    if (!dwarf_unit_root(d, &copy, &root) || !dwarf_has(&root, DWARF_AT_PRODUCER))
        return false;

    const char *text = dwarf_string(d, unit, &root.value[DWARF_AT_PRODUCER], &length);
    for (size_t i = 0; text != NULL && i + 2 < length; i++) {
        if (text[i] != ' ' || text[i + 1] != '-' || text[i + 2] != 'g')
            continue;

        size_t end = i + 1;
        while (end < length && text[end] != ' ')
            end++;
        size_t option = end - i - 1;
        const char *at = text + i + 1;
        if ((option == 2 || option == 3) && (option == 2 || (at[2] >= '0' && at[2] <= '3')))
            level1 = option == 3 && at[2] == '1';
        else if (option == 6 && memcmp(at, "-ggdb", 5) == 0)
            level1 = at[5] == '1';
    }

    return level1;
}

/*
 * Debug information for backtraces (-g1, assembler) has functions without their types. They look
 * like void f(void) and must not be taken for it.
 */
static bool has_types(struct dwarf *d, const struct function *f, const struct dwarf_signature *out)
{
    const struct dwarf_unit *unit = &f->abstract.unit;
    if (unit->language == LANG_Mips_Assembler)
        return false;
    if (f->has_result || f->prototyped || out->nargs > 0 || out->variadic)
        return true;
    return f->placed_in_source && !producer_left_out_types(d, unit);
}

bool dwarf_describe_function(struct dwarf *d, const struct dwarf_place *place,
                             struct dwarf_signature *out)
{
    struct function f;
    char name[DWARF_TYPE_NAME];
    if (!read_function(d, place, &f))
        return false;

    if (f.convention > CC_program)
        return dwarf_fail(d, DWARF_UNSUPPORTED,
                          "the function does not follow the standard calling convention");
    if (!read_parameters(d, &f, &f.abstract, out))
        return false;
    if (out->nargs == 0 && !out->variadic && f.has_declared &&
        !read_parameters(d, &f, &f.declared, out))
        return false;

    if (!has_types(d, &f, out))
        return dwarf_fail(d, DWARF_NOT_DESCRIBED,
                          "the debug information has no types; compile with -g, not -g1");
    if (!dwarf_type_letter(d, &f.result_at.unit, f.has_result ? &f.result : NULL, true, &out->ret,
                           name))
        return false;

    if (out->ret == 0)
        return dwarf_fail(d, DWARF_UNSUPPORTED,
                          "the result has type %s, which the soft twin cannot return", name);
    if (out->ret == 'p')
        out->ret_pointee = dwarf_pointee_letter(d, &f.result_at.unit, &f.result);
    return d->result == DWARF_FOUND;
}
