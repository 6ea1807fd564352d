/* SPDX-License-Identifier: BSD-3-Clause */
/* native.c: the same as start32.c has, where the host's own compiler makes the programs. */
#include <stdlib.h>
#include <unistd.h>

void write_hash(const unsigned long long *hash);
void hash_all(void);

void write_hash(const unsigned long long *hash)
{
    if (write(STDOUT_FILENO, hash, sizeof *hash) != (ssize_t)sizeof *hash)
        exit(1);
}

int main(void)
{
    hash_all();
    return 0;
}
