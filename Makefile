# `make` alone names the targets. All of them set .venv up first; none needs root.
.DEFAULT_GOAL := help
.PHONY: help setup check test test-clients test-compiled campaigns test-all bench demo wheel ci pins
BIN := .venv/bin

help:
	@echo "make demo      two agents at work, in half a minute"
	@echo "make test      the tests of every change"
	@echo "make check     ruff, mypy, layer contracts"
	@echo "make test-all  the tests and the long campaigns (some need root on Linux, and say so)"
	@echo "make campaigns only the long ones"
	@echo "make test-clients  the tests with real agent clients, which it installs (needs npm and tmux)"
	@echo "make test-compiled  the hub's tests against the compiled wheel"
	@echo "make wheel     dist/peerline-....whl, compiled where a C compiler is"
	@echo "make bench     the promised figures, measured beside other systems"
	@echo "make ci        what a submission must pass: check, test, test-all"
	@echo "make setup     .venv with the pinned versions"
	@echo "make pins      resolve the pinned versions anew (needs uv)"

setup:
	@./setup

check: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

test:
	@./test

# The clients go to .cache/clients, about a gigabyte; KXM_TEST_WAKE_UPS=100 repeats each wake-up that often.
# Most of the time goes in waiting: for starts, and for Codex, which looks into its queue every ten seconds.
test-clients: setup
	$(BIN)/python -m tests.clients.install
	$(BIN)/python -m pytest -m clients -n 3 --dist load tests/clients

# What touches the hub, once more, with its hot modules compiled.
COMPILED := tests/core tests/wire tests/database tests/store tests/hub tests/server tests/client tests/faults tests/cli \
	tests/truth tests/test_compiled.py
test-compiled: setup
	$(BIN)/python -m tests.compiled -m "not slow and not clients and not plain" -n 4 --dist worksteal $(COMPILED)

# The fault campaigns load the machine and its disk, so they run one after another; the others only compute.
campaigns: setup
	$(BIN)/python -m pytest -m "slow and not clients" --ignore=tests/faults -n 2 --dist load
	$(BIN)/python -m pytest -m slow tests/faults

test-all: test campaigns

wheel:
	@./wheel

bench: setup
	$(BIN)/python -m bench

demo:
	@./demo

ci:
	@.ci/run

# Names, versions and hashes only: where a package came from stays out of the repository.
UV ?= uv
PIN := $(UV) pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes --no-header \
	--no-annotate --no-emit-index-url

pins:
	$(PIN) pyproject.toml --group build --output-file constraints.txt
	$(PIN) pyproject.toml --group build --group dev --constraint constraints.txt --output-file constraints-dev.txt
