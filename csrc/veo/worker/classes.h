/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * classes.h: how the arguments of a function are passed, as debug info says.
 *
 * What debug info says is kept by address until a library is unloaded. Any thread may call these
 * functions; reading debug info takes a while the first time. Nothing fails: without memory or
 * debug info, a function is unknown.
 */
#ifndef VEOW_CLASSES_H
#define VEOW_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "veo/wire.h"

/* How the arguments of a function are passed, as far as is known. */
struct veow_classes {
    uint64_t address;
    bool known;   /* from debug info: kinds and ret are valid */
    bool refused; /* it cannot be called, see why */
    bool warned;
    char ret;
    uint64_t kinds[WIRE_KIND_WORDS];
    char why[224];
    char *signature; /* as veosoft_signature() gives it, or NULL */
};
/* Never NULL; the entry lives until the library is unloaded. */
struct veow_classes *veow_classes_of(uint64_t address);
void veow_classes_forget(void);
/* Copies the signature of the symbol at ADDRESS, "" if it is not known or no function. */
void veow_classes_signature(uint64_t address, char text[WIRE_SIGNATURE_SIZE]);
/* Warns, once per function, that its arguments are taken for integers. */
void veow_classes_warn(struct veow_classes *classes, bool kinds_given);

#endif
