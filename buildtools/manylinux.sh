#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes an sdist, and from it a wheel for Linux with glibc 2.28 or later, twice, in different
# folders. The two must be the same, byte for byte. Then the wheel is tried in a clean environment
# outside of the tree:
#     manylinux.sh PYTHON [MACHINE]
# zig is the compiler (buildtools/zig_cc.py), so that no container with an old system is needed. The
# MACHINE is x86_64 or aarch64; a wheel for another one than this is not tried.
set -eu
cd "$(dirname "$0")/.."
top=$(pwd)
OFFCHIP_MACHINE=${2:-$(uname -m)}
export OFFCHIP_MACHINE
platform=manylinux_2_28_$OFFCHIP_MACHINE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH CFLAGS LDFLAGS OFFCHIP_PRESET

python=$(command -v "$1")
tools=$top/.venv-wheels/bin
"$python" -m venv --clear .venv-wheels
"$tools/python" -m pip --disable-pip-version-check --quiet install --upgrade pip
"$tools/python" -P buildtools/requirements.py >"$work/requirements"
"$tools/python" -P buildtools/requirements.py wheels >>"$work/requirements"
"$tools/python" -m pip --disable-pip-version-check --quiet install -r "$work/requirements"

# One time for all files of all wheels of a commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1700000000)}
export SOURCE_DATE_EPOCH

run() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

# program FILE COMMAND...: a program that runs a command, as the build wants one word for it.
program() {
    file=$1
    shift
    printf '#!/bin/sh\nexec %s "$@"\n' \
        "$("$tools/python" -P -c 'import shlex, sys; print(shlex.join(sys.argv[1:]))' "$@")" >"$file"
    chmod +x "$file"
}

# build FOLDER: the wheel from the sdist, in that folder; it goes to FOLDER/wheel
build() {
    mkdir -p "$1/source" "$1/wheel"
    tar -xzf "$work"/sdist/*.tar.gz -C "$1/source" --strip-components 1
    echo "building in $1"
    (
        program "$work/cc" "$tools/python" "$1/source/buildtools/zig_cc.py"
        program "$work/ar" "$tools/python" -P -m ziglang ar
        CC=$work/cc AR=$work/ar
        export CC AR
        run "$tools/python" -m build --no-isolation --wheel --outdir "$1/wheel" "$1/source"
    )
    "$tools/python" -m wheel tags --remove --platform-tag "$platform" "$1"/wheel/*.whl
}

run "$tools/python" -m build --no-isolation --sdist --outdir "$work/sdist" .
"$tools/python" -P buildtools/one_time.py "$work"/sdist/*.tar.gz
build "$work/first"
build "$work/another folder"
wheel=$(ls "$work"/first/wheel/*.whl)
cmp "$wheel" "$work/another folder/wheel/$(basename "$wheel")" || {
    echo "error: two builds of the wheel differ; this should not depend on folders or time" >&2
    exit 1
}
"$tools/python" -m auditwheel show "$wheel" | tee "$work/audit"
tr '\n' ' ' <"$work/audit" |
    grep -Eq 'platform tag: +"manylinux_2_([5-9]|1[0-9]|2[0-8])_'"$OFFCHIP_MACHINE"'"' || {
    echo "error: the wheel needs more than $platform has" >&2
    exit 1
}

mkdir -p dist
cp "$wheel" "$work"/sdist/*.tar.gz dist
if [ "$OFFCHIP_MACHINE" != "$(uname -m)" ]; then
    ls -l "$top/dist"
    exit
fi
mkdir "$work/dist"
cp "$wheel" "$work"/sdist/*.tar.gz "$work/dist"
"$python" -m venv "$work/clean"
"$work/clean/bin/python" -m pip --disable-pip-version-check --quiet install --upgrade pip
"$work/clean/bin/python" -m pip --disable-pip-version-check --quiet install "$wheel[test]"
cd "$work"
PATH="$work/clean/bin:$PATH"
offchip selftest
offchip demo
OFFCHIP_DIST="$work/dist" pytest -m packaging -p no:cacheprovider \
    -c "$top/pyproject.toml" --rootdir "$top" "$top/tests/packaging"
ls -l "$top/dist"
