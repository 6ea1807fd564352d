/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory: transfers, allocation, hmem, hooks. */
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#include "cases.h"
#include "veosoft.h"

CASE(transfers_of_all_small_sizes_and_alignments)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *ctx = veo_context_open(f.proc);
    uint64_t heap;
    CHECK_EQUAL(veo_alloc_mem(f.proc, &heap, 4096), 0);
    veo_args_set_u64(f.args, 0, 4096);
    uint64_t kernels_own = call(&f, f.ctx, "get_memory");
    uint64_t places[2] = {heap, kernels_own};
    for (int place = 0; place < 2; place++) {
        for (size_t size = 0; size <= 65; size++) {
            char there[80];
            char back[80] = {0};
            for (size_t i = 0; i < size; i++)
                there[i] = (char)(size * 7 + i);
            uint64_t at = places[place] + size % 13;
            CHECK_EQUAL(veo_write_mem(f.proc, at, there, size), 0);
            CHECK_EQUAL(veo_read_mem(f.proc, back, at, size), 0);
            CHECK(memcmp(there, back, size) == 0 && back[size] == 0);
            for (size_t i = 0; i < size; i++)
                there[i] = (char)~there[i];
            uint64_t wrote = veo_async_write_mem(ctx, at, there, size);
            uint64_t read = veo_async_read_mem(ctx, back, at, size);
            CHECK_EQUAL(wait_ok(ctx, read), 0);
            CHECK_EQUAL(wait_ok(ctx, wrote), 0);
            CHECK(memcmp(there, back, size) == 0 && back[size] == 0);
        }
    }
    CHECK_EQUAL(veo_free_mem(f.proc, heap), 0);
    CHECK_EQUAL(veo_free_mem(f.proc, kernels_own), 0);
    tear_down(&f);
}

CASE(symbols_are_read_and_written)
{
    struct fixture f = set_up();
    uint64_t at = symbol(&f, "pattern");
    uint64_t value = 0;
    CHECK_EQUAL(veo_read_mem(f.proc, &value, at, sizeof value), 0);
    CHECK(value == 0xdeadbeefc0ffee00);
    /* Five bytes in the middle. */
    const unsigned char bytes[5] = {0xef, 0xc0, 0x00, 0x01, 0x02};
    wait_ok(f.ctx, veo_async_write_mem(f.ctx, at + 1, bytes, sizeof bytes));
    wait_ok(f.ctx, veo_async_read_mem(f.ctx, &value, at, sizeof value));
    CHECK(value == 0xdead020100c0ef00);
    tear_down(&f);
}

CASE(large_transfers)
{
    static const size_t sizes[] = {4095, 4096, 4097, 32768, 32769, 1 << 20, (8 << 20) + 1};
    struct fixture f = set_up();
    struct veo_thr_ctxt *ctx = veo_context_open(f.proc);
    size_t most = (8 << 20) + 1;
    unsigned char *there = malloc(most);
    unsigned char *back = malloc(most);
    uint64_t heap;
    CHECK_EQUAL(veo_alloc_mem(f.proc, &heap, most), 0);
    veo_args_set_u64(f.args, 0, most);
    uint64_t kernels_own = call(&f, f.ctx, "get_memory");
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i / 2];
        uint64_t at = i % 2 ? kernels_own : heap;
        for (size_t k = 0; k < size; k++)
            there[k] = (unsigned char)(k * 31 + i);
        CHECK_EQUAL(veo_write_mem(f.proc, at, there, size), 0);
        memset(back, 0, size);
        wait_ok(ctx, veo_async_read_mem(ctx, back, at, size));
        CHECK(memcmp(there, back, size) == 0);
        for (size_t k = 0; k < size; k++)
            there[k] ^= 0xff;
        wait_ok(ctx, veo_async_write_mem(ctx, at, there, size));
        CHECK_EQUAL(veo_read_mem(f.proc, back, at, size), 0);
        CHECK(memcmp(there, back, size) == 0);
    }
    free(there);
    free(back);
    tear_down(&f);
}

