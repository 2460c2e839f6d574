# Each verb sets up .venv by itself; nothing else has to be run first.
.DEFAULT_GOAL := help
PYTHON ?= python3.11
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help demo test check bench simulate release fmt clean

help: ## list the verbs
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/'

$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "omnigraph needs Python 3.11 or newer: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[spark,server]' --group dev
	@touch $@

demo: $(READY) ## a guided tour of everything, on a graph in a temporary folder
	@$(BIN)/python -m bench.demo

test: $(READY) ## every test: unit, cost, faults, races, simulation
	@echo "every test: about 4,000, ten to fifteen minutes on two cores; the longest run first"
	@$(BIN)/python -m tests.run

check: $(READY) ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache

bench: $(READY) ## speed, as ratios within one run
	@$(BIN)/python -m bench.run

simulate: $(READY) ## long simulation; SEEDS=n and FROM=n choose the universes
	@$(BIN)/python -m tests.simulation.run --seeds $(or $(SEEDS),10000) --from $(or $(FROM),0)

release: $(READY) ## build sdist and wheel, and run the quickstart with the wheel in an empty environment
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m bench.release dist

fmt: $(READY) ## apply formatting and safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove what the verbs made
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis
