/* SPDX-License-Identifier: BSD-3-Clause */
/* costs_wide_product.h: a product of 128 bits by four products of words. */
#ifndef DPU_RUNTIME_COSTS_WIDE_PRODUCT_H
#define DPU_RUNTIME_COSTS_WIDE_PRODUCT_H

#include "costs_multiply64.h"

/* The high half of A * B; *LOW becomes the low one. */
INLINE uint64_t costs_wide_product(uint64_t a, uint64_t b, uint64_t *low)
{
    uint64_t lowest = RUNTIME(__muldi3)(low_word(a), low_word(b));
    uint64_t left = RUNTIME(__muldi3)(high_word(a), low_word(b));
    uint64_t right = RUNTIME(__muldi3)(low_word(a), high_word(b));
    uint64_t highest = RUNTIME(__muldi3)(high_word(a), high_word(b));

    /* Terms with the weight of the second word: three words, which do not overflow together. */
    uint64_t middle = (uint64_t)low_word(left) + low_word(right) + high_word(lowest);

    *low = join_words(low_word(middle), low_word(lowest));
    return highest + high_word(left) + high_word(right) + high_word(middle);
}

#endif
