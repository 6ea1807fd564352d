/* SPDX-License-Identifier: BSD-3-Clause */
#include "state.h"

#include <pthread.h>
#include <string.h>

#include "veo/time/kinds.h"

static struct ve_fact facts[VE_OPERATION_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool begins_with_one(const char *text, const char *const *words)
{
    while (*words != NULL && !begins(text, *words))
        words++;
    return *words != NULL;
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static uint8_t bytes_of(const char *mnemonic)
{
    static const char *const eights[] = {"ld",    "st",    "dld",   "lhm.l", "shm.l", "ts1am.l",
                                         "ts2am", "ts3am", "atmam", "cas.l", "vld",   "vst",
                                         "vgt",   "vsc",   "vld2d", "vst2d", NULL};
    if (has(mnemonic, "1b") || has(mnemonic, "hm.b"))
        return 1;
    if (has(mnemonic, "2b") || has(mnemonic, "hm.h"))
        return 2;
    for (size_t i = 0; eights[i] != NULL; i++)
        if (strcmp(mnemonic, eights[i]) == 0)
            return 8;
    return 4;
}

static enum ve_fact_kind vector_kind(const char *mnemonic, const struct ve_time_kind *kind)
{
    static const char *const moves[] = {"vmv",  "vcp",   "vex",  "vshf", "vmrg",
                                        "vbrd", "pvbrd", "vsrd", "vsld", NULL};
    static const char *const masks[] = {"andm", "orm", "xorm", "eqvm", "nndm", "negm", NULL};
    static const char *const counts[] = {"pcvm", "lzvm", "tovm", NULL};
    if (begins(mnemonic, "pfchv"))
        return VE_FACT_NOTHING;
    if (begins_with_one(mnemonic, masks))
        return VE_FACT_MASK_COMBINED;
    if (begins_with_one(mnemonic, counts))
        return VE_FACT_MASK_COUNTED;
    if (has(mnemonic, "vfmk"))
        return VE_FACT_MASK_MADE;
    if (begins_with_one(mnemonic, moves))
        return VE_FACT_MOVE;
    if (kind->whole)
        return VE_FACT_REDUCE;

    switch (kind->pipe) {
    case VE_TIME_RECURRENCE: return VE_FACT_RECUR;
    case VE_TIME_LOAD: return VE_FACT_VECTOR_LOAD;
    case VE_TIME_STORE: return VE_FACT_VECTOR_STORE;
    case VE_TIME_GATHER: return VE_FACT_GATHER;
    case VE_TIME_SCATTER: return VE_FACT_SCATTER;
    default: return VE_FACT_VECTOR;
    }
}

static enum ve_fact_kind scalar_kind(const struct ve_operation_info *info)
{
    static const struct {
        const char *begins;
        enum ve_fact_kind kind;
    } kinds[] = {
        {"br?", VE_FACT_BRANCH},      {"b?", VE_FACT_JUMP},         {"bsic", VE_FACT_CALL},
        {"bswp", VE_FACT_SCALAR},     {"brv", VE_FACT_SCALAR},      {"lvl", VE_FACT_LENGTH},
        {"lsv", VE_FACT_ELEMENT_SET}, {"lvs", VE_FACT_ELEMENT_GOT}, {"lvm", VE_FACT_MASK_SET},
        {"svm", VE_FACT_MASK_GOT},    {"ldz", VE_FACT_SCALAR},      {"ts1am", VE_FACT_ATOMIC},
        {"ts2am", VE_FACT_ATOMIC},    {"ts3am", VE_FACT_ATOMIC},    {"atmam", VE_FACT_ATOMIC},
        {"cas", VE_FACT_ATOMIC},      {"dld", VE_FACT_LOAD},        {"ld", VE_FACT_LOAD},
        {"lhm", VE_FACT_LOAD},        {"shm", VE_FACT_STORE},       {"st", VE_FACT_STORE},
        {"pfch", VE_FACT_NOTHING},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins(info->mnemonic, kinds[i].begins))
            return kinds[i].kind;
    return begins(info->operands, "sx") ? VE_FACT_SCALAR : VE_FACT_NOTHING;
}

/* The part of a source that a letter of a type stands for; "w" is the lower half, "s" the upper
 * one. */
static enum ve_fact_part part_of_type(char letter)
{
    return letter == 'w' ? VE_PART_LOW : letter == 's' ? VE_PART_HIGH : VE_PART_ALL;
}

/* "cvt.TO.FROM", behind "v" or "pv" too. */
static void find_conversion(const char *types, bool is_packed, struct ve_fact *fact)
{
    fact->from = (uint8_t)part_of_type(types[2]);
    fact->to = (uint8_t)part_of_type(types[0]);
    if (types[0] == 'w' && !has(types, ".zx"))
        fact->to = VE_PART_ALL;
    if (is_packed) /* both halves, or one to itself */
        fact->from = fact->to = has(types, ".lo")   ? VE_PART_LOW
                                : has(types, ".up") ? VE_PART_HIGH
                                                    : VE_PART_HALVES;
}

static void find_parts(const char *m, struct ve_fact *fact)
{
    bool is_packed = begins(m, "pv");
    const char *conversion = strstr(m, "cvt.");
    fact->from = fact->to = VE_PART_ALL;
    if (conversion != NULL) {
        find_conversion(conversion + 4, is_packed, fact);
    } else if (has(m, ".lo") || begins(m, "vbrdl")) {
        fact->from = fact->to = VE_PART_LOW;
    } else if (has(m, ".up") || begins(m, "vbrdu")) {
        fact->from = fact->to = VE_PART_HIGH;
    } else if (is_packed || begins(m, "vmrg.w")) {
        fact->from = fact->to = VE_PART_HALVES;
    } else if (has(m, ".l.w")) {
        fact->from = VE_PART_LOW;
    } else if (has(m, ".w")) {
        fact->from = VE_PART_LOW;
        fact->to = has(m, ".zx") || has(m, "u.w") ? VE_PART_LOW : VE_PART_ALL;
    } else if (has(m, ".s") && !has(m, ".sx") && !has(m, ".sl")) {
        fact->from = fact->to = VE_PART_HIGH;
    }
}

static void fill(void)
{
    for (uint32_t operation = 0; operation < VE_OPERATION_COUNT; operation++) {
        const struct ve_operation_info *info = ve_operation_info(operation);
        const struct ve_time_kind kind = ve_time_kind(operation);
        struct ve_fact *fact = &facts[operation];
        fact->kind =
            (uint8_t)(kind.vector ? vector_kind(info->mnemonic, &kind) : scalar_kind(info));
        fact->bytes = bytes_of(info->mnemonic);
        fact->is_2d = has(info->mnemonic, "2d");
        fact->is_pair = has(info->operands, ":pair");
        fact->reads = kind.reads;
        fact->writes = kind.writes;
        find_parts(info->mnemonic, fact);
    }
}

const struct ve_fact *ve_fact_of(uint32_t operation)
{
    pthread_once(&once, fill);
    return &facts[operation];
}
