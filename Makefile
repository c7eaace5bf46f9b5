# SPDX-License-Identifier: Apache-2.0
# `make help` lists the verbs. Everything built goes to build/, the virtual environment to .venv.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
BUILD := build
READY := $(VENV)/.ready
C_SOURCES = $(shell find target_c -name '*.[ch]' -not -path '*/generated/*')
DEMO_SECONDS ?= 5
PYTEST := $(PY) -m pytest

# What the included files add to: everything `make build` makes, and what the target tests need.
BUILD_TARGETS :=

.PHONY: help setup build gen demo test test-unit test-target test-qemu truth storm soak fuzz bench check clean

help: ## show the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## install what is missing: packages (as root), the agent's libraries, .venv with vxmon

$(READY): pyproject.toml .ci/setup-apt .ci/fetch-sources .ci/setup-venv
	@.ci/setup-apt
	@.ci/fetch-sources
	@PYTHON=$(PYTHON) .ci/setup-venv $(VENV)
	@touch $@

-include target_c/agent.mk
-include target_c/kernel/kernel.mk

build: $(READY) ## build the demo target and the agent's host builds
	@$(MAKE) --no-print-directory $(if $(findstring j,$(firstword -$(MAKEFLAGS))),,-j$(shell nproc)) build-targets

.PHONY: build-targets
build-targets: $(BUILD_TARGETS)

gen: $(READY) ## make the generated code and documents from proto/
	@$(PY) -m proto.gen

demo: build ## capture a few seconds from the demo target on QEMU and show them
	@mkdir -p $(BUILD)
	$(VENV)/bin/vxmon capture --qemu -d $(DEMO_SECONDS) -o $(BUILD)/demo.pcapng
	$(VENV)/bin/vxmon print $(BUILD)/demo.pcapng | head -n 40
	$(VENV)/bin/vxmon info $(BUILD)/demo.pcapng

test: build check ## everything: checks, then all tests
	@$(PYTEST)

test-unit: $(READY) ## tests that need no target
	@$(PYTEST) tests/unit tests/contract tests/compat tests/fuzz

test-target: build ## the agent on Linux (posix port)
	@$(PYTEST) tests/target

test-qemu: build ## the demo target on QEMU
	@$(PYTEST) tests/qemu

truth: build ## compare the analysis with the demo kernel's own books, in every scenario
	@$(PY) -m tests.support.truth

SEEDS ?= 20
LOSS ?= 30
QEMU ?= 25
storm: build ## captures through a bad link, against the target's own list: SEEDS=20 LOSS=30 (or mixed), QEMU=25 percent
	@$(PY) -m tests.storm --seeds $(SEEDS) --loss $(LOSS) --qemu $(QEMU)

MINUTES ?= 15
soak: build ## a long capture on QEMU, MINUTES=15: memory flat, nothing lost
	@$(PY) -m tests.storm.soak --minutes $(MINUTES)

SECONDS ?= 600
fuzz: build ## hostile datagrams into the agent (libFuzzer, SECONDS=600), and a million and hostile files into the host
	@mkdir -p $(BUILD)/fuzz
	@if [ -x $(BUILD)/posix/fuzz-datagram ]; then $(BUILD)/posix/fuzz-datagram -max_total_time=$(SECONDS) \
	    -max_len=4096 -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz- \
	    $(BUILD)/fuzz tests/fuzz/corpus/datagram; \
	    else echo "clang is not installed: the agent is fuzzed without coverage"; \
	    $(BUILD)/posix/fuzz-agent --count 1000000000 --seconds $(SECONDS); fi
	@$(PY) -m tests.fuzz.host

bench: build ## measure beside peers and print a table, see tests/bench; BENCH="NAME... --load N" for some
	@$(PY) -m tests.bench $(BENCH)

check: $(READY) ## style, types and import rules
	@$(VENV)/bin/ruff check
	@$(VENV)/bin/ruff format --check
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports --no-cache
	@$(if $(C_SOURCES),clang-format --dry-run -Werror $(C_SOURCES))

clean: ## remove what was built (not the virtual environment, not third-party source)
	@find $(BUILD) -mindepth 1 -maxdepth 1 -not -name third_party -exec rm -rf {} + 2>/dev/null || true
