#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The C compiler of tests that are run for coverage: counts what it compiles, without sanitizers,
# which have runs of their own, and adds to each program what counts processes that end by _exit().
here=$(dirname "$0")
links=true
for word; do
    shift
    case $word in
    -fsanitize=* | -fno-sanitize-recover=* | -O[0-9s]) continue ;;
    -c | -shared | -fsyntax-only | -E | -S | -print-*) links=false ;;
    esac
    set -- "$@" "$word"
done
if $links; then
    set -- "$@" -DOFFCHIP_COVERAGE_PROGRAM "$here/coverage_exit.c" -ldl
fi
exec gcc "$@" --coverage -fprofile-update=atomic -O0
