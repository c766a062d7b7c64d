#!/bin/sh
# Set up an environment with mutmut, and run tools/mutate.py in it: see there. Part of no CI run, because it takes long; it
# can be interrupted and continued. `rm -rf mutants` begins anew, after a change of the code or of the tests.
#
#     tools/mutate.sh PYTHON                               everything that is configured
#     tools/mutate.sh PYTHON 'pycupel.kernels.order*'      only mutants whose names match
#     tools/mutate.sh PYTHON --others --draw 1500          so many of model, messages and others, drawn at random
#     tools/mutate.sh PYTHON --again                      those that survived, after tests were added
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
    print("\n".join(tomllib.load(file)["dependency-groups"]["test"]))
' >"$environment/requirements.txt"
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check -r "$environment/requirements.txt" mutmut==3.8.1
fi

# The examples of property tests are a sample here: thousands of mutants run them.
EXAMPLES=0.05 "$environment/bin/python" -m tools.mutate "$@"
