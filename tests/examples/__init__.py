# SPDX-License-Identifier: BSD-3-Clause
"""The examples, the documentation and the benchmarks, executed."""
