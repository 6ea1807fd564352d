/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"

#include <stdio.h>
#include <string.h>

static struct test_case *cases;

void add_case(struct test_case *c)
{
    c->next = cases;
    cases = c;
}

int main(int argc, char *argv[])
{
    if (argc != 2)
        return 2;
    for (const struct test_case *c = cases; c; c = c->next) {
        if (strcmp(argv[1], "--list") == 0) {
            puts(c->name);
        } else if (strcmp(argv[1], c->name) == 0) {
            c->run();
            return 0;
        }
    }
    return strcmp(argv[1], "--list") == 0 ? 0 : 2;
}
