#!/bin/sh
# What the tests in tests/browser need: Debian's Chromium, playwright in the given environment, and axe-core from npm.
# What is there already is left alone, so the second run takes a second. Usage: setup_browser.sh .venv/bin/python
set -eu

python=$1

has() {
    command -v "$1" >/dev/null
}

install_chromium() {
    has apt-get || { echo "install Chromium and put it on the PATH, or name it in CHROMIUM"; exit 1; }
    root=
    if [ "$(id -u)" -ne 0 ]; then
        has sudo || { echo "installing Chromium needs root: apt-get install chromium"; exit 1; }
        root=sudo
    fi
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    echo "installing Chromium"
    install="$root env DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends"
    {
        $root apt-get update --quiet
        # Chromium without its windows is enough, and faster. Not every distribution has it.
        $install chromium-headless-shell || $install chromium
    } >"$log" 2>&1 || { tail -n 20 "$log"; exit 1; }
}

if [ -z "${CHROMIUM:-}" ] && ! has chromium-headless-shell && ! has chromium && ! has chromium-browser; then
    install_chromium
fi

echo "installing playwright"
"$python" -m pip install --quiet --disable-pip-version-check --group browser
"$python" tools/fetch_axe.py
