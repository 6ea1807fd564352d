/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuse.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* A word of a sequence: what is left of an instruction without its immediate. */
struct word {
    uint64_t mask, match;
};

#define WHOLE UINT64_MAX
#define WITHOUT_IMMEDIATE UINT64_C(0xFFFFFFFF00000000)

static const struct word enter[] = {
    {WHOLE, UINT64_C(0x1109008B00000000)},             /* st %s9, (, %s11) */
    {WHOLE, UINT64_C(0x110A008B00000008)},             /* st %s10, 8(, %s11) */
    {WHOLE, UINT64_C(0x4509008B00000000)},             /* or %s9, 0, %s11 */
    {WITHOUT_IMMEDIATE, UINT64_C(0x060B008B00000000)}, /* lea %s11, frame(, %s11) */
    {WHOLE, UINT64_C(0x18058B8800000048)},             /* brge.l %s11, %s8, 72 */
};
static const struct word leave[] = {
    {WHOLE, UINT64_C(0x450B008900000000)}, /* or %s11, 0, %s9 */
    {WHOLE, UINT64_C(0x010A008B00000008)}, /* ld %s10, 8(, %s11) */
    {WHOLE, UINT64_C(0x0109008B00000000)}, /* ld %s9, (, %s11) */
    {WHOLE, UINT64_C(0x193F008A00000000)}, /* b.l.t (, %s10) */
};
/* Of the registers, which differ, address_registers() asks. */
static const struct word address[] = {
    {UINT64_C(0xFF80FFFF00000000), UINT64_C(0x0600000000000000)}, /* lea x, low */
    {UINT64_C(0xFF8080FFFFFFFFFF), UINT64_C(0x4400806000000000)}, /* and x, x, (32)0 */
    {UINT64_C(0xFF80FF8000000000), UINT64_C(0x0680008000000000)}, /* lea.sl y, high(, x) */
};

/*
 * Decodes the words of a sequence behind the first. False if they are others, or if the page has
 * fewer words than REACH.
 */
static bool matches(struct ve_decoded *decoded, const struct word *words, size_t count,
                    size_t reach)
{
    size_t left = VE_PAGE_WORDS - (decoded->address >> 3) % VE_PAGE_WORDS;
    if (left < reach || (decoded->instruction.word & words[0].mask) != words[0].match)
        return false;

    for (size_t i = 1; i < count; i++) {
        uint64_t word = *(const volatile uint64_t *)(uintptr_t)decoded[i].address;
        if ((word & words[i].mask) != words[i].match)
            return false;
    }
    for (size_t i = 1; i < count; i++) {
        uint64_t word = *(const volatile uint64_t *)(uintptr_t)decoded[i].address;
        if (!ve_decode(word, &decoded[i].instruction))
            return false;
    }
    return true;
}

static bool address_registers(const struct ve_decoded *decoded)
{
    uint8_t x = decoded[0].instruction.x;
    return x < 64 && decoded[1].instruction.x == x && decoded[1].instruction.y == x &&
           decoded[2].instruction.z == x && decoded[2].instruction.x < 64;
}

enum ve_fusion ve_fuse(struct ve_decoded *decoded)
{
    if (matches(decoded, enter, COUNT(enter), VE_ENTER_REACH))
        return VE_FUSED_ENTER;
    if (matches(decoded, leave, COUNT(leave), COUNT(leave)))
        return VE_FUSED_LEAVE;
    if (matches(decoded, address, COUNT(address), COUNT(address)) && address_registers(decoded))
        return VE_FUSED_ADDRESS;
    return VE_FUSED_NONE;
}
