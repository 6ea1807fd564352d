# SPDX-License-Identifier: BSD-3-Clause
"""Results of vector instructions of the Vector Engine, from the documents, element by element."""
