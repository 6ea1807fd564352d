/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regex.h: <regex.h> of Vector Engine code, with the types that the host's functions have, as those
 * of the Vector Engine's C library. Those of musl's header are others.
 */
#ifndef VE_CODE_REGEX_H
#define VE_CODE_REGEX_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int regoff_t;

typedef struct {
    void *of_the_library[6];
    size_t re_nsub;
    unsigned long flags_of_the_library;
} regex_t;

typedef struct {
    regoff_t rm_so;
    regoff_t rm_eo;
} regmatch_t;

/* Of regcomp() */
#define REG_EXTENDED 1
#define REG_ICASE 2
#define REG_NEWLINE 4
#define REG_NOSUB 8

/* Of regexec() */
#define REG_NOTBOL 1
#define REG_NOTEOL 2
#define REG_STARTEND 4

enum {
    REG_OK,
    REG_NOMATCH,
    REG_BADPAT,
    REG_ECOLLATE,
    REG_ECTYPE,
    REG_EESCAPE,
    REG_ESUBREG,
    REG_EBRACK,
    REG_EPAREN,
    REG_EBRACE,
    REG_BADBR,
    REG_ERANGE,
    REG_ESPACE,
    REG_BADRPT
};

int regcomp(regex_t *__restrict expression, const char *__restrict pattern, int flags);
int regexec(const regex_t *__restrict expression, const char *__restrict text, size_t room,
            regmatch_t *__restrict matches, int flags);
size_t regerror(int error, const regex_t *__restrict expression, char *__restrict text,
                size_t room);
void regfree(regex_t *expression);

#ifdef __cplusplus
}
#endif

#endif
