# SPDX-License-Identifier: BSD-3-Clause
__all__: list[str] = []
