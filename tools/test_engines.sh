#!/bin/sh
# Run the batch recipes on their real engines: Dask, Spark, Ray and DuckDB. Spark needs Java.
set -eu

python=${PYTHON:-python3}
environment=.venv-engines
command -v java >/dev/null || { echo "Spark needs Java: apt-get install default-jre-headless"; exit 1; }
if [ "$(cat "$environment/.installed" 2>/dev/null || true)" != "$(cat tools/engines.txt pyproject.toml | cksum)" ]; then
    echo "setting up $environment"
    [ -x "$environment/bin/python" ] || "$python" -m venv "$environment"
    "$environment/bin/python" -m pip install -qq --disable-pip-version-check --retries 8 \
        --requirement tools/engines.txt --editable '.[batch,dask]'
    cat tools/engines.txt pyproject.toml | cksum >"$environment/.installed"
fi
"$environment/bin/python" -m pytest -q -W default -p no:cacheprovider tests/engines_env/test_engines.py
