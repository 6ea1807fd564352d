#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tests of the native code under AddressSanitizer and UndefinedBehaviorSanitizer, with the
# packages of .venv (`make sanitize`).
set -eu
cd "$(dirname "$0")/.."
. buildtools/instrumented.sh
venv=.venv-sanitize
cc=${CC:-gcc}
export OFFCHIP_PRESET=asan
install_instrumented asan $venv

# Leaks are looked for by the C tests: in here the compilers that tests start would be reported.
# The last 32 MB of freed memory are watched, not 256: with Python's objects in there too a process
# took up to 1.6 GB.
asan="detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=0"
export ASAN_OPTIONS="$asan:quarantine_size_mb=32"
export UBSAN_OPTIONS="print_stacktrace=1"
export PYTHONMALLOC=malloc
# Not here: tests/*/unit, tests/accl/abi and tests/*/fuzz build their programs for sanitizers
# themselves, in every `make test`; tests/exhaustion has a malloc() of its own; tests/dpu/runtime and
# tests/dpu/toolchain are about code for the DPU, run by the machine that tests/dpu/reference and
# tests/dpu/unit cover; tests/accl/mpi runs the ranks of tests/accl/package under a launcher. Of
# tests/offchip those are left out that start commands: the other tests are of the libraries in them.
# Beyond the tests' own limits: everything takes several times as long. More at once than there are
# cores: many wait.
set -- tests/offchip tests/veo/package tests/veo/abi tests/veo/lifetime tests/accl/package
set -- "$@" tests/dpu/package tests/dpu/reference tests/dpu/asm tests/dpu/abi tests/dpu/lifetime
for name in bench commands completion demo info outputs pkg_config pytest_plugin sdk_folder selftest; do
    set -- "$@" "--ignore=tests/offchip/test_$name.py"
done
LD_PRELOAD="$($cc -print-file-name=libasan.so)" exec $venv/bin/python -P -m pytest "$@" -n $((2 * $(nproc))) \
    -m "not packaging and not slow and not nosanitize" -o timeout=300 -p no:cacheprovider
