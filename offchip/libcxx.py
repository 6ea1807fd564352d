# SPDX-License-Identifier: BSD-3-Clause
"""The configuration of libc++'s headers in the ziglang wheel, which have none of their own."""

from __future__ import annotations

__all__ = ["libcxx_macros"]

# Parts of libc++ that need an operating system or a C library.
_SERVICES = (
    *("FILESYSTEM", "LOCALIZATION", "MONOTONIC_CLOCK", "MUSL_LIBC", "RANDOM_DEVICE", "TERMINAL"),
    *("THREADS", "UNICODE", "WIDE_CHARACTERS"),
)


def libcxx_macros(services: bool) -> list[str]:
    """Return the compiler options that take the place of libc++'s ``__config_site``.

    Parameters
    ----------
    services : bool
        Whether the target has an operating system, with musl's headers.

    Notes
    -----
    The names are those of libc++ 22. Exceptions, and what needs libc++'s own library, are not
    configured away: they are errors of the compiler or undefined symbols.
    """
    return [
        "-D_LIBCPP_ABI_NAMESPACE=__1",
        "-D_LIBCPP_ABI_VERSION=1",
        "-D_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
        "-D_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS",
        "-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
        *(f"-D_LIBCPP_HAS_{name}={services:d}" for name in _SERVICES),
        "-D_LIBCPP_HAS_TIME_ZONE_DATABASE=0",
        "-D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0",
        "-D_LIBCPP_PSTL_BACKEND_SERIAL",
    ]
