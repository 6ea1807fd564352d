# SPDX-License-Identifier: BSD-3-Clause
"""DPU instructions before they have addresses, and what passes need to know about them."""
