#!/bin/sh
# Run the tests on each of the given Python versions, in an environment of its own. A version that cannot be found is a
# failure, not a reason to skip.
set -eu

find_python() {
    # A version manager's shim may be on PATH and still not run; the interpreters are beside its directory.
    if "python$1" -c '' 2>/dev/null; then
        command -v "python$1"
        return
    fi
    shim=$(command -v "python$1" || true)
    for candidate in "${shim%/shims/*}"/versions/"$1".*/bin/python "$HOME"/.pyenv/versions/"$1".*/bin/python; do
        if [ -x "$candidate" ]; then
            echo "$candidate"
            return
        fi
    done
    echo "Python $1 was not found; install it, or put python$1 on PATH" >&2
    return 1
}

for version in "$@"; do
    python=$(find_python "$version")
    environment=".venv-$version"
    echo "== Python $version"
    [ -x "$environment/bin/python" ] || "$python" -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --editable '.[test]'
    sh tools/run_tests.sh "$environment/bin/python" -q -p no:cacheprovider
done
