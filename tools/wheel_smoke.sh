#!/bin/sh
# Build the wheel, install it with no extras into a new environment, and use it from a directory outside the tree.
set -eu

tree=$PWD
python=$tree/$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m build --outdir "$work/dist" . >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$python" "$tree/tools/check_description.py" "$work"/dist/*.whl "$tree"
"$python" -m venv --without-pip "$work/env"
"$python" -m pip --python "$work/env" install --quiet --disable-pip-version-check --no-index "$work"/dist/*.whl
cp "$tree/tools/smoke.py" "$work/smoke.py"
cp -r "$tree/vectors" "$work/vectors"
cd "$work"
env/bin/python -I smoke.py
env/bin/python -I -m pycupel.conformance vectors
# Every verb as a process, with the output that the tests expect.
"$python" "$tree/tools/cli_smoke.py" "$work/env/bin"

# The pytest plug-in in somebody else's project: the wheel and pytest, and nothing more.
"$python" -m venv --without-pip pytest-env
"$python" -m pip --python pytest-env install --quiet --disable-pip-version-check dist/*.whl pytest==9.2.0
cp "$tree/tools/plugin_smoke.py" .
pytest-env/bin/python -I plugin_smoke.py