CASE(a_bad_address_fails_and_the_process_lives)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *ctx = veo_context_open(f.proc);
    static char buffer[100000];
    uint64_t result;
    CHECK_EQUAL(veo_read_mem(f.proc, buffer, 16, 100), -1);
    CHECK_EQUAL(veo_write_mem(f.proc, 16, buffer, 100), -1);
    CHECK_EQUAL(errno, EFAULT);
    CHECK_EQUAL(veo_write_mem(f.proc, symbol(&f, "count"), buffer, 4), -1); /* code */
    CHECK_EQUAL(veo_read_mem(f.proc, NULL, symbol(&f, "table"), 8), -1);
    static const size_t sizes[] = {100, sizeof buffer};
    for (int i = 0; i < 2; i++) {
        uint64_t id = veo_async_read_mem(ctx, buffer, 16, sizes[i]);
        CHECK_EQUAL(veo_call_wait_result(ctx, id, &result), VEO_COMMAND_EXCEPTION);
        CHECK_EQUAL(result, SIGSEGV);
    }
    CHECK_EQUAL(call(&f, ctx, "count"), 0);
    tear_down(&f);
}

CASE(sync_transfers_wait_for_the_main_context)
{
    struct fixture f = set_up();
    uint64_t at = symbol(&f, "table");
    int64_t value = 0;
    int64_t input = 77;
    veo_args_set_u64(f.args, 0, 50000);
    uint64_t nap = symbol(&f, "nap");
    uint64_t a = veo_call_async(f.ctx, nap, f.args);
    veo_async_write_mem(f.ctx, at, &input, sizeof input);
    CHECK_EQUAL(veo_read_mem(f.proc, &value, at, sizeof value), 0);
    CHECK_EQUAL(value, 77);
    wait_ok(f.ctx, a);
    tear_down(&f);
}

CASE(allocation_and_its_errors)
{
    struct fixture f = set_up();
    uint64_t a;
    uint64_t b;
    CHECK_EQUAL(veo_alloc_mem(f.proc, &a, 0), 0);
    CHECK(a != 0);
    CHECK_EQUAL(veo_alloc_mem(f.proc, &b, 100), 0);
    CHECK(b != a && b % 64 == 0);
    CHECK_EQUAL(veo_free_mem(f.proc, b + 8), -1);
    CHECK_EQUAL(veo_free_mem(f.proc, b), 0);
    CHECK_EQUAL(veo_free_mem(f.proc, b), -1);
    CHECK_EQUAL(veo_free_mem(f.proc, 0), 0);
    CHECK_EQUAL(veo_free_mem(f.proc, a), 0);
    CHECK_EQUAL(veosoft_heap_used(f.proc), 0);
    CHECK_EQUAL(veo_alloc_mem(f.proc, &a, SIZE_MAX / 2), -1);
    CHECK(a == 0);
    CHECK_EQUAL(veo_alloc_mem(f.proc, &a, SIZE_MAX), -1);
    CHECK_EQUAL(veo_alloc_mem(f.proc, NULL, 1), -2);
    CHECK_EQUAL(veo_alloc_mem(NULL, &a, 1), -2);
    tear_down(&f);
}

