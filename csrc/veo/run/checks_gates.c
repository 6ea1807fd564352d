/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/run/checks_gates.h"

#include <string.h>

#include "veo/checks/blocks.h"
#include "veo/checks/shadow.h"
#include "veo/run/gates.h"
#include "veo/run/special.h"
#include "veo/run/system.h"
#include "veo/run/thread.h"

enum {
    ARGUMENTS = 8,
    STRUCTURE = 512,     /* bytes that count as written behind a pointer */
    LIST = 64,           /* variable arguments that are looked at */
    ADDRESS_LOW = 65536, /* below are no pointers */
};
#define LARGEST ((uint64_t)1 << 32)

/* The gates themselves, as they were attached to all cores. */
static bool (*_Atomic pass)(struct ve_core *core, uint64_t address);

/* --- arguments --- */

/* Functions with arguments that a caller may leave out, from a number on. */
static unsigned required(const char *name)
{
    static const struct {
        const char *name;
        unsigned count;
    } optional[] = {{"open", 2}, {"openat", 3}, {"sem_open", 2}};
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        if (strcmp(optional[i].name, name) == 0)
            return optional[i].count;
    return ARGUMENTS;
}

static void tell_argument(const struct verun_gate_call *call, unsigned number)
{
    verun_checks_tell_gate(call, VE_FINDING_ARGUMENT, VE_CHECK_UNINITIALISED, 0, 0, number);
    if (number < ARGUMENTS)
        ve_checks_define(call->checks, number);
}

/* The bits that a value of a type has in its register. */
static uint64_t bits_of(char type)
{
    const uint64_t low = UINT32_MAX;
    return type == 'i' || type == 'u' ? low : type == 'f' ? low << 32 : UINT64_MAX;
}

static void look_at_arguments(const struct verun_gate_call *call, const char *types)
{
    unsigned count = required(call->name);
    for (unsigned i = 0; types[i] != '\0' && i < count && i < ARGUMENTS; i++)
        if ((ve_checks_undefined(call->checks, i) & bits_of(types[i])) != 0)
            tell_argument(call, i);
}

/* A variable argument: the words of all arguments are in the caller's frame. */
static void look_at_word(const struct verun_gate_call *call, unsigned number, char type)
{
    uint64_t at = call->core->s[VE_S_STACK] + VERUN_FRAME_ARGUMENTS + number * sizeof at;
    if (at < ve_checks_stack_top(call->checks) &&
        (ve_shadow_load(at, sizeof at) & bits_of(type)) != 0) {
        ve_shadow_define(at, sizeof at);
        tell_argument(call, number);
    }
}

/* Where %n writes how many characters there were. */
static void number_written(const struct verun_gate_call *call, unsigned number)
{
    uint64_t at = call->core->s[VE_S_STACK] + VERUN_FRAME_ARGUMENTS + number * sizeof at, to;
    look_at_word(call, number, 'l');
    if (at >= ve_checks_stack_top(call->checks))
        return;
    memcpy(&to, (const void *)(uintptr_t)at, sizeof to);
    if (to >= ADDRESS_LOW)
        ve_shadow_define(to, sizeof to);
}

/* The variable arguments of a format. */
static void look_at_format(const struct verun_gate_call *call, unsigned number)
{
    uint64_t hidden;
    const char *at = (const char *)(uintptr_t)call->args[number];
    if (call->args[number] < ADDRESS_LOW || ve_shadow_find_hidden(call->args[number], 1, &hidden))
        return;
    for (number++; (at = strchr(at, '%')) != NULL && number < LIST;) {
        bool is_long = false;
        for (at++; *at != '\0' && strchr("-+ #0123456789.'hlqjzt*", *at) != NULL; at++) {
            is_long = is_long || strchr("lqjzt", *at) != NULL;
            if (*at == '*')
                look_at_word(call, number++, 'i');
        }
        /* A long double has two words, and positions say that any argument may be next. */
        if (*at == '\0' || *at == 'L' || *at == '$')
            return;
        if (*at == 'n')
            number_written(call, number++);
        else if (*at != '%' && *at != 'm')
            look_at_word(call, number++, !is_long && strchr("diouxXc", *at) != NULL ? 'i' : 'l');
        at++;
    }
}

/* The number of a format among the arguments; -1 without one. */
static int format_of(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } formats[] = {{"printf", 0}, {"fprintf", 1}, {"dprintf", 1}, {"sprintf", 1}, {"snprintf", 2}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].number;
    return -1;
}

/* --- what a function may have written --- */

static void written(uint64_t address, uint64_t size)
{
    if (address >= ADDRESS_LOW)
        ve_shadow_define(address, size);
}

