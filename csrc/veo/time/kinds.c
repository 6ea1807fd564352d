/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

#include <string.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* True if one of the words between blanks in WORDS begins TEXT. */
static bool begins_with_one(const char *text, const char *words)
{
    while (*words != '\0') {
        size_t length = strcspn(words, " ");
        if (strncmp(text, words, length) == 0)
            return true;
        words += length + (words[length] == ' ');
    }
    return false;
}

/* --- registers --- */

/* The field, or fields, of an operand. */
static unsigned register_of(const char *operand)
{
    bool mask = strstr(operand, ":vm") == operand + 2;
    switch (operand[0]) {
    case 's':
        switch (operand[1]) {
        case 'x': return VE_TIME_SX;
        case 'y': return VE_TIME_SY;
        case 'z': return VE_TIME_SZ;
        default: return VE_TIME_SW;
        }
    case 'v':
        switch (operand[1]) {
        case 'x': return mask ? VE_TIME_MX : VE_TIME_VX;
        case 'y': return mask ? VE_TIME_MY : VE_TIME_VY;
        case 'z': return mask ? VE_TIME_MZ : VE_TIME_VZ;
        default: return VE_TIME_VW;
        }
    case 'm': return VE_TIME_SY | VE_TIME_SZ; /* mem */
    case 'b': return begins(operand, "ba") || begins(operand, "br") ? VE_TIME_SZ : 0;
    case 'h': return VE_TIME_SZ; /* host */
    default: return 0;
    }
}

static bool is_store(const char *mnemonic)
{
    return begins_with_one(mnemonic, "st vst vsc shm");
}

static void find_registers(const char *operands, const char *mnemonic, struct ve_time_kind *kind)
{
    char text[96];
    bool first = true;
    strncpy(text, operands, sizeof text - 1);
    text[sizeof text - 1] = '\0';

    for (char *rest = text, *operand; (operand = strsep(&rest, ", ()")) != NULL;) {
        if (*operand == '\0')
            continue;
        unsigned found = register_of(operand);
        if (strchr(operand, '|') != NULL) {
            kind->reads |= operand[1] == 'y' ? VE_TIME_Y_MAY_BE_SCALAR : VE_TIME_Z_MAY_BE_SCALAR;
        }
        /* The first is the result, if the operation has one. */
        if (first && operand[1] == 'x' && !is_store(mnemonic))
            kind->writes |= (uint16_t)found;
        else
            kind->reads |= (uint16_t)found;
        first = false;
    }
}

/* --- pipes --- */

static uint8_t bytes_of(const char *mnemonic)
{
    return strchr("ul", mnemonic[3]) != NULL && mnemonic[3] != '\0' ? 4 : 8;
}

static enum ve_time_pipe vector_pipe(const char *mnemonic)
{
    if (begins_with_one(mnemonic, "vld2d vldu2d vldl2d"))
        return VE_TIME_LOAD;
    if (begins_with_one(mnemonic, "vldz pvldz"))
        return VE_TIME_ALU;
    if (begins(mnemonic, "vld") || begins(mnemonic, "pfchv"))
        return VE_TIME_LOAD;
    if (begins(mnemonic, "vst"))
        return VE_TIME_STORE;
    if (begins(mnemonic, "vgt"))
        return VE_TIME_GATHER;
    if (begins(mnemonic, "vsc"))
        return VE_TIME_SCATTER;
    if (begins_with_one(mnemonic, "vfia. vfis. vfim. vfiam. vfism. vfima. vfims."))
        return VE_TIME_RECURRENCE;
    if (begins_with_one(mnemonic, "vfdiv vfsqrt vdiv"))
        return VE_TIME_DIVIDE;
    if (begins_with_one(mnemonic, "vfmk pvfmk"))
        return VE_TIME_ALU;
    return begins_with_one(mnemonic, "vf pvf vrcp pvrcp vrsqrt pvrsqrt vmul") ? VE_TIME_FMA
                                                                              : VE_TIME_ALU;
}

static enum ve_time_pipe scalar_pipe(const char *mnemonic)
{
    if (begins_with_one(mnemonic, "ldz lea lvl lvix lvm"))
        return VE_TIME_SCALAR;
    if (begins_with_one(mnemonic, "ld dld lhm ts atmam cas"))
        return VE_TIME_SCALAR_LOAD;
    if (begins_with_one(mnemonic, "fdiv div"))
        return VE_TIME_SCALAR_DIVIDE;
    return begins_with_one(mnemonic, "fa fs fm fc cvt mul") ? VE_TIME_SCALAR_FLOAT : VE_TIME_SCALAR;
}

static bool multiplies_and_adds(const char *mnemonic)
{
    return begins_with_one(mnemonic, "vfmad vfmsb vfnmad vfnmsb pvfmad pvfmsb pvfnmad pvfnmsb");
}

/* As the counter of the machine counts them: an operation for each add, multiplication, division,
 * comparison or conversion, two for those that multiply and add. */
static uint8_t flops_of(const char *mnemonic, bool fma)
{
    bool counted =
        begins_with_one(mnemonic, "vfadd vfsub vfmul vfdiv vfsqrt vfcmp vfmax vfmin vfsum"
                                  " pvfadd pvfsub pvfmul pvfcmp pvfmax pvfmin") ||
        begins_with_one(mnemonic, "fadd fsub fmul fdiv fcmp");
    bool both = begins(mnemonic, "pvf") && strstr(mnemonic, ".lo") == NULL &&
                strstr(mnemonic, ".up") == NULL;
    unsigned each = fma ? 2 : counted || begins_with_one(mnemonic, "vfi") ? 1 : 0;
    return (uint8_t)(both ? 2 * each : each);
}

struct ve_time_kind ve_time_kind(uint32_t operation)
{
    const struct ve_operation_info *info = ve_operation_info(operation);
    struct ve_time_kind kind = {0};
    kind.vector = info->format == VE_FORMAT_RV || info->format == VE_FORMAT_RVM;
    kind.pipe = kind.vector ? vector_pipe(info->mnemonic) : scalar_pipe(info->mnemonic);
    kind.fma = kind.vector && multiplies_and_adds(info->mnemonic);
    kind.flops = flops_of(info->mnemonic, kind.fma);
    kind.bytes = kind.pipe >= VE_TIME_LOAD ? bytes_of(info->mnemonic) : 0;
    kind.whole = begins_with_one(info->mnemonic, "vfsum vsum vrmax vrmin vfrmax vfrmin vrand vror "
                                                 "vrxor pcvm lzvm tovm");
    find_registers(info->operands, info->mnemonic, &kind);
    /* Moves between elements and scalars are of the scalar formats. */
    if (begins_with_one(info->mnemonic, "lvs svm"))
        kind.whole = true;
    return kind;
}