CASE(asynchronous_allocation_is_in_order)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *ctx = veo_context_open(f.proc);
    char text[] = "in order";
    char back[sizeof text] = "";
    for (int i = 0; i < 1000; i++) {
        uint64_t at = wait_ok(ctx, veo_alloc_mem_async(ctx, sizeof text));
        CHECK(at != 0);
        veo_async_write_mem(ctx, at, text, sizeof text);
        uint64_t read = veo_async_read_mem(ctx, back, at, sizeof text);
        uint64_t freed = veo_free_mem_async(ctx, at);
        CHECK_EQUAL(wait_ok(ctx, freed), 0);
        wait_ok(ctx, read);
        CHECK(strcmp(back, text) == 0);
    }
    CHECK_EQUAL(veosoft_heap_used(f.proc), 0);
    /* There is room for one only: the second gets it when the first is freed. */
    setenv("VEO_SOFT_MEMORY", "4M", 1);
    struct veo_proc_handle *small = veo_proc_create(0);
    struct veo_thr_ctxt *main = veo_context_open(small);
    uint64_t first = wait_ok(main, veo_alloc_mem_async(main, 3 << 20));
    CHECK(first != 0);
    uint64_t freed = veo_free_mem_async(main, first);
    uint64_t again = veo_alloc_mem_async(main, 3 << 20);
    CHECK_EQUAL(wait_ok(main, freed), 0);
    CHECK(wait_ok(main, again) != 0);
    CHECK_EQUAL(wait_ok(main, veo_alloc_mem_async(main, 3 << 20)), 0);
    CHECK_EQUAL(veo_proc_destroy(small), 0);
    tear_down(&f);
}

CASE(hmem_addresses_are_tagged)
{
    struct fixture f = set_up();
    void *ve = NULL;
    void *host = NULL;
    uint64_t value = 0x1122334455667788;
    CHECK_EQUAL(veo_get_max_proc_identifier(), 16);
    CHECK_EQUAL(veo_alloc_hmem(f.proc, &ve, 4096), 0);
    CHECK_EQUAL(veo_alloc_hmem(NULL, &host, 4096), 0);
    CHECK_EQUAL(veo_is_ve_addr(ve), 1);
    CHECK_EQUAL(veo_is_ve_addr(host), 0);
    CHECK(veo_get_hmem_addr(host) == host);
    CHECK_EQUAL(veo_get_proc_identifier_from_hmem(ve), 0);
    CHECK_EQUAL(veo_get_proc_identifier_from_hmem(host), -1);
    CHECK(veo_get_proc_handle_from_hmem(ve) == f.proc);
    CHECK(veo_get_proc_handle_from_hmem(host) == NULL);
    CHECK_EQUAL(veo_get_pid_from_hmem(ve), veosoft_worker_pid(f.proc));
    CHECK_EQUAL(veo_get_pid_from_hmem(host), -1);
    CHECK_EQUAL(veo_get_venum_from_hmem(ve), 0);
    CHECK_EQUAL(veo_get_venum_from_hmem(host), -1);
    CHECK(veo_set_proc_identifier(veo_get_hmem_addr(ve), 0) == ve);
    CHECK(veo_set_proc_identifier(ve, 16) == NULL);
    CHECK(veo_set_proc_identifier(ve, -1) == NULL);
    memcpy(host, &value, sizeof value);
    CHECK_EQUAL(veo_hmemcpy(ve, host, 4096), 0);
    CHECK_EQUAL(veo_hmemcpy((char *)ve + 8, ve, 8), 0);
    uint64_t back[2] = {0};
    CHECK_EQUAL(veo_hmemcpy(back, ve, sizeof back), 0);
    CHECK(back[0] == value && back[1] == value);
    CHECK_EQUAL(veo_hmemcpy(back, &value, 8), 0);
    veo_args_set_hmem(f.args, 0, ve);
    CHECK(call(&f, f.ctx, "read_tagged") == value);
    struct veo_proc_handle *other = veo_proc_create(0);
    void *elsewhere;
    CHECK_EQUAL(veo_alloc_hmem(other, &elsewhere, 64), 0);
    CHECK_EQUAL(veo_get_proc_identifier_from_hmem(elsewhere), 1);
    CHECK_EQUAL(veo_hmemcpy(elsewhere, ve, 8), -1);
    CHECK_EQUAL(veo_free_hmem(elsewhere), 0);
    CHECK_EQUAL(veo_proc_destroy(other), 0);
    CHECK_EQUAL(veo_hmemcpy(elsewhere, host, 8), -1);
    CHECK_EQUAL(veo_free_hmem(elsewhere), -1);
    CHECK_EQUAL(veo_free_hmem(ve), 0);
    CHECK_EQUAL(veo_free_hmem(host), 0);
    tear_down(&f);
}

