#!/bin/sh
# Set up the two environments of `make compare`, and measure. What cannot be installed is left out, and said to be so.
# Usage: compare.sh python3.12
set -eu

# LiteLLM fetches its table of models otherwise.
export LITELLM_LOCAL_MODEL_COST_MAP=True
mkdir -p build
for each in a b; do
    environment=.venv-compare-$each requirements=tools/compare-$each.txt
    sh tools/set_up.sh "$1" "$environment" . "$requirements" || grep -v '^#' "$requirements" | while read -r package; do
        .venv/bin/python -m pip -qq --python "$environment/bin/python" install "$package" || echo "left out: $package"
    done
    "$environment/bin/python" -m benchmarks.compare >"build/compare-$each.jsonl"
done
.venv/bin/python -m benchmarks.compare build/compare-a.jsonl build/compare-b.jsonl
