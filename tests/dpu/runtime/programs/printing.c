/* SPDX-License-Identifier: BSD-3-Clause */
/* Every tasklet prints; the last lines come from the first one. */
#include <barrier.h>
#include <defs.h>
#include <stdint.h>
#include <stdio.h>

BARRIER_INIT(all, NR_TASKLETS);

int main(void)
{
    printf("tasklet %u of %d: %5.2f %-6s| %lu %#x %c %lld%%\n", me(), NR_TASKLETS, 1.5 * (int)me(),
           "abc", 12345678901234ull + me(), 255u + me(), 'a' + (int)me(), -5ll);
    barrier_wait(&all);
    if (me() == 0) {
        puts("the end");
        printf("plain\n");
        putchar('!');
        putchar('\n');
    }
    return 0;
}
