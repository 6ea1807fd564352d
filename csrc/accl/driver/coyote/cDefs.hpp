/* SPDX-License-Identifier: BSD-3-Clause */
/* See cProcess.hpp. */
#include "cProcess.hpp"
