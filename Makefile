# Everything runs from a fresh machine with Python 3.11+ and make: set-up is a prerequisite.
PYTHON ?= python3
VENV   ?= .venv
SPACE  ?= quickstart
SCALE  ?= scale-run
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# One worker for each processor; one more where tests wait for others most of the time. A file stays
# in one worker, as its tests share what they start from; tests/conftest.py decides on the order.
PYTEST  = $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
WORKERS = 2

.PHONY: run test test-quick test-faults test-cluster fuzz soak scale check bench clean

run: $(READY)
	$(BIN)/clar-tune run --space $(SPACE)
	$(BIN)/clar-tune report

# One process each, no network: a minute or two.
test-quick: TESTS = tests/unit
test-quick: $(READY)
	$(PYTEST) $(TESTS) $(PYTEST_ARGS)

# What a change must pass: units, runs on a local Ray, every command that is shown.
test: TESTS = tests/unit tests/integration tests/docs tests/frozen
test: WORKERS = 3
test: $(READY)
	$(PYTEST) $(TESTS) $(PYTEST_ARGS)

# Kills, two drivers, full disks, interrupts; pages in a real browser.
test-faults: TESTS = tests/faults tests/browser
test-faults: $(READY)
	$(PYTEST) $(TESTS) $(PYTEST_ARGS)

# Several machines: hosts, networks that fail, installations, the guide, thousands of trials.
test-cluster: TESTS = tests/cluster
test-cluster: $(READY)
	$(PYTEST) $(TESTS) $(PYTEST_ARGS)

# Ten thousand mutated and hostile spaces: under three minutes of one processor.
fuzz: $(READY)
	$(BIN)/python -m benchmarks.fuzz_spaces

# Drivers killed, stopped, overtaken and refused, two hundred cycles or half an hour.
soak: $(READY)
	$(BIN)/python -m benchmarks.soak

# A hundred thousand trials, at most two hours: Ctrl-C pauses, the same command goes on.
scale: $(READY)
	nice -n 19 $(BIN)/python -m benchmarks.scale --folder $(SCALE)
	nice -n 19 $(BIN)/python -m benchmarks.resume

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	sh tests/support/compile_latex.sh

bench: $(READY)
	$(BIN)/python -m benchmarks.epochs

clean:
	rm -rf $(VENV)

# The constraint file pins build requirements too, hence the variable instead of `-c`.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --editable '.[dev]'
	touch $@
