/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handle_kind.h: the first word of every object that users hold a pointer to.
 *
 * Such objects are never given back to malloc(): they are kept and used again. So a stale pointer,
 * or a pointer to another kind of object, is noticed instead of followed.
 */
#ifndef VEOLIB_HANDLE_KIND_H
#define VEOLIB_HANDLE_KIND_H

enum handle_kind {
    HANDLE_PROC = 0x70726f63,
    HANDLE_CONTEXT = 0x63747874,
    HANDLE_ARGS = 0x61726773,
    HANDLE_ARGS_FREED = 0x66726565,
};

#endif
