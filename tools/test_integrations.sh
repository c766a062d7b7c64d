#!/bin/sh
# Test the hooks against the libraries that they are for. Two of these need different versions of a third (litellm needs
# openai 2, the OpenAI Agents SDK needs openai 3), so there are two environments. Each hook must be covered
# in one of them.
set -eu

python=${PYTHON:-python3}
hooks='src/pycupel/integrations/*.py'
shared='src/pycupel/integrations/_*.py,src/pycupel/integrations/otel.py'

# Ends with Python in the place of the shell, so that whoever ends it ends Python.
test_in() {
    environment=.venv-adapters-$1
    sh tools/set_up.sh "$python" "$environment" '.[test]' "tools/adapters-$1.txt" || exit
    echo "== adapters-$1"
    exec "$environment/bin/python" -m coverage run --rcfile=/dev/null --branch --include="$hooks" \
        --data-file=".coverage.adapters-$1" -m pytest -q -p no:cacheprovider \
        tests/integrations/test_missing_libraries.py tests/integrations_env/test_*.py "tests/integrations_env/$1"
}

# Both environments at once; what the first prints comes after what the second prints.
output=$(mktemp)
test_in a >"$output" 2>&1 &
tests_of_a=$!
trap 'kill "$tests_of_a" 2>/dev/null || true; rm -f "$output"' EXIT
# Processes in the background do not hear of Ctrl-C.
trap 'exit 130' INT TERM
(test_in b) && failed=0 || failed=$?
wait "$tests_of_a" || failed=$?
cat "$output"
[ "$failed" -eq 0 ] || exit "$failed"

echo "== the hooks' coverage"
coverage() {
    command=$1
    shift
    .venv-adapters-a/bin/python -m coverage "$command" --rcfile=/dev/null --data-file=.coverage.adapters "$@"
}
coverage combine --quiet .coverage.adapters-a .coverage.adapters-b
coverage report --show-missing --fail-under=100 --omit="$shared"