/* The memory of a library is not mapped in the host, so neither side can be reached directly. */
CASE(hmem_copies_inside_a_process)
{
    enum { SIZE = 3 * 4096 + 100, APART = 1 << 20 };
    struct fixture f = set_up();
    uint64_t large = symbol(&f, "large");
    char *variable = veo_set_proc_identifier((void *)(uintptr_t)large, 0);
    void *heap = NULL;
    static uint8_t there[SIZE], back[SIZE];
    CHECK(variable != NULL);
    CHECK_EQUAL(veo_alloc_hmem(f.proc, &heap, SIZE), 0);
    for (size_t i = 0; i < SIZE; i++)
        there[i] = (uint8_t)(i * 7 + i / 256);

    CHECK_EQUAL(veo_hmemcpy(variable, there, SIZE), 0);
    CHECK_EQUAL(veo_hmemcpy(variable + APART, variable, SIZE), 0);
    CHECK_EQUAL(veo_read_mem(f.proc, back, large + APART, SIZE), 0);
    CHECK(memcmp(back, there, SIZE) == 0);

    /* From there to the heap, and the other way. */
    CHECK_EQUAL(veo_hmemcpy(heap, variable + APART, SIZE), 0);
    CHECK_EQUAL(veo_hmemcpy(variable + 2 * APART, heap, SIZE), 0);
    memset(back, 0, SIZE);
    CHECK_EQUAL(veo_hmemcpy(back, variable + 2 * APART, SIZE), 0);
    CHECK(memcmp(back, there, SIZE) == 0);

    /* Memory that is not there, on each side. */
    void *nowhere = veo_set_proc_identifier((void *)(uintptr_t)64, 0);
    CHECK_EQUAL(veo_hmemcpy(variable, nowhere, 8), -1);
    CHECK_EQUAL(veo_hmemcpy(nowhere, variable, 8), -1);
    CHECK_EQUAL(veo_hmemcpy(heap, nowhere, 8), -1);
    CHECK_EQUAL(veo_hmemcpy(nowhere, heap, 8), -1);
    CHECK_EQUAL(veo_free_hmem(heap), 0);
    tear_down(&f);
}

/* --- hooks ------------------------------------------------------------------------------------ */

struct seen {
    int calls;
    void *owner;
    uint64_t address;
    size_t size;
};

static void on_alloc_mem(void *payload, ...)
{
    struct seen *seen = payload;
    va_list args;
    va_start(args, payload);
    seen->owner = va_arg(args, void *);
    seen->address = *va_arg(args, uint64_t *);
    seen->size = va_arg(args, size_t);
    seen->calls++;
    va_end(args);
}

/* Of all others: the address itself, and no size where nothing has one. */
static void on_address(void *payload, ...)
{
    struct seen *seen = payload;
    va_list args;
    va_start(args, payload);
    seen->owner = va_arg(args, void *);
    seen->address = va_arg(args, uint64_t);
    seen->calls++;
    va_end(args);
}

static void on_address_and_size(void *payload, ...)
{
    struct seen *seen = payload;
    va_list args;
    va_start(args, payload);
    seen->owner = va_arg(args, void *);
    seen->address = va_arg(args, uint64_t);
    seen->size = va_arg(args, size_t);
    seen->calls++;
    va_end(args);
}

