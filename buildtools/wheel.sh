#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes an sdist and a wheel, installs the wheel into a clean environment and tests what is installed,
# from outside the tree (`make wheel`). The wheel is that of the tree, in which all is compiled; that
# the sdist has what compiling reads is a test, and manylinux.sh compiles from one.
set -eu
cd "$(dirname "$0")/.."
top=$(pwd)
python="$top/.venv/bin/python"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rm -rf dist

# As of an earlier build, also one that was ended early: the wheel must not have these.
platform=$("$python" -c 'import sysconfig; print(sysconfig.get_platform())')
tag=$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
for folder in "bdist.$platform/wheel" "lib.$platform-$tag"; do
    mkdir -p "build/$folder/veo"
    touch "build/$folder/veo/left.so"
done

"$python" -m build --no-isolation --sdist --wheel --outdir dist . >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
ls -l dist

"$python" -m venv "$work/clean"
"$work/clean/bin/python" -m pip --disable-pip-version-check --quiet \
    install --no-compile "$(ls "$top"/dist/*.whl)[test]"
cd "$work"
clean/bin/python -P -m offchip info
OFFCHIP_DIST="$top/dist" clean/bin/pytest -m packaging -p no:cacheprovider \
    -c "$top/pyproject.toml" --rootdir "$top" "$top/tests/packaging"
