#!/bin/sh
# Set up an environment beside .venv, with the pip of .venv, unless it holds what it should already.
# Usage: set_up.sh python3.12 .venv-3.12 '. --group test' [requirements.txt]
set -eu

python=$1 environment=$2 package=$3 requirements=${4:-}

wanted=$(echo "$package" | cat - pyproject.toml ${requirements:+"$requirements"} | cksum)
if [ "$(cat "$environment/.installed" 2>/dev/null || true)" = "$wanted" ]; then
    exit
fi

pip() {
    .venv/bin/python -m pip --disable-pip-version-check --python "$environment/bin/python" "$@"
}

install() {
    # An index under load turns some requests away, and minutes later it does not.
    for pause in 0 5 15 30 60; do
        sleep "$pause"
        # shellcheck disable=SC2086 # the package and a group
        pip install -qq --retries 8 ${requirements:+--requirement "$requirements"} --editable $package && return
    done
    echo "giving up: $environment cannot be set up" >&2
    return 1
}

echo "setting up $environment"
[ -x "$environment/bin/python" ] || "$python" -m venv --without-pip "$environment"
install
pip check
echo "$wanted" >"$environment/.installed"
