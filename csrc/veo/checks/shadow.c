/* SPDX-License-Identifier: BSD-3-Clause */
/* shadow.c: pages of 64 KiB in a table of tables. Whole pages of one state share a page. */
#include "veo/checks/shadow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_SHIFT 16
#define PAGE ((uint64_t)1 << PAGE_SHIFT)
#define TABLE_SHIFT 15
#define TABLE ((size_t)1 << TABLE_SHIFT)
#define TABLES ((size_t)1 << 16) /* 47 bits of address */

struct page {
    uint8_t undefined[PAGE];
    uint8_t hidden[PAGE];
};

/* All three states that a page may have as a whole; a page that is NULL is open. */
static struct page hidden_page, fresh_page;
static struct page **tables[TABLES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_pages(void)
{
    memset(hidden_page.hidden, 1, PAGE);
    memset(fresh_page.undefined, 0xff, PAGE);
}

static void enter(void)
{
    pthread_once(&once, fill_pages);
    pthread_mutex_lock(&lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
}

/* Where the page of an address is noted; NULL if it is not, and MAKES is false or memory is short.
 */
static struct page **entry_of(uint64_t address, bool makes)
{
    uint64_t number = address >> PAGE_SHIFT;
    size_t index = (size_t)(number >> TABLE_SHIFT);
    if (index >= TABLES)
        return NULL;
    if (tables[index] == NULL && makes)
        tables[index] = calloc(TABLE, sizeof *tables[index]);
    return tables[index] != NULL ? &tables[index][number & (TABLE - 1)] : NULL;
}

static const struct page *page_of(uint64_t address)
{
    struct page **entry = entry_of(address, false);
    return entry != NULL ? *entry : NULL;
}

/* A page of its own for an address; NULL without memory. */
static struct page *own_page(uint64_t address)
{
    struct page **entry = entry_of(address, true);
    if (entry == NULL)
        return NULL;
    if (*entry != NULL && *entry != &hidden_page && *entry != &fresh_page)
        return *entry;

    struct page *page = calloc(1, sizeof *page);
    if (page != NULL && *entry != NULL)
        memcpy(page, *entry, sizeof *page);
    if (page != NULL)
        *entry = page;
    return page;
}

/* --- ranges --- */

/* Bytes from ADDRESS that are in its page, at most SIZE. */
static size_t part_of(uint64_t address, uint64_t size)
{
    uint64_t rest = PAGE - address % PAGE;
    return (size_t)(size < rest ? size : rest);
}

static void set_page(uint64_t address, struct page *shared)
{
    struct page **entry = entry_of(address, shared != NULL);
    if (entry == NULL)
        return;
    if (*entry != &hidden_page && *entry != &fresh_page)
        free(*entry);
    *entry = shared;
}

static void set(uint64_t address, uint64_t size, struct page *shared)
{
    enter();
    while (size != 0) {
        size_t part = part_of(address, size), at = (size_t)(address % PAGE);
        if (part == PAGE) {
            set_page(address, shared);
        } else if (page_of(address) != shared) {
            struct page *page = own_page(address);
            if (page != NULL) {
                memset(page->hidden + at, shared == &hidden_page, part);
                memset(page->undefined + at, shared == &fresh_page ? 0xff : 0, part);
            }
        }
        address += part;
        size -= part;
    }
    leave();
}

void ve_shadow_hide(uint64_t address, uint64_t size)
{
    set(address, size, &hidden_page);
}

void ve_shadow_fresh(uint64_t address, uint64_t size)
{
    set(address, size, &fresh_page);
}

void ve_shadow_open(uint64_t address, uint64_t size)
{
    set(address, size, NULL);
}

void ve_shadow_define(uint64_t address, uint64_t size)
{
    enter();
    while (size != 0) {
        size_t part = part_of(address, size);
        const struct page *page = page_of(address);
        if (page == &fresh_page && part == PAGE) {
            set_page(address, NULL);
        } else if (page != NULL && page != &hidden_page) {
            struct page *own = own_page(address);
            if (own != NULL)
                memset(own->undefined + address % PAGE, 0, part);
        }
        address += part;
        size -= part;
    }
    leave();
}

static bool find(uint64_t address, uint64_t size, bool is_hidden, uint64_t *found)
{
    bool is_found = false;
    enter();
    while (size != 0 && !is_found) {
        size_t part = part_of(address, size), at = (size_t)(address % PAGE), i = part;
        const struct page *page = page_of(address);
        const uint8_t *bytes = page == NULL ? NULL : is_hidden ? page->hidden : page->undefined;
        if (bytes != NULL)
            for (i = 0; i < part && bytes[at + i] == 0; i++)
                ;
        is_found = i < part;
        *found = address + i;
        address += part;
        size -= part;
    }
    leave();
    return is_found;
}

bool ve_shadow_find_hidden(uint64_t address, uint64_t size, uint64_t *hidden)
{
    return find(address, size, true, hidden);
}

bool ve_shadow_find_undefined(uint64_t address, uint64_t size, uint64_t *undefined)
{
    return find(address, size, false, undefined);
}

/* --- words --- */

static uint8_t load_byte(uint64_t address)
{
    const struct page *page = page_of(address);
    return page != NULL ? page->undefined[address % PAGE] : 0;
}

static void store_byte(uint64_t address, uint8_t undefined)
{
    const struct page *page = page_of(address);
    if ((page != NULL ? page->undefined[address % PAGE] : 0) == undefined || page == NULL)
        return; /* nobody speaks of open memory, which others write too */
    struct page *own = own_page(address);
    if (own != NULL)
        own->undefined[address % PAGE] = undefined;
}

uint64_t ve_shadow_load(uint64_t address, uint32_t bytes)
{
    uint64_t undefined = 0;
    enter();
    const struct page *page = page_of(address);
    size_t at = (size_t)(address % PAGE);
    if (at + bytes <= PAGE) {
        if (page != NULL)
            memcpy(&undefined, page->undefined + at, bytes);
    } else {
        for (uint32_t i = 0; i < bytes; i++)
            undefined |= (uint64_t)load_byte(address + i) << 8 * i;
    }
    leave();
    return undefined;
}

void ve_shadow_store(uint64_t address, uint32_t bytes, uint64_t undefined)
{
    enter();
    for (uint32_t i = 0; i < bytes; i++)
        store_byte(address + i, (uint8_t)(undefined >> 8 * i));
    leave();
}

void ve_shadow_copy(uint64_t to, uint64_t from, uint64_t size)
{
    enter();
    for (uint64_t i = 0; i < size; i++) {
        uint64_t at = to <= from ? i : size - 1 - i;
        store_byte(to + at, load_byte(from + at));
    }
    leave();
}
