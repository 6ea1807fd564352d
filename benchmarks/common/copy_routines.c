/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times copy_memory() and the routines behind it at several offsets in a page.
 *
 * copy_routines ROUNDS SIZE...
 */
#include <stdint.h>

#include "common/copy.h"
#include "copy_offsets.h"

struct sides {
    uint8_t *to, *from;
    void (*copy)(void *to, const void *from, size_t bytes);
};

static void by_routine(const struct offset_case *one, size_t to, size_t from)
{
    const struct sides *s = one->context;
    s->copy(s->to + to, s->from + from, one->size);
}

static void by_memcpy(const struct offset_case *one, size_t to, size_t from)
{
    const struct sides *s = one->context;
    memcpy(s->to + to, s->from + from, one->size);
    __asm__ volatile("" : : "r"(s->to) : "memory");
}

static bool is_right(const struct offset_case *one, size_t to, size_t from)
{
    const struct sides *s = one->context;
    return memcmp(s->to + to, s->from + from, one->size) == 0;
}

static void measure(struct sides *s, const char *name, size_t size, size_t rounds)
{
    const struct offset_case one = {name,      size,    CLOCK_THREAD_CPUTIME_ID, s, by_routine,
                                    by_memcpy, is_right};
    measure_offsets(&one, rounds);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const size_t rounds = strtoull(argv[1], NULL, 0);

    for (int i = 2; i < argc; i++) {
        const size_t size = strtoull(argv[i], NULL, 0);
        struct sides s = {.to = new_pages(size + PAGE, 1), .from = new_pages(size + PAGE, 2)};
        fill_random(s.from, size + PAGE, 3);

        s.copy = copy_memory;
        measure(&s, "copy_memory", size, rounds);
        const struct copy_routine *routine;
        for (size_t j = 0; size >= COPY_VECTORS_LEAST && (routine = copy_routine(j)) != NULL; j++) {
            s.copy = routine->copy;
            if (routine->is_supported())
                measure(&s, routine->name, size, rounds);
        }

        free(s.to);
        free(s.from);
    }
    return 0;
}
