#!/bin/sh
# What the tests in tests/browser need: Debian's Chromium, playwright in the given environment, and axe-core from npm.
# What is there already is left alone, so the second run takes a second. Usage: setup_browser.sh .venv/bin/python
set -eu

python=$1

if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && [ -z "${CHROMIUM:-}" ]; then
    command -v apt-get >/dev/null || { echo "install Chromium and put it on the PATH, or name it in CHROMIUM"; exit 1; }
    root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "installing Chromium needs root: apt-get install chromium"; exit 1; }
        root=sudo
    fi
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    echo "installing Chromium"
    {
        $root apt-get update --quiet
        $root env DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends chromium
    } >"$log" 2>&1 || { tail -n 20 "$log"; exit 1; }
fi

echo "installing playwright"
"$python" -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
"$python" tools/fetch_axe.py
