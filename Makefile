# One way in: `make` prints what there is. Needs Python >= 3.11 with venv, make and git; the environment is made on demand.
PYTHON ?= python3
VENV ?= .venv
# PY: the interpreter that runs everything. Give it to use an environment of your own (conda: see environment.yml): make report PY=python
PY ?= $(VENV)/bin/python
READY := $(if $(filter $(VENV)/bin/python,$(PY)),$(VENV)/.ready)
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
export DATA OUT

.DEFAULT_GOAL := help
.PHONY: help setup report facts lab test coverage bench fuzz lint lock clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo "  studies:       $$(cd data && ls -d */ 2>/dev/null | tr '\n' ' ')"

setup: $(READY)  ## make the environment in .venv from requirements.lock

report: $(READY)  ## read a study and render its report: make report DATA=vllm-cpu/ (a name below data/, or a path); FORCE=1: anew
	@$(PY) -m analysis report "$${DATA:-}" $${OUT:+--out "$$OUT"} $(if $(FORCE),--force)

facts: $(READY)  ## print as JSON what is read from a study: make facts DATA=vllm-cpu/
	@$(PY) -m analysis facts "$${DATA:-}"

lab: $(READY)  ## open JupyterLab on the notebooks
	$(PY) -m jupyter lab --notebook-dir=notebooks

test: $(READY)  ## run all tests, style and type checks included
	$(PY) -m pytest -n auto

coverage: $(READY)  ## simulate how often each interval covers (minutes); rewrites the table in docs/methods.md
	PYTHONPATH=src $(PY) tests/estimates/coverage_table.py docs/methods.md

bench: $(READY)  ## measure speed beside peers and floors (ten minutes); rewrites docs/benchmarks.md
	POLARS_MAX_THREADS=1 PYTHONPATH=src:. $(PY) -m benchmarks.bench

fuzz: $(READY)  ## damage real files at random and read them: make fuzz SECONDS=600
	$(PY) tests/fuzz.py --seconds $(or $(SECONDS),600)

lint: $(READY)  ## style and types only
	$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m mypy

lock: $(READY)  ## resolve the ranges of pyproject.toml into requirements.lock
	$(PY) -m uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --custom-compile-command "make lock" --quiet --output-file requirements.lock

clean:  ## remove generated reports and stores; the environment stays
	find reports -mindepth 1 -maxdepth 1 ! -name .gitignore -exec rm -rf {} +

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "This needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12 ...")'
	@echo "Making the environment in $(VENV) from requirements.lock: one to four minutes, 1.4 GB."
	@$(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) cannot make a virtual environment; install its venv module (Debian: python3-venv)." >&2; exit 1; }
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
