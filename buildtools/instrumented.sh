# SPDX-License-Identifier: BSD-3-Clause
# For scripts that test an instrumented build, to be read with `.` from the root:
#     install_instrumented PRESET FOLDER
# Installs a copy of what a preset of CMakePresets.json gives into an environment FOLDER, as an
# ordinary interpreter could not load it in the tree. All other packages are those of .venv.
install_instrumented() {
    if [ ! -e "$2/made" ]; then
        .venv/bin/python -m venv --clear --without-pip "$2"
        site=$("$2/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
        .venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/others.pth"
        touch "$2/made"
    fi
    OFFCHIP_PRESET=$1 .venv/bin/python -m pip --disable-pip-version-check --quiet \
        --python "$2/bin/python" install --no-build-isolation --no-deps --force-reinstall .
}