CASE(hooks_follow_each_kind_of_allocation)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *ctx = veo_context_open(f.proc);
    struct seen seen[6] = {{0}};
    void *functions[6] = {(void *)veo_alloc_mem,       (void *)veo_free_mem,
                          (void *)veo_alloc_hmem,      (void *)veo_free_hmem,
                          (void *)veo_alloc_mem_async, (void *)veo_free_mem_async};
    void (*hooks[6])(void *, ...) = {on_alloc_mem, on_address,          on_address_and_size,
                                     on_address,   on_address_and_size, on_address};
    for (int i = 0; i < 6; i++) {
        CHECK(veo_get_hook(functions[i]) == NULL);
        veo_register_hook(functions[i], hooks[i], &seen[i]);
        CHECK(veo_get_hook(functions[i]) == (void *)hooks[i]);
    }
    uint64_t a;
    void *h;
    CHECK_EQUAL(veo_alloc_mem(f.proc, &a, 123), 0);
    CHECK(seen[0].owner == f.proc && seen[0].address == a && seen[0].size == 123);
    CHECK_EQUAL(veo_free_mem(f.proc, a), 0);
    CHECK(seen[1].owner == f.proc && seen[1].address == a);
    CHECK_EQUAL(veo_alloc_hmem(f.proc, &h, 456), 0);
    CHECK(seen[2].owner == f.proc && seen[2].address == (uint64_t)h && seen[2].size == 456);
    CHECK_EQUAL(veo_free_hmem(h), 0);
    CHECK(seen[3].owner == f.proc && seen[3].address == (uint64_t)h);
    uint64_t b = wait_ok(ctx, veo_alloc_mem_async(ctx, 789));
    CHECK(b != 0 && seen[4].owner == ctx && seen[4].address == b && seen[4].size == 789);
    wait_ok(ctx, veo_free_mem_async(ctx, b));
    CHECK(seen[5].owner == ctx && seen[5].address == b);
    for (int i = 0; i < 6; i++) {
        CHECK_EQUAL(seen[i].calls, 1);
        veo_unregister_hook(functions[i]);
        CHECK(veo_get_hook(functions[i]) == NULL);
    }
    CHECK_EQUAL(veo_alloc_mem(f.proc, &a, 1), 0);
    CHECK_EQUAL(seen[0].calls, 1);
    CHECK(veo_get_hook((void *)tear_down) == NULL);
    veo_register_hook((void *)tear_down, on_address, NULL);
    tear_down(&f);
}

static int allocs;
static int frees;
static void *last_alloc;

static void any_alloc(void *address, size_t size)
{
    CHECK(veo_is_ve_addr(address) && size == 64);
    last_alloc = address;
    allocs++;
}

static void any_free(uint64_t address)
{
    CHECK((void *)address == last_alloc);
    frees++;
}

CASE(one_pair_of_hooks_for_all)
{
    struct fixture f = set_up();
    uint64_t a;
    void *h;
    veo_register_hmem_hook_functions(any_alloc, any_free);
    CHECK_EQUAL(veo_alloc_mem(f.proc, &a, 64), 0);
    CHECK_EQUAL(veo_free_mem(f.proc, a), 0);
    CHECK_EQUAL(veo_alloc_hmem(f.proc, &h, 64), 0);
    CHECK_EQUAL(veo_free_hmem(h), 0);
    a = wait_ok(f.ctx, veo_alloc_mem_async(f.ctx, 64));
    wait_ok(f.ctx, veo_free_mem_async(f.ctx, a));
    CHECK(allocs == 3 && frees == 3);
    veo_unregister_hmem_hook_functions();
    CHECK_EQUAL(veo_alloc_mem(f.proc, &a, 65), 0);
    CHECK(allocs == 3);
    tear_down(&f);
}

/* Not in the VE heap: where the kernel refuses process_vm_writev(), the worker copies. */
CASE(queued_transfers_of_variables)
{
    static const size_t sizes[] = {1, 32 << 10, (32 << 10) + 1, 256 << 10, 3 << 20};
    struct fixture f = set_up();
    uint64_t large = symbol(&f, "large");
    struct veo_thr_ctxt *contexts[] = {f.ctx, veo_context_open(f.proc)};
    char *there = malloc(3 << 20);
    char *back = malloc(3 << 20);
    CHECK(there && back && contexts[1]);
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            memset(there, (int)(1 + i + 8 * c), sizes[i]);
            memset(back, 0, sizes[i]);
            uint64_t ids[] = {
                veo_call_async(contexts[c], symbol(&f, "count"), NULL),
                veo_async_write_mem(contexts[c], large, there, sizes[i]),
                veo_async_read_mem(contexts[c], back, large, sizes[i]),
            };
            for (int k = 2; k >= 0; k--)
                wait_ok(contexts[c], ids[k]);
            CHECK(memcmp(there, back, sizes[i]) == 0);
        }
    }
    free(there);
    free(back);
    tear_down(&f);
}