/* As much as the integers say that it was given, or a structure. */
static void written_by(const struct verun_gate_call *call, const char *types)
{
    uint64_t size = 1;
    for (unsigned i = 0; types[i] != '\0' && i < ARGUMENTS; i++)
        if (types[i] == 'l' && call->args[i] != 0 && call->args[i] < LARGEST / size)
            size *= call->args[i];
        else if (types[i] == 'i' && (int32_t)call->args[i] > STRUCTURE && size == 1)
            size = (uint32_t)call->args[i];
    for (unsigned i = 0; types[i] != '\0' && i < ARGUMENTS; i++)
        if (types[i] == 'p')
            written(call->args[i], size > STRUCTURE ? size : STRUCTURE);
}

/* A string that is longer than a structure, if it is where reading it is safe. */
static void string_written(const struct verun_gate_call *call, uint64_t address)
{
    uint64_t top = ve_checks_stack_top(call->checks);
    if (ve_blocks_contain(address))
        written(address, verun_string_bytes(address, UINT64_MAX));
    else if (address >= call->core->s[VE_S_STACK] && address < top)
        written(address, verun_string_bytes(address, top - address));
}

/* Behind the pointers in words of the stack, or near it. */
static void written_by_words(const struct verun_gate_call *call, uint64_t at)
{
    uint64_t end = at + LIST * sizeof at, top = ve_checks_stack_top(call->checks), hidden;
    for (; at >= call->core->s[VE_S_STACK] && at % 8 == 0 && at < end && at < top; at += sizeof at)
        if (!ve_shadow_find_hidden(at, sizeof at, &hidden)) {
            uint64_t address = *(const uint64_t *)(uintptr_t)at;
            written(address, STRUCTURE);
            string_written(call, address);
        }
}

/* Those on the registers may have more arguments, in the caller's frame, or a list of them. */
static void written_by_special(const struct verun_gate_call *call)
{
    const bool scans = strstr(call->name, "scanf") != NULL;
    for (unsigned i = 0; i < ARGUMENTS; i++) {
        written(call->args[i], STRUCTURE);
        if (scans)
            written_by_words(call, call->args[i]);
    }
    if (scans)
        written_by_words(call, call->core->s[VE_S_STACK] + VERUN_FRAME_ARGUMENTS);
}

/* --- calls --- */

static void before(const struct verun_gate_call *call, const char *types, const char *ranges)
{
    int format = format_of(call->name);
    if (types != NULL && *types != '\0')
        look_at_arguments(call, types + 2);
    if (ranges != NULL)
        verun_ranges_before(call, ranges);
    if (format >= 0)
        look_at_format(call, (unsigned)format);
    verun_elements_before(call);
    verun_heap_before(call);
}

static void after(const struct verun_gate_call *call, const char *types, const char *ranges)
{
    if (ranges != NULL)
        verun_ranges_after(call, ranges);
    else if (types != NULL && *types != '\0')
        written_by(call, types + 2);
    else
        written_by_special(call);
    for (unsigned i = 0; types == NULL && i < 4; i++)
        ve_checks_define(call->checks, i); /* results of several registers */
}

static bool checked_gate(struct ve_core *core, uint64_t address)
{
    struct verun_gate_call call = {core->checks, core, verun_gate_name(address), {0}};
    const char *types = verun_gate_types(address);
    if (call.name == NULL)
        return pass(core, address);

    memcpy(call.args, core->s, sizeof call.args);
    const char *ranges = verun_ranges_of(call.name);
    before(&call, types, ranges);
    bool goes_on = verun_heap_call(&call) || pass(core, address);
    if (goes_on) {
        after(&call, types, ranges);
        ve_checks_leave_gate(call.checks);
    }
    return goes_on;
}

/* Parameters of a system call are words before the thread pointer. */
static bool checked_monitor_call(struct ve_core *core, uint64_t number)
{
    enum { WORDS = 7, LENGTH = 3 };
    uint64_t parameters, words[WORDS];
    memcpy(&parameters, (const void *)(uintptr_t)(core->s[VE_S_THREAD] + 24), sizeof parameters);
    memcpy(words, (const void *)(uintptr_t)parameters, sizeof words);
    bool goes_on = verun_system_call(core, number);
    for (unsigned i = 1; i < WORDS; i++)
        written(words[i],
                words[LENGTH] > STRUCTURE && words[LENGTH] < LARGEST ? words[LENGTH] : STRUCTURE);
    ve_checks_define(core->checks, 0);
    return goes_on;
}

void verun_checks_gates(struct ve_core *core)
{
    pass = core->gate;
    core->gate = checked_gate;
    core->monitor_call = checked_monitor_call;
}
