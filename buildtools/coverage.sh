#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Lines and branches of csrc that the tests execute:
#     coverage.sh [FOLDER OF TESTS]...
# With the packages of .venv (`make coverage`). Results are in build/coverage-results: table.txt,
# summary.json, and gcovr's own JSON for the tests above C and for all. With tests/*/unit or
# tests/accl/abi alone nothing is installed, and only what their programs link is counted.
# Sources must not change while it runs.
set -eu
cd "$(dirname "$0")/.."
command -v gcc >/dev/null && command -v gcov >/dev/null || {
    echo "error: coverage needs gcc and gcov. On Debian and Ubuntu: apt-get install gcc" >&2
    exit 1
}
. buildtools/instrumented.sh
venv=.venv-coverage
results=build/coverage-results
counts=build/coverage
export OFFCHIP_PRESET=coverage

rm -rf "$results"
mkdir -p "$results"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Above C: the libraries that users load. In the folders of C programs, these are linked with them.
above="tests/offchip tests/exhaustion $(echo tests/*/*/ | tr ' ' '\n' |
    grep -Ev '/(unit|fuzz|support|__pycache__)/$|accl/abi' | tr '\n' ' ')"
linked="$(echo tests/*/unit) tests/accl/abi $(echo tests/*/fuzz)"
installs=true
if [ $# -gt 0 ]; then
    above='' linked='' installs=false
    for folder; do
        case $folder in
        tests/*/unit | tests/accl/abi) linked="$linked $folder" ;;
        tests/*/fuzz) linked="$linked $folder" installs=true ;;
        *) above="$above $folder" installs=true ;;
        esac
    done
fi

measure() {
    .venv/bin/gcovr --root . --filter csrc/ --exclude-throw-branches --merge-lines \
        --gcov-ignore-parse-errors=all --json "$@"
}

# A test that fails has covered what it covers; the other stages are for failures. Those against the
# reference build a machine of their own, without counters; test_text_and_word_mean_the_same is 973
# forms of assembly for lines that others execute.
failures=0
run_tests() {
    $python -P -m pytest "$@" -m "not packaging and not slow" -o timeout=600 \
        --deselect tests/dpu/reference/test_machine_against_reference.py \
        --deselect tests/dpu/reference/test_programs_against_reference.py \
        --deselect tests/dpu/asm/test_forms.py::test_text_and_word_mean_the_same \
        -p no:cacheprovider --basetemp "$work/tests" -q || failures=$((failures + 1))
}

# Without optimisation, and with counters, a program takes up to ten times as long.
export ASAN_OPTIONS=verify_asan_link_order=0 OFFCHIP_PROGRAM_SECONDS=500
find $counts -name '*.gcda' -delete 2>/dev/null || true
python=.venv/bin/python
if $installs; then
    install_instrumented coverage $venv
    python=$venv/bin/python
fi
if [ -n "$above" ]; then
    gcc -shared -fPIC -DOFFCHIP_COVERAGE_PRELOADED buildtools/coverage_exit.c -o "$results/exit.so"
    LD_PRELOAD="$PWD/$results/exit.so" run_tests $above
    measure "$results/above.json" $counts
fi

# Programs that are linked with the sources themselves; fuzz targets, with their corpora.
if [ -n "$linked" ]; then
    OFFCHIP_FUZZ_SECONDS=1 run_tests $linked -k "not tsan and not planted"
fi
measure "$results/all.json" $counts
.venv/bin/python buildtools/coverage_table.py "$results"
[ $failures -eq 0 ] || echo "note: tests failed; they are counted as far as they went" >&2
