#!/bin/sh
# Test the hooks against the libraries that they are for. Two of these need different versions of a third (litellm needs
# openai 2, the OpenAI Agents SDK needs openai 3), so there are two environments. They are set up when they are missing or
# when what they should hold has changed, and each hook must be covered in one of them.
set -eu

python=${PYTHON:-python3}
hooks='src/pycupel/integrations/*.py'
shared='src/pycupel/integrations/_*.py,src/pycupel/integrations/otel.py'

# An index under load turns some requests away, and minutes later it does not.
with_patience() {
    for pause in 0 5 15 30 60; do
        sleep "$pause"
        "$@" && return
    done
    echo "giving up: $*" >&2
    return 1
}

set_up() {
    environment=$1 requirements=$2
    wanted=$(cat "$requirements" pyproject.toml | cksum)
    if [ "$(cat "$environment/.installed" 2>/dev/null || true)" = "$wanted" ]; then
        return
    fi
    echo "setting up $environment"
    [ -x "$environment/bin/python" ] || "$python" -m venv "$environment"
    with_patience "$environment/bin/python" -m pip install -qq --disable-pip-version-check --retries 8 \
        --requirement "$requirements" --editable '.[test]'
    "$environment/bin/python" -m pip check
    echo "$wanted" >"$environment/.installed"
}

run_tests() {
    name=$1
    echo "== adapters-$name"
    ".venv-adapters-$name/bin/python" -m coverage run --rcfile=/dev/null --branch --include="$hooks" \
        --data-file=".coverage.adapters-$name" -m pytest -q -p no:cacheprovider \
        tests/integrations/test_missing_libraries.py tests/integrations_env/test_*.py "tests/integrations_env/$name"
}

# The first environment is tested while the second is set up and tested; what the tests print comes one after the other.
set_up .venv-adapters-a tools/adapters-a.txt
output=$(mktemp)
run_tests a >"$output" 2>&1 &
tests_of_a=$!
trap 'kill "$tests_of_a" 2>/dev/null || true; rm -f "$output"' EXIT
set_up .venv-adapters-b tools/adapters-b.txt
run_tests b && failed=0 || failed=$?
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
