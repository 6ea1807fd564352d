/* SPDX-License-Identifier: BSD-3-Clause */
/* Quicksort by recursion with orders given as function pointers, of structures. */
#include "kernel.h"

#define COUNT 200
struct entry {
    int32_t key;
    int16_t rank;
    uint8_t tag;
};
typedef bool (*order)(const struct entry *, const struct entry *);
HOST struct entry entries[COUNT];
HOST uint32_t which;

static bool by_key(const struct entry *a, const struct entry *b)
{
    return a->key < b->key;
}

static bool by_rank(const struct entry *a, const struct entry *b)
{
    return a->rank < b->rank || (a->rank == b->rank && a->key < b->key);
}

static bool by_tag(const struct entry *a, const struct entry *b)
{
    return a->tag < b->tag || (a->tag == b->tag && a->key < b->key);
}

static const order orders[] = {by_key, by_rank, by_tag};

static void sort(struct entry *first, int32_t count, order less)
{
    while (count > 1) {
        struct entry pivot = first[count / 2];
        int32_t low = 0, high = count - 1;
        while (low <= high) {
            while (less(&first[low], &pivot))
                low++;
            while (less(&pivot, &first[high]))
                high--;
            if (low <= high) {
                struct entry other = first[low];
                first[low++] = first[high];
                first[high--] = other;
            }
        }
        sort(first, high + 1, less);
        first += low;
        count -= low;
    }
}

int main(void)
{
    if (me() == 0)
        sort(entries, COUNT, orders[which % 3]);
    return 0;
}
