/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * huffman.c: the lengths of the codes that Huffman's method gives to 256 symbols, for a Vector
 * Engine. Takes how often each symbol occurs; returns the bits of the whole text, or -1 if it is
 * empty.
 */
#define SYMBOLS 256

long huffman(const long *counts, int *lengths)
{
    long weight[2 * SYMBOLS], bits = 0;
    int parent[2 * SYMBOLS], alive[2 * SYMBOLS], nodes = 0, last = SYMBOLS;

    for (int i = 0; i < SYMBOLS; i++) {
        weight[i] = counts[i];
        lengths[i] = 0;
        if (counts[i] > 0)
            alive[nodes++] = i;
    }
    if (nodes == 0)
        return -1;

    while (nodes > 1) {
        /* The two lightest become children of a new node. */
        for (int pick = 0; pick < 2; pick++) {
            int least = 0;
            for (int i = 1; i < nodes; i++)
                if (weight[alive[i]] < weight[alive[least]])
                    least = i;
            int child = alive[least];
            parent[child] = last;
            weight[last] = pick == 0 ? weight[child] : weight[last] + weight[child];
            alive[least] = alive[--nodes];
        }
        alive[nodes++] = last++;
    }

    for (int i = 0; i < SYMBOLS; i++) {
        if (counts[i] == 0)
            continue;
        for (int at = i; at != last - 1; at = parent[at])
            lengths[i]++;
        bits += counts[i] * lengths[i];
    }
    return bits;
}
