/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times veo_read_mem() and veo_write_mem() of memory from veo_alloc_mem() at several offsets in a
 * page.
 *
 * veo_offsets ROUNDS SIZE...
 */
#include <stdint.h>

#include <ve_offload.h>

#include "benchmarks/common/copy_offsets.h"

struct sides {
    struct veo_proc_handle *proc;
    uint64_t ve;
    uint8_t *host, *other, *back;
};

static void read_ve(const struct offset_case *one, size_t to, size_t from)
{
    const struct sides *s = one->context;
    if (veo_read_mem(s->proc, s->host + to, s->ve + from, one->size) != 0)
        fail("veo_read_mem() failed");
}

static void write_ve(const struct offset_case *one, size_t to, size_t from)
{
    const struct sides *s = one->context;
    if (veo_write_mem(s->proc, s->ve + to, s->host + from, one->size) != 0)
        fail("veo_write_mem() failed");
}

static void read_plain(const struct offset_case *one, size_t to, size_t from)
{
    const struct sides *s = one->context;
    memcpy(s->host + to, s->other + from, one->size);
    __asm__ volatile("" : : "r"(s->host) : "memory");
}

static void write_plain(const struct offset_case *one, size_t to, size_t from)
{
    const struct sides *s = one->context;
    memcpy(s->other + to, s->host + from, one->size);
    __asm__ volatile("" : : "r"(s->other) : "memory");
}

/* The VE's bytes at OFFSET, against the host's at ITS. */
static bool same(const struct offset_case *one, size_t offset, size_t its)
{
    const struct sides *s = one->context;
    return veo_read_mem(s->proc, s->back, s->ve + offset, one->size) == 0 &&
           memcmp(s->back, s->host + its, one->size) == 0;
}

static bool read_is_right(const struct offset_case *one, size_t to, size_t from)
{
    return same(one, from, to);
}

static bool write_is_right(const struct offset_case *one, size_t to, size_t from)
{
    return same(one, to, from);
}

static void measure(struct sides *s, size_t size, size_t rounds)
{
    const size_t room = size + PAGE;
    if (veo_alloc_mem(s->proc, &s->ve, room + PAGE) != 0)
        fail("veo_alloc_mem() failed");
    const uint64_t allocated = s->ve;
    s->ve = (s->ve + PAGE - 1) / PAGE * PAGE;
    s->host = new_pages(room, 1);
    s->other = new_pages(room, 2);
    s->back = new_pages(size, 3);
    fill_random(s->host, room, 5);

    const struct offset_case to_ve = {"heap write", size,        CLOCK_THREAD_CPUTIME_ID, s,
                                      write_ve,     write_plain, write_is_right};
    measure_offsets(&to_ve, rounds);
    veo_write_mem(s->proc, s->ve, s->host, room);
    memset(s->host, 0, room);
    const struct offset_case from_ve = {
        "heap read", size, CLOCK_THREAD_CPUTIME_ID, s, read_ve, read_plain, read_is_right};
    measure_offsets(&from_ve, rounds);

    veo_free_mem(s->proc, allocated);
    free(s->host);
    free(s->other);
    free(s->back);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    struct sides s = {.proc = veo_proc_create(0)};
    if (s.proc == NULL)
        fail("no VE process");

    for (int i = 2; i < argc; i++)
        measure(&s, strtoull(argv[i], NULL, 0), strtoull(argv[1], NULL, 0));
    veo_proc_destroy(s.proc);
    return 0;
}
