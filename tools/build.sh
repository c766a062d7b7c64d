#!/bin/sh
# Build the wheel and the source distribution into dist/, twice: both must have the same bytes.
# Usage: build.sh python
set -eu

python=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The time of the last commit; outside a repository, a fixed one.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 1577836800)
export SOURCE_DATE_EPOCH

for once in first second; do
    "$python" -m build --outdir "$work/$once" . >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
done
diff -r "$work/first" "$work/second" || { echo "two builds differ"; exit 1; }
"$python" -m twine check --strict "$work"/first/*
rm -rf dist
mv "$work/first" dist
(cd dist && sha256sum ./*)
