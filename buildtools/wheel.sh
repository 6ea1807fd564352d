#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes an sdist, a wheel from the sdist, installs the wheel into a clean environment and tests
# what is installed, from outside the tree:
#     wheel.sh PYTHON
set -eu
cd "$(dirname "$0")/.."
top=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$1" -m venv "$work/build"
"$work/build/bin/python" -m pip --disable-pip-version-check --quiet install --no-compile build
rm -rf dist
# Without a choice of one of the two it makes the wheel from the sdist.
"$work/build/bin/python" -m build --outdir dist . >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
ls -l dist

"$1" -m venv "$work/clean"
pip="$work/clean/bin/python -m pip --disable-pip-version-check --quiet"
$pip install --no-compile "$(ls "$top"/dist/*.whl)[test]"
cd "$work"
clean/bin/python -P -m offchip info
OFFCHIP_DIST="$top/dist" clean/bin/pytest -m packaging -p no:cacheprovider \
    -c "$top/pyproject.toml" --rootdir "$top" "$top/tests/packaging"
