/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c: the table of instructions, and its operands parsed on first use. */
#include "fields.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

static const struct ve_operation_info rows[VE_OPERATION_COUNT] = {
#define INSTRUCTION(operation, mnemonic, format, mask, match, operands, masking, causes, meaning) \
    {#operation,        mnemonic,        operands,           meaning, \
     UINT64_C(mask),    UINT64_C(match), VE_FORMAT_##format, VE_MASKING_##masking, \
     VE_CAUSES_##causes},
#include "veo/isa/instructions.def"
#undef INSTRUCTION
};

/* Made from the rows on first use and only read afterwards. */
static struct {
    pthread_once_t once;
    struct ve_operands operands[VE_OPERATION_COUNT];
    uint16_t by_opcode[VE_OPERATION_COUNT];
    uint16_t start[257];
} parsed = {.once = PTHREAD_ONCE_INIT};

static const struct {
    const char *text;
    uint8_t field;
} fields[] = {
    {"sx", VE_FIELD_SX},         {"sy", VE_FIELD_SY},     {"sz", VE_FIELD_SZ},
    {"sw", VE_FIELD_SW},         {"vx", VE_FIELD_VX},     {"vy", VE_FIELD_VY},
    {"vz", VE_FIELD_VZ},         {"vw", VE_FIELD_VW},     {"mem", VE_FIELD_MEM},
    {"base", VE_FIELD_BASE},     {"host", VE_FIELD_HOST}, {"branch", VE_FIELD_BRANCH},
    {"target", VE_FIELD_TARGET}, {"kind", VE_FIELD_KIND},
};

static const struct {
    const char *text;
    uint8_t place;
} places[] = {
    {"pair", VE_PLACE_PAIR},  {"reg", VE_PLACE_REGISTER}, {"0", VE_PLACE_ZERO},
    {"m", VE_PLACE_MASK},     {"misc", VE_PLACE_MISC},    {"vm", VE_PLACE_VM},
    {"u", VE_PLACE_UNSIGNED}, {"i", VE_PLACE_IMMEDIATE},
};

/* Parses "sy:u7" at *TEXT and moves *TEXT behind it. */
static struct ve_operand parse_operand(const char **text)
{
    struct ve_operand operand = {0};
    const char *end = *text;
    while (islower((unsigned char)*end))
        end++;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strlen(fields[i].text) == (size_t)(end - *text) &&
            strncmp(fields[i].text, *text, (size_t)(end - *text)) == 0)
            operand.field = fields[i].field;

    if (*end == ':') {
        const char *place = ++end;
        while (islower((unsigned char)*end))
            end++;
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
            if (strncmp(places[i].text, place, strlen(places[i].text)) == 0 &&
                (end == place || strlen(places[i].text) == (size_t)(end - place)))
                operand.place = places[i].place;
        if (isdigit((unsigned char)*end))
            operand.bits = (uint8_t)(*end++ - '0');
    }

    operand.selects = *end == '|';
    *text = end;
    return operand;
}

static void parse_operands(const char *text, struct ve_operands *operands)
{
    const char *start = text;
    while (*text != '\0') {
        if (!islower((unsigned char)*text)) {
            text++;
            continue;
        }
        const char *begin = text;
        struct ve_operand operand = parse_operand(&text);
        operand.text = (uint8_t)(begin - start);
        operand.length = (uint8_t)(text - begin);
        if (operands->count == VE_OPERANDS_MAX)
            __builtin_trap(); /* the table grew: make the array longer */
        operands->list[operands->count++] = operand;
    }
}

static void parse(void)
{
    for (uint32_t i = 0; i < VE_OPERATION_COUNT; i++)
        parse_operands(rows[i].operands, &parsed.operands[i]);

    uint16_t count = 0;
    for (uint32_t opcode = 0; opcode < 256; opcode++) {
        parsed.start[opcode] = count;
        for (uint32_t i = 0; i < VE_OPERATION_COUNT; i++)
            if (rows[i].match >> 56 == opcode)
                parsed.by_opcode[count++] = (uint16_t)i;
    }
    parsed.start[256] = count;
}

const struct ve_operation_info *ve_operation_info(uint32_t operation)
{
    return &rows[operation];
}

const struct ve_operands *ve_operands_of(uint32_t operation)
{
    pthread_once(&parsed.once, parse);
    return &parsed.operands[operation];
}

uint32_t ve_operations_with(uint8_t opcode, const uint16_t **list)
{
    pthread_once(&parsed.once, parse);
    *list = &parsed.by_opcode[parsed.start[opcode]];
    return (uint32_t)(parsed.start[opcode + 1] - parsed.start[opcode]);
}

bool ve_operand_stands(const struct ve_operands *operands, uint32_t index,
                       const struct ve_instruction *instruction)
{
    const struct ve_operand *operand = &operands->list[index];
    const struct ve_operand *first = operand->selects                   ? operand
                                     : index > 0 && operand[-1].selects ? operand - 1
                                                                        : NULL;
    if (first == NULL)
        return true;
    bool other = (first->field == VE_FIELD_VZ ? instruction->cs2 : instruction->cs) != 0;
    return other == (operand != first);
}

const char *ve_miscellaneous_name(uint8_t number)
{
    switch (number) {
#define MISCELLANEOUS(name, text, number) \
    case number: return text;
#include "veo/isa/miscellaneous.def"
#undef MISCELLANEOUS
    default: return NULL;
    }
}