CASE(freeing_what_was_not_allocated)
{
    struct fixture f = set_up();
    uint64_t get_aligned = symbol(&f, "get_aligned");
    uint64_t inside = 0;
    static const uint64_t sizes[] = {1, 24, 100, 5000, 100000, 1 << 20, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (uint64_t alignment = 8; alignment <= 65536; alignment *= 8) {
            veo_args_set_u64(f.args, 0, alignment);
            veo_args_set_u64(f.args, 1, sizes[i]);
            uint64_t block = wait_ok(f.ctx, veo_call_async(f.ctx, get_aligned, f.args));
            CHECK(block != 0);
            CHECK_EQUAL(veo_free_mem(f.proc, block + 8), -1);
            CHECK_EQUAL(errno, EINVAL);
            CHECK_EQUAL(veo_free_mem(f.proc, block), 0);
        }
    }
    veo_args_clear(f.args);
    veo_args_set_u64(f.args, 0, 24);
    uint64_t twice = wait_ok(f.ctx, veo_call_async(f.ctx, symbol(&f, "get_memory"), f.args));
    CHECK_EQUAL(veo_free_mem(f.proc, twice), 0);
    CHECK_EQUAL(veo_free_mem(f.proc, twice), -1);
    veo_args_set_u64(f.args, 0, 16);
    veo_args_set_u64(f.args, 1, 4096);
    inside = wait_ok(f.ctx, veo_call_async(f.ctx, get_aligned, f.args));
    const uint64_t wrong[] = {
        1,
        12345,
        0x1234,
        symbol(&f, "pattern"),
        symbol(&f, "large") + 4096,
        inside + 16,
        inside + 2048,
        symbol(&f, "count"),
        UINT64_MAX,
        UINT64_C(1) << 63,
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        errno = 0;
        CHECK_EQUAL(veo_free_mem(f.proc, wrong[i]), -1);
        CHECK_EQUAL(errno, EINVAL);
        uint64_t result;
        uint64_t id = veo_free_mem_async(f.ctx, wrong[i]);
        CHECK_EQUAL(veo_call_wait_result(f.ctx, id, &result), VEO_COMMAND_ERROR);
    }
    CHECK_EQUAL(veo_free_mem(f.proc, inside), 0);
    CHECK_EQUAL(call(&f, f.ctx, "count"), 0);
    tear_down(&f);
}

CASE(unordered_transfers_reach_a_kernel_in_the_main_context)
{
    setenv("VEO_SOFT_TRANSFERS", "unordered", 1);
    struct fixture f = set_up();
    uint64_t large = symbol(&f, "large");
    uint64_t word;
    int value = 0;
    CHECK_EQUAL(veosoft_transfers_are_ordered(f.proc), 0);
    CHECK_EQUAL(veo_alloc_mem(f.proc, &word, sizeof value), 0);
    /* Of the heap, and of a variable. */
    const uint64_t words[] = {word, large};
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(veo_write_mem(f.proc, words[i], &value, sizeof value), 0);
        veo_args_set_u64(f.args, 0, words[i]);
        uint64_t id = veo_call_async(f.ctx, symbol(&f, "serve"), f.args);
        int seen = 1;
        int told = 5 + i;
        CHECK_EQUAL(veo_read_mem(f.proc, &seen, words[i], sizeof seen), 0);
        CHECK_EQUAL(seen, 0);
        CHECK_EQUAL(veo_write_mem(f.proc, words[i], &told, sizeof told), 0);
        CHECK_EQUAL(wait_ok(f.ctx, id), told);
    }
    tear_down(&f);
    setenv("VEO_SOFT_TRANSFERS", "ordered", 1);
    f = set_up();
    CHECK_EQUAL(veosoft_transfers_are_ordered(f.proc), 1);
    tear_down(&f);
}

