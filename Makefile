# A fresh machine needs Python 3.11 or later, git and make; `make demo` and `make test` install the rest into .venv.

PYTHON ?= python3
VENV ?= .venv
PLUGINS := $(sort $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml)))
BIN := $(VENV)/bin
EDITABLE := --editable . $(addprefix --editable ./,$(PLUGINS))
FUZZ_SECONDS ?= 120
MUTANTS ?= 100
MUTANT_GROUPS ?= carrier residuals json actf ale atif openai
INSTALLED := $(VENV)/.installed-test
TOOLS := $(VENV)/.installed-dev
OWNERS := $(wildcard plugins/*/tests/owner.txt)

.PHONY: help demo test slow fuzz mutants dev lint types coverage docs bench dist clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*  ## /  make \1\t/p' $(MAKEFILE_LIST)

demo: $(INSTALLED)  ## detect, convert and show the trajectory in examples/
	@$(BIN)/python examples/demo.py

test: $(INSTALLED)  ## run the tests of the hub, of every plugin, and across them
	@$(BIN)/python -m pytest -q -W error $(PYTEST_ARGS)

slow: $(INSTALLED)  ## run the tests that need large packages: what trainers load, and Ray
	@$(BIN)/python -m pip install --quiet --group trainers --group cluster
	@$(BIN)/python -m pytest -q -W error -m slow $(PYTEST_ARGS)

fuzz: $(INSTALLED)  ## look for input that breaks something, FUZZ_SECONDS long; pip install atheris for the half by coverage
	@$(BIN)/python tests/fuzz $(FUZZ_SECONDS)

mutants: $(INSTALLED)  ## change the code a little, MUTANTS times for each of MUTANT_GROUPS, and show what no test notices
	@for group in $(MUTANT_GROUPS); do nice $(BIN)/python tests/mutation $$group $(MUTANTS) || exit 1; done

dev: $(TOOLS)  ## install the tools of every target below

lint: $(TOOLS)  ## format, lint, layers, spelling
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/codespell

types: $(TOOLS)  ## mypy over the hub, then over each plugin and its tests
	@$(BIN)/mypy
	@for plugin in $(PLUGINS); do (cd "$$plugin" && $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml .) || exit 1; done

coverage: $(TOOLS)  ## run the tests and show what they do not reach
	@$(BIN)/python -m pytest -q -W error --cov --cov-report=term $(PYTEST_ARGS)

docs: $(TOOLS)  ## write the generated pages anew and build the site
	@$(BIN)/python docs/generate.py
	@$(BIN)/mkdocs build --quiet --strict

bench: $(INSTALLED)  ## measure speed and memory against the bars of docs/design/speed.md
	@$(BIN)/python benchmarks/run.py $(BENCH_ARGS)

dist: $(TOOLS)  ## build and check every wheel and source distribution into dist/
	@rm -rf dist
	@for part in . $(PLUGINS); do $(BIN)/python -m build --no-isolation --outdir dist "$$part" >/dev/null || exit 1; done
	@$(BIN)/twine check --strict dist/*

clean:  ## remove what was built, but not .venv
	@rm -rf build dist site .coverage htmlcov .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

# What is installed stands in a stamp file, so that a second run starts at once. A folder that uv made has no pip, and the pip
# that comes with an older Python knows no dependency groups. Packages of format owners are there for their models alone:
# they come without what they need to run, and whether the models run with this Python is for the tests to find out.

$(INSTALLED): pyproject.toml $(addsuffix /pyproject.toml,$(PLUGINS)) $(OWNERS) | $(BIN)/python
	@echo "Installing the hub and $(words $(PLUGINS)) plugins into $(VENV) ..."
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet $(EDITABLE) --group test
	@for owner in $(OWNERS); do \
	  $(BIN)/python -m pip install --quiet --no-deps --ignore-requires-python --requirement "$$owner" \
	  || echo "$$owner cannot be installed; the tests that ask the owner of that format are skipped" >&2; done
	@touch $@

$(TOOLS): $(INSTALLED)
	@echo "Installing the development tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --group dev
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or later is needed, and \`$(PYTHON)\` is none; choose another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "\`$(PYTHON)\` comes without venv; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)
