#!/bin/sh
# Run all tests in two processes, with about half of the work each: those with many examples or large inputs, of the
# documentation, of types and of commands; and the others, whose coverage is measured. Workers of pytest-xdist would all
# collect every test, and report each to one more process. Half of the examples are tried here, and all of them in
# `make test-pythons`; EXAMPLES=1 tries all here, too.
# Usage: run_tests.sh .venv/bin/python
set -eu

python=$1
export EXAMPLES="${EXAMPLES:-0.5}"
unmeasured="tests/property tests/fuzz tests/docs tests/typing tests/messages/test_real_histories.py"
unmeasured="$unmeasured tests/test_determinism.py tests/test_hostile_objects.py tests/test_worst_cases.py"
unmeasured="$unmeasured tests/tokens/test_families.py tests/cli/test_golden.py tests/cli/test_documented.py"

output=$(mktemp)
# shellcheck disable=SC2086 - several paths
"$python" -m pytest -q -p no:cacheprovider $unmeasured >"$output" 2>&1 &
others=$!
trap 'kill "$others" 2>/dev/null || true; rm -f "$output"' EXIT
# Processes in the background do not hear of Ctrl-C.
trap 'exit 130' INT TERM
# pytest-cov would make the report twice.
set -- --cov --cov-report= --cov-fail-under=0
for path in $unmeasured; do
    set -- "$@" "--ignore=$path"
done
failed=0
{ "$python" -m pytest "$@" && "$python" -m coverage report; } || failed=$?
wait "$others" || failed=$?
echo "tests without coverage:"
cat "$output"
exit "$failed"
