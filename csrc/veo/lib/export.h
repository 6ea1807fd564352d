/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export.h: how the functions of the VEO API leave libveo.so.1.
 *
 * Everything else is static or starts with veolib_, and is hidden by libveo.map.
 */
#ifndef VEOLIB_EXPORT_H
#define VEOLIB_EXPORT_H

/* libveo.map gives exported functions their version. */
#define VEO_EXPORT __attribute__((visibility("default")))

#endif
