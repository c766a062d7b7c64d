#!/bin/sh
# Run the tests on the given Python versions side by side, each in an environment of its own. A version that cannot be
# found is a failure, not a reason to skip.
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

# Ends with pytest in the place of the shell, so that whoever ends it ends pytest.
test_on() {
    sh tools/set_up.sh "$python" ".venv-$1" '. --group test'
    exec ".venv-$1/bin/python" -m pytest -q -p no:cacheprovider
}

outputs=$(mktemp -d)
processes=
finish() {
    kill $processes 2>/dev/null || true
    for output in "$outputs"/*; do
        echo "== Python ${output##*/}"
        cat "$output"
    done
    rm -rf "$outputs"
}
trap finish EXIT
# Processes in the background do not hear of Ctrl-C.
trap 'exit 130' INT TERM
for version in "$@"; do
    python=$(find_python "$version")
    test_on "$version" >"$outputs/$version" 2>&1 &
    processes="$processes $!"
done
failed=0
for process in $processes; do
    wait "$process" || failed=$?
done
exit "$failed"
