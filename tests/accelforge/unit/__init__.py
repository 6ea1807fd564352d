# SPDX-License-Identifier: BSD-3-Clause
"""C units of csrc/accelforge."""
