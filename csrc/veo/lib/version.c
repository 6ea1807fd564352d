/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/host.h"

#ifndef OFFCHIP_VERSION
#error "OFFCHIP_VERSION must be defined by the build"
#endif

VEO_EXPORT int veo_api_version(void)
{
    return VEO_API_VERSION;
}

/* The release of the vendor's library whose behaviour this one has. */
VEO_EXPORT const char *veo_version_string(void)
{
    return "3.0.2";
}

VEO_EXPORT const char *veosoft_version(void)
{
    return "offchip " OFFCHIP_VERSION;
}