CASE(transfers_with_nothing_queued_are_requests_like_others)
{
    enum { N = 1000 };
    struct fixture f = set_up();
    uint64_t count = symbol(&f, "count");
    uint64_t echo = symbol(&f, "echo");
    uint64_t previous = symbol(&f, "previous");
    uint64_t at;
    uint64_t ids[N];
    uint64_t result;
    uint8_t bytes[64];
    CHECK_EQUAL(veo_alloc_mem(f.proc, &at, sizeof bytes), 0);
    for (uint64_t i = 0; i < N; i++) {
        memset(bytes, (int)i, sizeof bytes);
        ids[i] = i % 7 == 6 ? veo_call_async(f.ctx, count, NULL)
                            : veo_async_write_mem(f.ctx, at, bytes, sizeof bytes);
        CHECK(i == 0 || ids[i] == ids[i - 1] + 1);
        if (i % 7 == 6)
            CHECK_EQUAL(wait_ok(f.ctx, ids[i]), i / 7);
    }
    for (uint64_t i = N; i-- > 0;) {
        if (i % 7 != 6)
            CHECK_EQUAL(wait_ok(f.ctx, ids[i]), 0);
        CHECK_EQUAL(veo_call_wait_result(f.ctx, ids[i], &result), VEO_COMMAND_ERROR);
    }
    /* Kernels see their results among those of calls. */
    veo_args_set_u64(f.args, 0, 77);
    wait_ok(f.ctx, veo_call_async(f.ctx, echo, f.args));
    wait_ok(f.ctx, veo_async_read_mem(f.ctx, bytes, at, sizeof bytes));
    veo_args_set_i32(f.args, 0, 1);
    CHECK_EQUAL(wait_ok(f.ctx, veo_call_async(f.ctx, previous, f.args)), 77);
    tear_down(&f);
}

CASE(a_queued_transfer_to_a_bad_address_is_an_exception)
{
    struct fixture f = set_up();
    static char bytes[100000];
    uint64_t result;
    for (size_t size = 1; size <= sizeof bytes; size *= 10) {
        uint64_t id = veo_async_write_mem(f.ctx, 4096, bytes, size);
        CHECK_EQUAL(veo_call_wait_result(f.ctx, id, &result), VEO_COMMAND_EXCEPTION);
        id = veo_async_read_mem(f.ctx, bytes, 4096, size);
        CHECK_EQUAL(veo_call_wait_result(f.ctx, id, &result), VEO_COMMAND_EXCEPTION);
    }
    CHECK_EQUAL(call(&f, f.ctx, "count"), 0);
    tear_down(&f);
}

CASE(an_allocation_leaves_a_result_for_kernels)
{
    struct fixture f = set_up();
    uint64_t at;
    uint64_t previous = symbol(&f, "previous");
    CHECK_EQUAL(veo_alloc_mem(f.proc, &at, 4096), 0);
    veo_args_set_i32(f.args, 0, 0);
    CHECK(wait_ok(f.ctx, veo_call_async(f.ctx, previous, f.args)) == at);
    /* So does a symbol that is looked up for the first time. */
    CHECK_EQUAL(veo_alloc_mem(f.proc, &at, 4096), 0);
    uint64_t count = symbol(&f, "count");
    CHECK(wait_ok(f.ctx, veo_call_async(f.ctx, previous, f.args)) == count);
    CHECK_EQUAL(veo_alloc_mem(f.proc, &at, 4096), 0);
    symbol(&f, "echo");
    veo_args_set_i32(f.args, 0, 1);
    CHECK(wait_ok(f.ctx, veo_call_async(f.ctx, previous, f.args)) == at);
    tear_down(&f);
}
