/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @accelforge_join -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 *
 * The join when memory runs out: wherever that happens, there is a status and nothing leaks.
 */
#include "accelforge/join/fuse.h"

#include "join_chain.h"
#include "tests/support/failing_malloc.h"

static struct links links;

int main(void)
{
    links_make(&links, 4, 1e-4, check_seed(1));
    bool done = false;
    long failures = 0;
    for (long n = 0; !done; n += 1 + n / 20) {
        struct fuse_request request = links_request(&links, 1);
        request.objective_tolerance = 0.01;
        struct fuse_answer answer;
        struct fuse_fault fault;

        allocations_left = n;
        enum fuse_status status = fuse_join(&request, &answer, &fault);
        done = allocations_left > 0;
        allocations_left = -1;

        CHECK(status == (done ? FUSE_OK : FUSE_OUT_OF_MEMORY) || status == FUSE_OK);
        failures += status == FUSE_OUT_OF_MEMORY;
        fuse_answer_clear(&answer);
    }
    CHECK(failures > 20);
    return 0;
}
