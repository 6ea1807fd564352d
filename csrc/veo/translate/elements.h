/* SPDX-License-Identifier: BSD-3-Clause */
/* elements.h: the rest of a block by the executors of its instructions. */
#ifndef OFFCHIP_VE_ELEMENTS_H
#define OFFCHIP_VE_ELEMENTS_H

#include "veo/translate/strips.h"

/*
 * Does vector instructions, places of LIST, by their executors for the elements from FROM on. What
 * cannot be done is found before, but by the last one, which may be an access by addresses.
 */
void ve_do_elements(struct ve_core *core, const struct ve_decoded *list,
                    const struct ve_element_step *steps, uint64_t count, uint64_t from);

#endif
