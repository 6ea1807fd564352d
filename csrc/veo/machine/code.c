/* SPDX-License-Identifier: BSD-3-Clause */
/* code.c: pages of decoded instructions. */
#include "code.h"

#include <stdlib.h>
#include <string.h>

_Atomic uint64_t ve_code_changes;
uint32_t ve_code_period = 4096;
void (*ve_code_sample)(struct ve_code *code, const struct ve_decoded *decoded);

void ve_code_changed(void)
{
    atomic_fetch_add(&ve_code_changes, 1);
}

struct ve_code *ve_code_create(const void *undecoded, const void *page_end, const void *translated)
{
    struct ve_code *code = calloc(1, sizeof *code);
    if (code == NULL)
        return NULL;

    code->undecoded = undecoded;
    code->page_end = page_end;
    code->translated = translated;
    code->countdown = ve_code_period;
    code->changes = atomic_load(&ve_code_changes);
    return code;
}

void ve_code_destroy(struct ve_code *code)
{
    for (uint32_t i = 0; code != NULL && i < VE_CODE_BUCKETS; i++)
        for (struct ve_page *page = code->buckets[i], *next; page != NULL; page = next) {
            next = page->next;
            free(page);
        }
    free(code);
}

static void forget(const struct ve_code *code, struct ve_page *page)
{
    page->samples = 0;
    page->is_used = false;
    memset(page->jumped_to, 0, sizeof page->jumped_to);
    for (uint32_t i = 0; i < VE_PAGE_WORDS; i++) {
        page->list[i].label = code->undecoded;
        page->list[i].target = NULL; /* so that the next jump says that its page is used */
    }
    page->list[VE_PAGE_WORDS].target = NULL;
}

void ve_code_reset(struct ve_code *code)
{
    code->seen = 0;
    for (uint32_t i = 0; i < VE_CODE_BUCKETS; i++)
        for (struct ve_page *page = code->buckets[i]; page != NULL; page = page->next)
            forget(code, page);
}

static struct ve_page *add_page(struct ve_code *code, uint64_t number, struct ve_page **bucket)
{
    struct ve_page *page = aligned_alloc(_Alignof(struct ve_page), sizeof *page);
    if (page == NULL)
        return NULL;

    page->number = number;
    for (uint32_t i = 0; i <= VE_PAGE_WORDS; i++)
        page->list[i].address = (number << VE_PAGE_SHIFT) + 8u * i;
    page->list[VE_PAGE_WORDS].label = code->page_end;
    forget(code, page);
    page->next = *bucket;
    *bucket = page;
    return page;
}

struct ve_page *ve_code_page(const struct ve_code *code, uint64_t address)
{
    uint64_t number = address >> VE_PAGE_SHIFT;
    struct ve_page *page = code->buckets[number % VE_CODE_BUCKETS];
    while (page != NULL && page->number != number)
        page = page->next;
    return page;
}

void ve_code_note_jump(const struct ve_code *code, uint64_t address)
{
    struct ve_page *page = ve_code_page(code, address);
    uint32_t word = address >> 3 & (VE_PAGE_WORDS - 1);
    if (page != NULL)
        page->jumped_to[word / 64] |= UINT64_C(1) << word % 64;
}

bool ve_code_was_jumped_to(const struct ve_page *page, uint32_t word)
{
    return (page->jumped_to[word / 64] >> word % 64 & 1) != 0;
}

void ve_code_install(struct ve_code *code, uint64_t address, const struct ve_unit *unit)
{
    struct ve_decoded *decoded = ve_code_find(code, address);
    struct ve_page *page = ve_code_page(code, address);
    if (page == NULL)
        return;

    page->units[address >> 3 & (VE_PAGE_WORDS - 1)] = unit;
    decoded->label = code->translated;
}

struct ve_decoded *ve_code_find(struct ve_code *code, uint64_t address)
{
    uint64_t now = atomic_load_explicit(&ve_code_changes, memory_order_acquire);
    if (__builtin_expect(code->changes != now, 0)) {
        code->changes = now;
        ve_code_reset(code);
    }

    uint64_t number = address >> VE_PAGE_SHIFT;
    struct ve_page *page = ve_code_page(code, address);
    if (page == NULL)
        page = add_page(code, number, &code->buckets[number % VE_CODE_BUCKETS]);
    if (page == NULL)
        return NULL;
    page->is_used = true;
    return &page->list[address >> 3 & (VE_PAGE_WORDS - 1)];
}
