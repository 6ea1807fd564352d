/* SPDX-License-Identifier: BSD-3-Clause */
/* ctype.h: classes of ASCII characters. */
#ifndef DPU_RUNTIME_CTYPE_H
#define DPU_RUNTIME_CTYPE_H

#ifdef __cplusplus
extern "C" {
#endif

#define __CTYPE static inline __attribute__((unused)) int

__CTYPE isdigit(int c)
{
    return (unsigned)c - '0' < 10;
}
__CTYPE isupper(int c)
{
    return (unsigned)c - 'A' < 26;
}
__CTYPE islower(int c)
{
    return (unsigned)c - 'a' < 26;
}
__CTYPE isalpha(int c)
{
    return ((unsigned)c | 32) - 'a' < 26;
}
__CTYPE isalnum(int c)
{
    return isalpha(c) || isdigit(c);
}
__CTYPE isxdigit(int c)
{
    return isdigit(c) || ((unsigned)c | 32) - 'a' < 6;
}
__CTYPE isblank(int c)
{
    return c == ' ' || c == '\t';
}
__CTYPE isspace(int c)
{
    return c == ' ' || (unsigned)c - '\t' < 5;
}
__CTYPE iscntrl(int c)
{
    return (unsigned)c < 32 || c == 127;
}
__CTYPE isprint(int c)
{
    return (unsigned)c - 32 < 95;
}
__CTYPE isgraph(int c)
{
    return (unsigned)c - 33 < 94;
}
__CTYPE ispunct(int c)
{
    return isgraph(c) && !isalnum(c);
}
__CTYPE tolower(int c)
{
    return isupper(c) ? c + 32 : c;
}
__CTYPE toupper(int c)
{
    return islower(c) ? c - 32 : c;
}
__CTYPE isascii(int c)
{
    return (unsigned)c < 128;
}
__CTYPE toascii(int c)
{
    return c & 127;
}

#undef __CTYPE
#ifdef __cplusplus
}
#endif

#endif
