#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the checks that do not fit into .ci/run, one after the other, whatever fails:
#     nightly.sh PYTHON [STAGE]...
# Stages: full (matrices and allocation sweeps without gaps), fuzz, valgrind, coverage, pythons,
# bare-debian. OFFCHIP_FUZZ_SECONDS is for each fuzz target, 600 unless set. Logs and summary.txt
# are in build/nightly.
set -u
cd "$(dirname "$0")/.."
python=$1
shift
folder=build/nightly
rm -rf "$folder"
mkdir -p "$folder"
failures=0

# The lines of a log that have the figures.
figures() {
    case $1 in
    coverage) cat build/coverage-results/table.txt ;;
    fuzz) grep -E '^[0-9]+ files, [0-9]+ mutations' "$2"; tail -n 1 "$2" ;;
    full) grep -E '^[0-9]+ allocations, ' "$2"; tail -n 1 "$2" ;;
    *) tail -n 5 "$2" ;;
    esac
}

stage() {
    name=$1
    shift
    log=$folder/$name.log
    echo "--- $name: $log"
    start=$(date +%s)
    result=passed
    "$@" >"$log" 2>&1 </dev/null || { result=FAILED; failures=$((failures + 1)); }
    {
        echo "$name: $result in $(($(date +%s) - start)) s"
        figures "$name" "$log" 2>/dev/null | sed 's/^/    /'
    } | tee -a "$folder/summary.txt"
}

# -rP shows what tests that pass have printed: figures of sweeps and fuzz targets.
for name in ${*:-full fuzz valgrind coverage pythons bare-debian}; do
    case $name in
    full) stage full make PYTHON="$python" PYTEST_ARGS=-rP test-full ;;
    fuzz) stage fuzz env OFFCHIP_FUZZ_SECONDS="${OFFCHIP_FUZZ_SECONDS:-600}" \
        make PYTHON="$python" PYTEST_ARGS=-rP fuzz ;;
    valgrind | coverage | pythons | bare-debian) stage "$name" make PYTHON="$python" "$name" ;;
    *)
        echo "unknown stage: $name" >&2
        exit 2
        ;;
    esac
done
printf '\n=== summary\n'
cat "$folder/summary.txt"
exit $failures
