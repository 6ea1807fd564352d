# SPDX-License-Identifier: BSD-3-Clause
"""The command `veo-env`, and the commands of its folder."""
