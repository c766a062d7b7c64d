#!/bin/sh
# Change the code in thousands of ways, one at a time, and list the changes that no test notices. Part of no CI run: it takes
# an hour or more, and can be interrupted and continued. What is changed, and by which tests it is judged, stands in
# pyproject.toml under [tool.mutmut].
#
#     tools/mutate.sh PYTHON                               everything that is configured
#     tools/mutate.sh PYTHON 'pycupel.kernels.order*'      only mutants whose names match
set -eu

python=$1
shift
environment=.venv-mutate

if [ ! -x "$environment/bin/mutmut" ]; then
  "$python" -m venv "$environment"
  # What the tests need, but not the package itself: the mutants are imported from a copy of the tree.
  "$environment/bin/python" -c '
import tomllib
with open("pyproject.toml", "rb") as file:
    print("\n".join(tomllib.load(file)["project"]["optional-dependencies"]["test"]))
' >"$environment/requirements.txt"
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check -r "$environment/requirements.txt" mutmut==3.8.1
fi

# The examples of property tests are a sample here: thousands of mutants run them.
EXAMPLES=0.05 "$environment/bin/mutmut" run --max-children "${CHILDREN:-2}" "$@"
"$environment/bin/mutmut" results
