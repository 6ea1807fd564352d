/* SPDX-License-Identifier: BSD-3-Clause */
#include "formats/dwarf_cursor.h"

#include <string.h>

struct dwarf_cursor dwarf_cursor(const struct dwarf *d, enum dwarf_section section, uint64_t at)
{
    size_t size = d->section[section].size;
    struct dwarf_cursor c = {d->section[section].data, 0, size, at > size};
    c.at = c.bad ? size : (size_t)at;
    return c;
}

const uint8_t *dwarf_skip(struct dwarf_cursor *c, uint64_t bytes)
{
    if (c->bad || bytes > c->end - c->at) {
        c->bad = true;
        return NULL;
    }
    const uint8_t *here = c->base + c->at;
    c->at += (size_t)bytes;
    return here;
}

uint64_t dwarf_fixed(struct dwarf_cursor *c, unsigned bytes)
{
    const uint8_t *p = dwarf_skip(c, bytes);
    uint64_t value = 0;
    if (bytes == sizeof(uint32_t) && p != NULL) { /* what most are, on a host of that order */
        uint32_t word;
        memcpy(&word, p, sizeof word);
        return word;
    }
    for (unsigned i = 0; p != NULL && i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

/* Bits above 64 are dropped; *SIGN is the last byte's sign bit, *BITS how many were read. */
static uint64_t leb(struct dwarf_cursor *c, bool *sign, unsigned *bits)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (;;) {
        if (c->bad || c->at >= c->end) {
            c->bad = true;
            return 0;
        }

        uint8_t byte = c->base[c->at++];
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift = shift < 64 ? shift + 7 : shift;
        if ((byte & 0x80) == 0) {
            *sign = (byte & 0x40) != 0;
            *bits = shift;
            return value;
        }
    }
}

uint64_t dwarf_long_uleb(struct dwarf_cursor *c)
{
    bool sign;
    unsigned bits;
    return leb(c, &sign, &bits);
}

int64_t dwarf_sleb(struct dwarf_cursor *c)
{
    bool sign = false;
    unsigned bits = 64;
    uint64_t value = leb(c, &sign, &bits);
    if (sign && bits < 64)
        value |= UINT64_MAX << bits;
    return (int64_t)value;
}
