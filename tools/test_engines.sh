#!/bin/sh
# Run the batch recipes on their real engines: Dask, Spark, Ray and DuckDB. Spark needs Java.
set -eu

python=${PYTHON:-python3}
environment=.venv-engines
command -v java >/dev/null || { echo "Spark needs Java: apt-get install default-jre-headless"; exit 1; }
sh tools/set_up.sh "$python" "$environment" '.[batch,dask]' tools/engines.txt
"$environment/bin/python" -m pytest -q -W default -p no:cacheprovider tests/engines_env/test_engines.py
