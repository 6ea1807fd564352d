/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * columns.h: which columns the rows of a model have.
 */
#ifndef OFFCHIP_FORGE_COLUMNS_H
#define OFFCHIP_FORGE_COLUMNS_H

#include "accelforge/model/model.h"

/* Sets `columns`, `column_count` and `places` of a model whose plans and join are made. */
enum forge_status forge_columns_build(struct forge_model *model);

#endif
