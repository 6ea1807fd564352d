/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/environment.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "veo/lib/error.h"

const char *veolib_env_text(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && *value != 0 ? value : NULL;
}

static unsigned shift_of_suffix(char suffix)
{
    switch (suffix) {
    case 'K':
    case 'k': return 10;
    case 'M':
    case 'm': return 20;
    case 'G':
    case 'g': return 30;
    default: return 0;
    }
}

size_t veolib_env_size(const char *name, size_t default_size)
{
    const char *text = veolib_env_text(name);
    if (text == NULL)
        return default_size;

    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    unsigned shift = shift_of_suffix(*end);
    end += shift != 0;

    if (errno || *end || *text == '-' || value > (SIZE_MAX >> shift)) {
        veolib_fail(EINVAL,
                    "%s='%s' is not a valid size and is ignored; use a number with an optional "
                    "suffix K, M or G",
                    name, text);
        return default_size;
    }
    return (size_t)value << shift;
}
