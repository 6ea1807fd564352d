/* SPDX-License-Identifier: BSD-3-Clause */
/* string_error.c: what an error number means. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

char *strerror(int number)
{
    const char *text;

    switch (number) {
    case 0: text = "Success"; break;
    case EALREADY: text = "Operation already in progress"; break;
    case EAGAIN: text = "Resource temporarily unavailable"; break;
    case EBUSY: text = "Device or resource busy"; break;
    case EDOM: text = "Numerical argument out of domain"; break;
    case EINVAL: text = "Invalid argument"; break;
    case ENOMEM: text = "Cannot allocate memory"; break;
    case EOVERFLOW: text = "Value too large for defined data type"; break;
    case ERANGE: text = "Numerical result out of range"; break;
    default: text = "Unknown error"; break;
    }
    return (char *)(uintptr_t)text;
}
