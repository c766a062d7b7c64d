# `make help` explains the targets. PYTHON may name any interpreter from 3.11 on: make PYTHON=python3.12 test
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHARED_VECTORS := ../shared/conformance
PYTHONS := 3.11 3.12 3.13
# Tests start hundreds of processes, which would compile the whole package anew: keep the bytecode, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=
# Nor write each dot of the tests on its own.
export PYTHONUNBUFFERED :=

.DEFAULT_GOAL := help
.PHONY: help setup setup-browser demo test test-elsewhere test-browser test-pythons test-integrations test-integrations-large test-engines fuzz soak mutate format format-check lint types layers bench bench-integrations compare quality conformance \
	conformance-page models sdk-types wheel-smoke build docs docs-serve clean

help: ## show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.core: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "pycupel needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	@echo "setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@echo "installing the tools for development"
	@# The pip that comes with Python 3.11 takes twice as long to find all packages.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check pip==26.3
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@

setup: $(VENV)/.dev ## set up .venv with everything for development

setup-browser: setup ## install Chromium, playwright and axe, to look at pages
	@sh tools/setup_browser.sh $(BIN)/python

demo: $(VENV)/.core ## select context for a bundled agent session, and say why
	@$(BIN)/python examples/demo.py

test: setup ## run the tests with coverage, the documentation's examples and the project's own vectors
	@sh tools/run_tests.sh $(BIN)/python

test-elsewhere: setup ## run what could notice it with other paths, users, locales, widths and the like
	@$(BIN)/python -m tools.test_elsewhere

test-browser: setup-browser ## run the tests of pages in Chromium
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal tests/browser

test-pythons: setup ## run the tests on Python 3.11, 3.12 and 3.13
	@sh tools/test_pythons.sh $(PYTHONS)

test-integrations: setup ## run the hooks against the real libraries, in environments of their own
	@sh tools/test_integrations.sh $(PYTHON)

test-integrations-large: setup ## run the hooks for LiteLLM and crewAI, too large for CI; commit tests/integrations_env/large.txt
	@for each in d e; do sh tools/test_integrations.sh $$each || exit; done >tests/integrations_env/large.txt 2>&1; \
	  status=$$?; cat tests/integrations_env/large.txt; exit $$status

test-engines: setup ## run batches on Dask, Spark, Ray and DuckDB, in an environment of their own; needs Java
	@sh tools/test_engines.sh

fuzz: setup ## fuzz pipelines for a minute, every reader for some seconds, and trim 140,000 random histories
	@$(BIN)/python -m tests.fuzz.pipelines --minutes 1 & pipelines=$$!; \
	  $(BIN)/python -m tests.fuzz.readers --minutes 0.1; readers=$$?; \
	  $(BIN)/python -m tests.fuzz.histories --trims 20000 --minutes 15; histories=$$?; \
	  wait $$pipelines && [ $$readers = 0 ] && exit $$histories

soak: setup ## run 200,000 selections over items and 20,000 over histories in one process, with flat memory; SOAK='--items 1000 --histories 100' for fewer
	@$(BIN)/python -m tests.fuzz.soak $(SOAK)

mutate: ## change the core in thousands of ways, and list the changes that no test notices; MUTANTS='pycupel.kernels.order*' or '--draw 300' for some
	@sh tools/mutate.sh $(PYTHON) $(MUTANTS)

format: setup ## format the code
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

format-check: setup ## check the format
	@$(BIN)/ruff format --check .

lint: setup ## run the linter
	@$(BIN)/ruff check .

types: setup ## run mypy and pyright, both strict
	@$(BIN)/mypy & mypy=$$!; \
	  $(BIN)/pyright; pyright=$$?; \
	  wait $$mypy && exit $$pyright

layers: setup ## check who imports whom
	@$(BIN)/lint-imports

conformance: setup ## run the project's own vectors, and the upstream suite if it is beside the project
	@$(BIN)/python -m pycupel.conformance vectors
	@if [ -d $(SHARED_VECTORS) ]; then $(BIN)/python -m pycupel.conformance $(SHARED_VECTORS); fi

conformance-page: setup ## write docs/conformance.md, what proves each statement of the specification
	@$(BIN)/python -m tools.conformance_page

bench: setup ## measure speed and memory, in multiples of what cannot be avoided
	@$(BIN)/python -m benchmarks.run
	@$(BIN)/python -m benchmarks.otel
	@$(BIN)/python -m benchmarks.messages
	@$(BIN)/python -m benchmarks.growing
	@$(BIN)/python -m benchmarks.tokens
	@$(BIN)/python -m benchmarks.growth
	@$(BIN)/python -m benchmarks.streams
	@$(BIN)/python -m benchmarks.batch
	@$(BIN)/python -m benchmarks.cli

docs: setup ## build the documentation site, with a reference of the API, follow its links, and compare the API with the last release's
	@sh tools/set_up.sh $(PYTHON) .venv-docs . tools/docs.txt
	@.venv-docs/bin/python -m tools.public_api
	@.venv-docs/bin/python -m tools.site

docs-serve: setup ## show the documentation site
	@sh tools/set_up.sh $(PYTHON) .venv-docs . tools/docs.txt
	@.venv-docs/bin/python -m tools.site --serve

models: setup ## compare the limits of models with litellm's table, and change the rows that differ
	@$(BIN)/python -m tools.compare_models

sdk-types: setup ## list the types of parts and items in the newest SDKs, and print which are new
	@$(BIN)/python -m tools.sdk_types

bench-integrations: setup ## compare with LangChain's trim_messages, and measure objects of libraries beside dicts
	@sh tools/set_up.sh $(PYTHON) .venv-adapters-a '.[test]' tools/adapters-a.txt
	@.venv-adapters-a/bin/python -m benchmarks.libraries

compare: setup ## compare with other libraries on the same histories and questions, and write the tables of docs/comparison.md
	@sh tools/compare.sh $(PYTHON)

quality: setup ## measure how much of the evidence each preset keeps
	@$(BIN)/python -m benchmarks.quality

wheel-smoke: setup ## build the wheel, install it alone into a new environment, use it from outside the tree
	@sh tools/wheel_smoke.sh $(BIN)/python

build: setup ## build the wheel and the source distribution twice, compare them, and check what PyPI would show
	@sh tools/set_up.sh $(PYTHON) .venv-build . tools/build.txt
	@sh tools/build.sh .venv-build/bin/python

clean: ## remove what the other targets have made
	@rm -rf .venv .venv-* mutants build dist .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .browser
