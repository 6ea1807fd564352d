#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `make test` of what is committed with every supported Python that is on PATH or under pyenv, each
# in a clone of its own:
#     pythons.sh [VERSION ...]
# 3.13t is the free-threaded one. A version that is not installed is reported, and is an error only if it was asked for.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find_python() {
    for candidate in "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python3 "python$1"; do
        if "$candidate" -c "import sys; v = sys.version_info; sys.exit(f'{v[0]}.{v[1]}{sys.abiflags}' != '$1')" \
            2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

status=0
summary=
for version in ${*:-3.11 3.12 3.13 3.14}; do
    python=$(find_python "$version")
    if [ -z "$python" ]; then
        summary="$summary  Python $version: not installed\n"
        [ $# -eq 0 ] || status=1
        continue
    fi
    git clone --quiet . "$work/$version"
    if make -C "$work/$version" PYTHON="$python" test >"$work/$version.log" 2>&1; then
        result=passed
    else
        result=FAILED
        status=1
        grep -E '^(FAILED|ERROR)' "$work/$version.log" || tail -20 "$work/$version.log"
    fi
    summary="$summary  Python $version: $result, $(tail -1 "$work/$version.log")\n"
    rm -rf "$work/$version"
done
printf "%b" "$summary"
exit $status
