# Everything runs from a fresh machine with Python 3.11+ and make: set-up is a prerequisite.
PYTHON ?= python3
VENV   ?= .venv
SPACE  ?= quickstart
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Tests of whole clusters: hosts, networks that fail, installations, the guide, ten thousand trials.
CLUSTER := tests/test_hosts.py tests/test_cluster_yaml.py tests/test_scale.py \
           tests/test_cluster_guide.py tests/test_cluster_launch.py

.PHONY: run test test-cluster check bench clean

run: $(READY)
	$(BIN)/clar-tune run --space $(SPACE)
	$(BIN)/clar-tune report

test: $(READY)
	$(BIN)/pytest -n 2 --dist loadfile $(CLUSTER:%=--ignore=%) $(PYTEST_ARGS)

test-cluster: $(READY)
	$(BIN)/pytest -n 2 --dist loadfile $(CLUSTER) $(PYTEST_ARGS)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	sh tests/compile_latex.sh

bench: $(READY)
	$(BIN)/python -m benchmarks.epochs

clean:
	rm -rf $(VENV)

# The constraint file pins build requirements too, hence the variable instead of `-c`.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --editable '.[dev]'
	touch $@
