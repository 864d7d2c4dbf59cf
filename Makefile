# One way in: `make` prints what there is. Needs Python >= 3.11 with venv, make and git; the environment is made on demand.
PYTHON ?= python3
VENV ?= .venv
# PY: the interpreter that runs everything. Give it to use an environment of your own (conda: see environment.yml): make report PY=python
PY ?= $(VENV)/bin/python
READY := $(if $(filter $(VENV)/bin/python,$(PY)),$(VENV)/.ready)
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
export DATA OUT A B BATCH_TOKENS MAX_MODEL_LEN URL CHAT BATCH MODEL REQUESTS REMOTE ARM FROM FORCE EVERY FOR CMD REPEAT NAME TIMEOUT AFTER

.DEFAULT_GOAL := help
.PHONY: help setup report single post check-report compare facts risk trace decide capture capture-boot export claims notebook reconstruct lab test coverage validation bench fuzz lint lock clean

setup: $(READY)  ## make the environment in .venv from requirements.lock

report: $(READY)  ## read a study and render its report: make report DATA=vllm-cpu/ (a name below data/, or a path); FORCE=1: anew
	@$(PY) -m analysis report "$${DATA:-}" $${OUT:+--out "$$OUT"} $(if $(filter no,$(REDACT)),--no-redact) $(if $(FORCE),--force)

single: $(READY)  ## the report as one HTML file, to mail: make single DATA=vllm-cpu/
	@$(PY) -m analysis single "$${DATA:-}" $${OUT:+--out "$$OUT"}

post: $(READY)  ## write the study's post, Markdown and HTML, from its report: make post DATA=cluster-a/
	@$(PY) -m analysis post "$${DATA:-}" $${OUT:+--out "$$OUT"}

check-report: $(READY)  ## may the report be shared? secrets, names, scripts in it: make check-report DATA=vllm-cpu/
	@$(PY) -m analysis check-report "$${DATA:-}"

claims: $(READY)  ## check what was published about a study: make claims DATA=cluster-a/ (fails when a verdict changed)
	@$(PY) -m analysis claims "$${DATA:-}"

notebook: $(READY)  ## start a notebook of your own: make notebook NAME=55-my-question
	@$(PY) -m analysis notebook "$${NAME:-}"

reconstruct: $(READY)  ## write the files of data/cluster-a again from the table in its study.toml
	@$(PY) -m analysis reconstruct

compare: $(READY)  ## compare two studies, or two arms: make compare A=before/ B=after/ (or A='vllm-cpu#A' B='vllm-cpu#D')
	@$(PY) -m analysis compare "$${A:-}" "$${B:-}" $${OUT:+--out "$$OUT"}

facts: $(READY)  ## print as JSON what is read from a study: make facts DATA=vllm-cpu/
	@$(PY) -m analysis facts "$${DATA:-}"

risk: $(READY)  ## say whether a boot would start: make risk DATA=vllm-cpu/ BATCH_TOKENS=12288 [MAX_MODEL_LEN=8192]
	@$(PY) -m analysis risk "$${DATA:-}" --batch-tokens "$${BATCH_TOKENS:-}" $${MAX_MODEL_LEN:+--max-model-len "$$MAX_MODEL_LEN"}

trace: $(READY)  ## load an engine and time its tokens: make trace URL=http://127.0.0.1:8000 CHAT=short.txt BATCH=long.txt
	@$(PY) -m analysis trace "$${URL:-}" "$${CHAT:-}" "$${BATCH:-}" $${OUT:+--out "$$OUT"} $${MODEL:+--model "$$MODEL"} \
	    $(if $(SECONDS),--seconds $(SECONDS)) $${REQUESTS:+--requests "$$REQUESTS"} $${REMOTE:+--allow-remote}

decide: $(READY)  ## write the draft of a decision record beside a study: make decide DATA=vllm-cpu/ (ARM=, FROM=another study, FORCE=1)
	@$(PY) -m analysis decide "$${DATA:-}" $${ARM:+--arm "$$ARM"} $${FROM:+--from "$$FROM"} $${FORCE:+--force}

capture: $(READY)  ## scrape servers: make capture URL=http://127.0.0.1:8000 DATA=my-cluster/ EVERY=15s FOR=1h
	@$(PY) -m analysis capture "$${DATA:-}" "$${URL:-}" $${EVERY:+--every "$$EVERY"} $${FOR:+--for "$$FOR"}

capture-boot: $(READY)  ## run boots and keep their logs: make capture-boot DATA=my-cluster/ REPEAT=3 CMD="vllm serve ..."
	@$(PY) -m analysis capture-boot "$${DATA:-}" --cmd "$${CMD:-}" $${REPEAT:+--repeat "$$REPEAT"} $${NAME:+--name "$$NAME"} \
	    $${ARM:+--arm "$$ARM"} $${TIMEOUT:+--timeout "$$TIMEOUT"} $${AFTER:+--after "$$AFTER"}

export: $(READY)  ## write a study's tables as Parquet: make export DATA=vllm-cpu/ OUT=tables/
	@$(PY) -m analysis export "$${DATA:-}" $${OUT:+--out "$$OUT"}

lab: $(READY)  ## open JupyterLab on the notebooks
	$(PY) -m jupyter lab --notebook-dir=notebooks

test: $(READY)  ## run all tests, style and type checks included
	$(PY) -m pytest -n auto

coverage: $(READY)  ## simulate how often each interval covers (minutes); rewrites the table in docs/methods.md
	PYTHONPATH=src $(PY) tests/estimates/coverage_table.py docs/methods.md

validation: $(READY)  ## estimate step time without the step log, against it; rewrites the table in docs/step-time-validation.md
	PYTHONPATH=src:tests/findings $(PY) tests/findings/validation_table.py docs/step-time-validation.md

bench: $(READY)  ## measure speed beside peers and floors (ten minutes, 13 GB of disk); rewrites docs/benchmarks.md
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
