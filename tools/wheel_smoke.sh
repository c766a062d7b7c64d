#!/bin/sh
# Build the wheel, install it with no extras into a new environment, and use it from a directory outside the tree.
set -eu

python=$1
tree=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m build --outdir "$work/dist" . >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$python" -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check --no-index "$work"/dist/*.whl
cp "$tree/tools/smoke.py" "$work/smoke.py"
cp -r "$tree/vectors" "$work/vectors"
cd "$work"
env/bin/python -I smoke.py
env/bin/python -I -m pycupel.conformance vectors
