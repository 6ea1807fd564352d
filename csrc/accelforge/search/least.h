/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * least.h: what a template costs at least, by what its memories hold, without any of its loops.
 *
 * A tensor passes each of its holders once at least, whatever the tiles, and its innermost holder
 * exchanges it with the compute for each operation. That takes a glance, where the search of the
 * template would take a thousand times as long.
 */
#ifndef OFFCHIP_FORGE_LEAST_H
#define OFFCHIP_FORGE_LEAST_H

#include "accelforge/search/template.h"

/* Sets LOW to what no tiles of a template are below: FORGE_OBJECTIVES numbers. */
void forge_least_of_template(const struct forge_facts *facts, const struct forge_template *template,
                             double *low);

#endif
