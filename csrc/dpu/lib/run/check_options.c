/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/run/check_options.h"

#include "dpu/checks/checks.h"

static const struct check_word words[] = {
#define X(identifier, name, value) {name, value},
    DPU_CHECK_LIST(X)
#undef X
        {"all", DPU_CHECK_ALL},
};

bool dpulib_check_options_read(struct check_options *options, const char *text, char *problem,
                               size_t size)
{
    return check_options_read(options, words, sizeof words / sizeof *words, text, problem, size);
}
