/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many small programs in one executable, each a CASE: `cases NAME` runs one, `cases --list` names
 * them. A case has a process for itself and fails by ending it.
 */
#ifndef CASE_H
#define CASE_H

struct test_case {
    const char *name;
    void (*run)(void);
    struct test_case *next;
};

void add_case(struct test_case *c);

#define CASE(label) \
    static void run_##label(void); \
    __attribute__((constructor)) static void add_##label(void) \
    { \
        static struct test_case c = {.name = #label, .run = run_##label}; \
        add_case(&c); \
    } \
    static void run_##label(void)

#endif
