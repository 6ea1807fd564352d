# SPDX-License-Identifier: BSD-3-Clause
"""The mapper of accelforge."""
