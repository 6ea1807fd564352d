/* SPDX-License-Identifier: BSD-3-Clause */
/* Reader of a fuzz input, which may end anywhere, for the targets of accelforge. */
#ifndef INPUT_H
#define INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
    const uint8_t *data;
    size_t left;
};

static inline void require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "contract broken: %s\n", what);
        abort();
    }
}

static inline uint32_t take_number(struct input *input)
{
    uint32_t number = 0;
    size_t n = input->left < sizeof(number) ? input->left : sizeof(number);

    memcpy(&number, input->data, n);
    input->data += n;
    input->left -= n;
    return number;
}

/* The next *COUNT records, or as many as there are, in memory of their own that ends where they do;
 * *COUNT becomes their number. */
static inline void *take(struct input *input, size_t *count, size_t size)
{
    if (*count > input->left / size)
        *count = input->left / size;

    size_t bytes = *count * size;
    void *records = malloc(bytes > 0 ? bytes : 1);
    if (records == NULL)
        exit(2);

    memcpy(records, input->data, bytes);
    input->data += bytes;
    input->left -= bytes;
    return records;
}

#endif
