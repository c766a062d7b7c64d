#!/bin/sh
# Test the hooks against the libraries that they are for. Some of these need different versions of others (litellm needs
# openai 2, the OpenAI Agents SDK openai 3, google-adk an older OpenTelemetry than the tests, crewai an older MCP than
# anything else), so there are several environments. Each hook must be covered in one of them.
#
# Usage: test_integrations.sh        a, b and c, as in CI
#        test_integrations.sh d      only d, which is too large for CI; or e
set -eu

python=${PYTHON:-python3}
hooks='src/pycupel/integrations/*.py'
shared='src/pycupel/integrations/_*.py,src/pycupel/integrations/otel.py,src/pycupel/integrations/claude_agent.py'
# Covered outside CI, in d and e.
large='src/pycupel/integrations/litellm.py,src/pycupel/integrations/crewai.py'

# Ends with Python in the place of the shell, so that whoever ends it ends Python.
test_in() {
    environment=.venv-adapters-$1
    # The later environments pin what their tests need themselves.
    case $1 in
        a | b) package='. --group test' common='tests/integrations_env/test_*.py' ;;
        *) package=. common=tests/integrations_env/test_environment.py ;;
    esac
    # The output of the large ones is committed: it names the tests, and no folder of this machine.
    case $1 in
        d | e) verbosity='-v --no-header' ;;
        *) verbosity=-q ;;
    esac
    sh tools/set_up.sh "$python" "$environment" "$package" "tools/adapters-$1.txt" || exit
    echo "== adapters-$1"
    # shellcheck disable=SC2086 # a pattern, and options
    exec "$environment/bin/python" -m coverage run --rcfile=/dev/null --branch --include="$hooks" \
        --data-file=".coverage.adapters-$1" -m pytest $verbosity -p no:cacheprovider \
        tests/integrations/test_missing_libraries.py $common "tests/integrations_env/$1"
}

# Too large for CI.
case ${1:-} in
    d) hook=litellm ;;
    e) hook=crewai ;;
    *) hook= ;;
esac
if [ -n "$hook" ]; then
    (test_in "$1")
    exec ".venv-adapters-$1/bin/python" -m coverage report --rcfile=/dev/null --data-file=".coverage.adapters-$1" \
        --show-missing --fail-under=100 --include="src/pycupel/integrations/$hook.py"
fi

# Two environments at once; what the first prints comes after what the others print.
output=$(mktemp)
test_in a >"$output" 2>&1 &
tests_of_a=$!
trap 'kill "$tests_of_a" 2>/dev/null || true; rm -f "$output"' EXIT
# Processes in the background do not hear of Ctrl-C.
trap 'exit 130' INT TERM
(test_in b) && failed=0 || failed=$?
(test_in c) || failed=$?
wait "$tests_of_a" || failed=$?
cat "$output"
[ "$failed" -eq 0 ] || exit "$failed"

echo "== the hooks' coverage"
coverage() {
    command=$1
    shift
    .venv-adapters-a/bin/python -m coverage "$command" --rcfile=/dev/null --data-file=.coverage.adapters "$@"
}
coverage combine --quiet .coverage.adapters-a .coverage.adapters-b .coverage.adapters-c
coverage report --show-missing --fail-under=100 --omit="$shared,$large"
