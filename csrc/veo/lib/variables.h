/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * variables.h: the environment variables of the soft libveo with values of their own, once: the
 * reader, its errors and the table of docs/reference/environment.md derive from this list.
 *
 * NUMBER(name, least, most, default), SIZE(name, default): bytes, 0 stands for what the machine
 * has; CHOICE(name, words): with "|" between them, of which the first is the default;
 * FILE(name): the worker opens it; COMMAND(name): the worker runs it; FOLDER(name);
 * CHECKS(name): words of veo/check_words.h.
 */
#ifndef VEOLIB_VARIABLES_H
#define VEOLIB_VARIABLES_H

#define VEOLIB_VARIABLES(NUMBER, SIZE, CHOICE, FILE, COMMAND, FOLDER, CHECKS) \
    NUMBER(VEO_SOFT_NODES, 1, 1024, 1) \
    CHOICE(VEO_SOFT_ARCH, "1|3") \
    SIZE(VEO_SOFT_MEMORY, 0) \
    NUMBER(VEO_SOFT_SPIN_US, 0, 1000000, 500) \
    CHOICE(VEO_SOFT_TRANSFERS, "ordered|unordered") \
    CHOICE(VEO_SOFT_ENGINE, "auto|interpreter|translated") \
    COMMAND(VEO_SOFT_CC) \
    CHOICE(VEO_SOFT_MODEL, "VE10B|VE20B") \
    FILE(VEO_SOFT_REPORT) \
    FOLDER(VEO_SOFT_SYSFS) \
    CHECKS(VEO_CHECK) \
    CHOICE(VEO_DEBUG, "|console|xterm") \
    CHOICE(VEORUN_UNDEFINED, "|call") \
    NUMBER(VE_CORE_NUMBER, 0, 1048576, 0)

/* All names in the list begin so. */
#define VEOLIB_PREFIX "VE"
/* Variables of this prefix that are not in the list are slips. */
#define VEOLIB_OWN_PREFIX "VEO_SOFT_"

#endif
