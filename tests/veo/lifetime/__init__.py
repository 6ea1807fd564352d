# SPDX-License-Identifier: BSD-3-Clause
"""Exit, fork, signals, threads, and a soak, with veo."""
