# Every target works on a fresh clone: `venv` builds the whole environment in .venv from the lock file.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
COMPILED := .venv-compiled
# Images for containers set it. The tests start hundreds of processes, each of which would compile everything it imports.
unexport PYTHONDONTWRITEBYTECODE
UV_VERSION := 0.13.7

# $(call need,COMMAND,DEBIAN PACKAGE,REASON): check that a program is there. Root on Debian gets its package, announced
# with the reason before it is installed; everybody else gets an error that says what to install and why.
define need
	command -v $(1) >/dev/null || { \
	  echo "$(1) is missing. It is needed $(3)." >&2; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing the Debian package $(2)." >&2; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(2) >/dev/null; \
	  else echo "Install it first (on Debian: apt-get install $(2))." >&2; exit 1; fi; }
endef

# Debian keeps the server's programs outside the path.
define need_postgres
	ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || $(call need,pg_ctl,postgresql,$(1))
endef

define need_nginx
	$(call need,nginx,nginx-light,$(1))
endef

# Formatted, linted and, together with the tests, checked by `make check`.
SOURCES := src tests docs bench research deploy

.PHONY: help
help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: venv
venv: $(STAMP)  ## set up the environment in .venv from requirements.lock, with evercrawl as editable, pure Python

$(STAMP): requirements.lock pyproject.toml
	@$(call need,$(PYTHON),python3,to run evercrawl)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; say which with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing the Debian package python3-venv: it is needed to set up the environment in $(VENV)."; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; \
	  else echo "python3-venv is missing: install it (on Debian: apt-get install python3-venv)" >&2; exit 1; fi; }
	@echo "setting up the environment in $(VENV); this takes a minute, once"
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Compiled code exists only in wheels, built from a copy of the sources: in the tree it would hide later edits.
.PHONY: wheel
wheel: venv  ## build the sdist, and from it a wheel with compiled modules for this Python and platform, in dist
	@command -v cc >/dev/null || { echo "A C compiler is missing. On Debian: apt-get install gcc python3-dev" >&2; exit 1; }
	rm -rf dist
	HATCH_BUILD_HOOKS_ENABLE=1 $(BIN)/python -m build --outdir dist .

.PHONY: compiled
compiled: $(COMPILED)/.installed  ## set up .venv-compiled: the environment with the compiled wheel, for benchmarks

$(COMPILED)/.installed: $(shell find src -name '*.py') pyproject.toml requirements.lock
	$(MAKE) wheel
	@[ -x $(COMPILED)/bin/python ] || $(PYTHON) -m venv $(COMPILED)
	@$(COMPILED)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(COMPILED)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall dist/*.whl
	@if command -v cargo >/dev/null; then $(MAKE) native; else echo "No Rust compiler: without the native pass over pages."; fi
	@touch $@

# A package of its own, so that evercrawl itself needs no compiler.
.PHONY: native
native: $(COMPILED)/.native  ## build the native pass over pages (Rust) and install it in .venv-compiled

$(COMPILED)/.native: $(wildcard native/src/*.rs) native/Cargo.toml native/Cargo.lock native/pyproject.toml
	@command -v cargo >/dev/null || { echo "A Rust compiler is missing. See https://rustup.rs" >&2; exit 1; }
	@[ -x $(COMPILED)/bin/python ] || { $(PYTHON) -m venv $(COMPILED); $(COMPILED)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock; }
	rm -rf build/native
	$(COMPILED)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/native ./native
	$(COMPILED)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall build/native/*.whl
	PYTHONPATH=src:. $(COMPILED)/bin/python -c "from evercrawl.core.document.native_pass import is_native; assert is_native()"
	PYTHONPATH=src:. $(COMPILED)/bin/python -m pytest -q tests/unit/core/document/test_native_pass.py
	@touch $@

.PHONY: demo
demo: $(STAMP)  ## crawl a small living web on this machine, change it, crawl again
	@$(BIN)/python -m tests.worlds.demo

.PHONY: lint
lint: $(STAMP)  ## format, lint and types
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy

.PHONY: check
check: lint  ## format, lint, types, architecture, unit, property, docs; under a minute
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow and not long" tests/architecture tests/unit tests/property tests/docs

.PHONY: test
test: lint  ## everything that CI runs; under ten minutes
	@$(call need_nginx,as a web server whose log is independent of our own code)
	@$(call need,chromium,chromium,to test rendering and the web interface)
	@$(call need_postgres,to test collections in PostgreSQL)
	@$(call need,systemd-analyze,systemd,to check the systemd units)
	$(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not long" tests

.PHONY: house
house: $(STAMP)  ## measure the layout of the package against its targets
	$(BIN)/python tests/architecture/house.py -v

.PHONY: bench
bench: compiled  ## speed beside other crawlers, growth, 200 crashes
	@$(call need_nginx,to serve the benchmark web)
	@$(call need,wget,wget,as one of the crawlers in the race)
	$(COMPILED)/bin/python bench/race.py 3
	$(MAKE) bench-growth bench-crash bench-watch

.PHONY: bench-growth
bench-growth: venv  ## ten million URLs offered to one collection
	@mkdir -p scratch
	for shards in 64 1; do $(BIN)/python bench/growth.py scratch/growth --urls 10000000 --shards $$shards --out scratch/growth-$$shards.jsonl; done
	$(BIN)/python bench/plot.py scratch/growth-64.jsonl scratch/growth-1.jsonl --out scratch/growth.svg

.PHONY: bench-traps
bench-traps: venv  ## real pages per request with planted traps, on the benchmark web in virtual time
	$(BIN)/python bench/traps.py 50000

.PHONY: bench-long
bench-long: venv  ## the long forms of simulations: more living sites, a thousand sites with faults
	$(BIN)/pytest -n 2 --dist worksteal -m long tests

.PHONY: bench-crash
bench-crash: venv  ## kill -9 at 200 random moments, resume, check the archive
	$(BIN)/python -m tests.e2e.crash 200

.PHONY: bench-fuzz
bench-fuzz: venv  ## repeated and mutated inputs for every parser, an hour of processor time each; the last line is JSON: DURATION=3600 SEED=1
	$(BIN)/python -m tests.fuzz.growth --seconds $(or $(DURATION),3600) --seed $(or $(SEED),1) || true
	$(BIN)/python -m tests.fuzz.run --seconds $(or $(DURATION),3600) --seed $(or $(SEED),1)

.PHONY: bench-failover
bench-failover: venv  ## workers and the database die and come back for five minutes; the last line is JSON
	@$(call need_postgres,for the measurements with PostgreSQL)
	$(BIN)/python -m tests.e2e.failover --minutes 5

.PHONY: bench-cluster-sim
bench-cluster-sim: venv  ## 100 workers, 10,000 sites, faults, in virtual time; the last line is JSON: DAYS=14 SEED=1
	$(BIN)/python bench/cluster_sim.py --days $(or $(DAYS),14) --seed $(or $(SEED),1)

.PHONY: bench-cost
bench-cost: venv  ## CPU of a page with the state in PostgreSQL and in files; needs the served web of the shared bench folder
	@$(call need_postgres,for the measurements with PostgreSQL)
	PYTHONPATH=. $(BIN)/python bench/cost.py 3

.PHONY: bench-scale
bench-scale: venv  ## two workers against one, then commits at 12 million URLs in a fifth of their memory; an hour, quiet machine
	@$(call need_postgres,for the measurements with PostgreSQL)
	PYTHONPATH=. $(BIN)/python bench/scale.py 3
	PYTHONPATH=. $(BIN)/python bench/scale.py 3 --store postgres
	PYTHONPATH=. $(BIN)/python bench/commit_rate.py --links random
	PYTHONPATH=. $(BIN)/python bench/commit_rate.py --links folder

.PHONY: bench-watch
bench-watch: venv  ## 200 sites watched for 180 days of virtual time, with faults
	$(BIN)/python bench/watch.py --sites 200 --days 180

.PHONY: bench-slow
bench-slow: venv  ## the first crawl of a thousand slow sites in virtual time, against the best that their delays allow
	$(BIN)/python bench/slow_web.py --sites 1000

.PHONY: bench-sitemap
bench-sitemap: venv  ## a large site's sitemap, built again after ten edits: make bench-sitemap SITE=folder
	mkdir -p scratch
	$(BIN)/python bench/sitemap.py $(SITE) scratch

.PHONY: bench-freshness
bench-freshness: venv  ## all revisit policies on recorded page histories: make bench-freshness TRACES=folder
	$(BIN)/python bench/freshness.py $(TRACES)
	$(BIN)/python bench/choose.py

.PHONY: bench-web
bench-web: venv  ## pages over a million pages; fifty readers beside a crawl
	PYTHONPATH=. $(BIN)/python bench/web.py million
	PYTHONPATH=. $(BIN)/python bench/web.py readers

.PHONY: docs
docs: venv  ## write the generated reference pages again
	$(BIN)/python docs/generate.py

.PHONY: docs-site
docs-site: docs  ## build the documentation as a site with search in build/site
	$(BIN)/python docs/build_site.py

.PHONY: man
man: venv  ## write the man page to build/man/evercrawl.1
	$(BIN)/python docs/man.py

.PHONY: picture
picture: venv  ## draw the picture of the README again, from a crawl of the demo's web
	PYTHONPATH=. $(BIN)/python docs/make_picture.py

.PHONY: web-pictures
web-pictures: venv  ## take the pictures of the web interface again, from a collection made in virtual time
	@$(call need,chromium,chromium,to take screenshots of the web interface)
	PYTHONPATH=. $(BIN)/python docs/make_web_pictures.py

.PHONY: lock
lock:  ## choose versions again and write requirements.lock
	@[ -x build/lock/bin/uv ] || { $(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet uv==$(UV_VERSION); }
	build/lock/bin/uv pip compile pyproject.toml --quiet --upgrade --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --group dev --group docs --all-extras --universal --python-version 3.11 --custom-compile-command "make lock" -o requirements.lock

.PHONY: release
release: check  ## check, build, try and tag a version: make release VERSION=0.2.0 DRY=1 (nothing is uploaded)
	$(BIN)/python deploy/release.py $(VERSION) $(if $(DRY),--dry-run)

.PHONY: clean
clean:  ## remove the environment and everything that was built
	rm -rf $(VENV) $(COMPILED) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info src/*.egg-info
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
