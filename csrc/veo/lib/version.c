/* SPDX-License-Identifier: BSD-3-Clause */
#include "ve_offload.h"
#include "veo/lib/export.h"
#include "veosoft.h"

#ifndef OFFCHIP_VERSION
#error "OFFCHIP_VERSION must be defined by the build"
#endif

VEO_EXPORT int veo_api_version(void)
{
    return VEO_API_VERSION;
}

/* The release of the vendor's library that this one behaves like. */
VEO_EXPORT const char *veo_version_string(void)
{
    return "3.0.2";
}

VEO_EXPORT const char *veosoft_version(void)
{
    return "offchip " OFFCHIP_VERSION;
}
