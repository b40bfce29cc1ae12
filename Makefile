# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors

PYTHON ?= python3

# PYTHONUNBUFFERED makes modules read their source byte by byte, PYTHONDONTWRITEBYTECODE compiles ansible again at every start.
unexport PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE

# Use the certificates of the machine, as pip does. They may include those of a company proxy.
export UV_SYSTEM_CERTS := true

# Otherwise a copy of the collection installed for the user would take precedence over this one.
export ANSIBLE_HOME := $(CURDIR)/.build/ansible
export ANSIBLE_COLLECTIONS_PATH := $(CURDIR)/.build/ansible/collections

FOUND_PYTHON := $(shell tools/find-python $(PYTHON))
REAL_PYTHON := $(word 1,$(FOUND_PYTHON))
PYTHON_VERSION := $(word 2,$(FOUND_PYTHON))

BIN := .venv/bin
# The name has the Python version, so another version makes the environment again (tools/make-venv).
VENV := .venv/.made-$(PYTHON_VERSION)
DEMO := .venv/.demo-$(PYTHON_VERSION)
DEV := .venv/.dev-$(PYTHON_VERSION)
AUDIT := .build/audit/.made-$(PYTHON_VERSION)
SITE := .build/docs/.made-$(PYTHON_VERSION)
IMPORTER := .build/importer/.made-$(PYTHON_VERSION)
BENCH := .venv/.bench-$(PYTHON_VERSION)
EDA := .venv/.eda-$(PYTHON_VERSION)
MESH := .venv/.mesh-$(PYTHON_VERSION)
JOURNAL := .venv/.journal-$(PYTHON_VERSION)
MUTANTS := .venv/.mutants-$(PYTHON_VERSION)
EMULATOR := roles/emulator/files
# ansible-test checks only *.sh.
SHELL_SCRIPTS := .ci/run tools/ansible-test tools/copy-collection tools/find-java tools/find-python tools/link-packages \
  tools/make-venv tools/site
ISSUE_FORMS := $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
# Integration tests spend half of their time waiting.
WAITING_WORKERS := $(shell expr $$(nproc) \* 3)
# Some unit tests wait, too.
UNIT_WORKERS := $(shell expr $$(nproc) + 1)
PYTEST := $(BIN)/python -m pytest --quiet
CAPS := tests/unit/plugins/module_utils/_restart/test_caps_of_many.py
# Without the plugins that only other tests need.
PYTEST_UNIT := $(PYTEST) tests/unit -p no:schemathesis -p no:anyio --numprocesses $(UNIT_WORKERS)
PYTEST_INTEGRATION := $(PYTEST) tests/integration -p no:schemathesis -p no:anyio -p no:hypothesispytest
UV_INSTALL := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(DEMO) ## Restart on an emulator; show each restart with its proof, and a failure
	@$(BIN)/python tools/demo

.PHONY: first-steps
first-steps: ## Do what a new user does, from git clone on, and fail if it takes too long (FACTOR=3 on a busy machine)
	@$(REAL_PYTHON) tools/first-steps $(if $(FACTOR),--factor $(FACTOR))

.PHONY: emulator
emulator: $(DEMO) ## Run the emulator until Ctrl-C; its own fleet lasts (PORT=8080 FLEET=fleet.yml)
	@mkdir -p .build
	@# By its whole path, so that tools/make-venv sees that it runs.
	@"$(CURDIR)/$(BIN)/python" -m ocp_emulator serve $(if $(PORT),--port $(PORT)) \
	  $(if $(FLEET),--fleet "$(FLEET)",--database .build/emulator-$(or $(PORT),8080).sqlite)

.PHONY: emulator-wheel
emulator-wheel: $(DEV) ## Build the emulator with its pytest fixture as a package in .build/emulator
	@mkdir -p .build/emulator
	@tools/copy-collection .build/copy
	@$(BIN)/python tools/release/emulator_wheel.py .build/copy/ansible_collections/oceanbase/ocp .build/emulator

.PHONY: test
test: $(DEV) ## Run all checks and tests that a change has to pass
	@echo "Running integration, unit-all, sanity, lint and simulate-some side by side; each is shown when it has ended"
	@$(MAKE) --no-print-directory --jobs 3 --output-sync=target integration unit-all sanity lint simulate-some

# What make test leaves out, the quick ones first.
CHECK_ALL := audit docs importer sanity-all first-steps eda fuzz molecule units layouts outages journal nightly explore fuzz-defects chaos simulate-much simulate-bugs matrix

.PHONY: check-all
check-all: ## Run what make test leaves out, and end with a table (every night, and before a release; PARTS="docs eda", variables of the parts)
	@$(REAL_PYTHON) tools/check-all $(or $(PARTS),$(CHECK_ALL))

.PHONY: lint
lint: $(DEV) ## Check style, types, YAML, roles, playbooks, workflows and changelog fragments
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy -p ansible_collections.oceanbase.ocp.plugins.module_utils -p ansible_collections.oceanbase.ocp.plugins.plugin_utils
	MYPYPATH=$(EMULATOR) $(BIN)/mypy -p ocp_emulator
	$(BIN)/yamllint --strict .
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms $(ISSUE_FORMS)
	$(BIN)/check-jsonschema --quiet --check-metaschema docs/evidence.schema.json docs/approved-plan.schema.json
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/ansible-lint -q
	$(BIN)/antsibull-changelog lint
	$(BIN)/reuse lint --quiet || $(BIN)/reuse lint
	$(BIN)/shellcheck $(SHELL_SCRIPTS)

.PHONY: format
format: $(DEV) ## Format the Python code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: sanity
sanity: $(DEV) ## Run ansible-test sanity on what ships
	tools/ansible-test sanity .venv .build/sanity --exclude tests/

.PHONY: sanity-all
sanity-all: $(DEV) ## Run ansible-test sanity on the tests too
	tools/ansible-test sanity .venv .build/sanity

.PHONY: units
units: $(DEV) ## Run the unit tests of the plugins with ansible-test units, in its own environment
	tools/ansible-test units .venv .build/sanity tests/unit/plugins/

.PHONY: unit
unit: $(DEV) ## Run the fast unit tests: the plugins, without hypothesis
	$(PYTEST_UNIT) --ignore tests/unit/emulator -m "not slow and not hypothesis and not nightly" \
	  -p no:logging --dist loadfile

.PHONY: unit-slow
unit-slow: $(DEV) ## Run the other unit tests: the emulator, and hypothesis
	$(PYTEST_UNIT) -m "(slow or hypothesis) and not nightly" --dist worksteal

.PHONY: unit-all
unit-all: $(DEV) ## Run all unit tests at once
	$(PYTEST_UNIT) -m "not nightly" --dist worksteal

.PHONY: integration
integration: $(DEV) ## Run Ansible for real against the emulator
	$(PYTEST_INTEGRATION) -m "not nightly" --numprocesses $(WAITING_WORKERS) --dist worksteal

.PHONY: nightly
nightly: $(DEV) ## Run the unit and integration tests that make test leaves out
	$(PYTEST_UNIT) -m nightly --dist worksteal
	$(PYTEST_INTEGRATION) -m nightly --real-commands --numprocesses $(WAITING_WORKERS) --dist worksteal

.PHONY: caps
caps: $(DEV) ## Restart 1,000 clusters by 100 forks under caps, in 500 schedules of virtual time (SCHEDULES=n)
	CAP_SCHEDULES=$(or $(SCHEDULES),500) $(PYTEST) $(CAPS) -p no:schemathesis -m nightly --numprocesses auto

.PHONY: coverage
coverage: $(DEV) ## Show which lines of the plugins no test runs, including in playbooks (TESTS="tests/unit/plugins")
	@rm -rf .build/coverage
	@-$(BIN)/coverage run --source=$(CURDIR)/plugins -m pytest $(or $(TESTS),tests/unit/plugins tests/integration --real-commands) \
	  -p no:schemathesis --numprocesses auto --quiet
	@-$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report --sort=cover

.PHONY: bench
bench: $(BENCH) ## Run the benchmarks (ONLY=load for one of them)
	@$(BIN)/python tests/bench $(ONLY)

.PHONY: molecule
molecule: $(DEV) ## Run all molecule scenarios (OCP_PORT=18080 OCP_OTHER_PORT=18081 for their emulators)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/molecule test --all

.PHONY: java
java:
	@tools/find-java

.PHONY: eda
eda: java $(EDA) ## Run the rulebooks with ansible-rulebook (needs Java 17)
	$(BIN)/python -m pytest tests/integration/test_eda.py --quiet

.PHONY: mesh
mesh: $(MESH) ## Restart a fleet in slices over a Receptor mesh, and kill a job (Linux; MIRROR=http://deb.debian.org/debian)
	@$(BIN)/python extensions/mesh $(MIRROR)

.PHONY: chaos
chaos: $(DEV) ## Restart 2,000 times over a network that fails at random (RESTARTS=n SEED=n)
	@$(BIN)/python tests/chaos/campaign.py $(if $(RESTARTS),--restarts $(RESTARTS)) $(if $(SEED),--seed $(SEED))

.PHONY: simulate
simulate: $(DEV) ## Check the modules against a model of the service in virtual time (RUNS=1000 SEED=1, REPLAY=…, NAMES_ALONE=yes)
	@$(BIN)/python -m ansible_collections.oceanbase.ocp.tests.simulation $(if $(RUNS),--runs $(RUNS)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(REPLAY),--replay $(REPLAY)) $(if $(MUTATION),--mutation $(MUTATION)) \
	  $(if $(NAMES_ALONE),--names-alone)

.PHONY: simulate-some
simulate-some: ## Run simulate 100 times, and 25 times with names alone
	@$(MAKE) --no-print-directory simulate RUNS=100
	@$(MAKE) --no-print-directory simulate RUNS=25 NAMES_ALONE=yes

NEW_SEED = $(strip $(shell od -An -N3 -tu4 /dev/urandom))

.PHONY: simulate-much
simulate-much: NIGHT := $(or $(SEED),$(NEW_SEED))
simulate-much: ## Run simulate 20,000 times from a new seed, which it prints, and as often with names alone (RUNS=n SEED=n)
	@$(MAKE) --no-print-directory simulate RUNS=$(or $(RUNS),20000) SEED=$(NIGHT)
	@$(MAKE) --no-print-directory simulate RUNS=$(or $(RUNS),20000) SEED=$(NIGHT) NAMES_ALONE=yes

.PHONY: simulate-bugs
simulate-bugs: ## Put each known bug back, and look for it in at most 1,500 runs
	@$(MAKE) --no-print-directory simulate RUNS=1500 SEED= MUTATION=all

.PHONY: explore
explore: $(DEV) ## Try all that can happen in small worlds, by the code that restarts (WORLD="a zone", EVENTS=n, MUTATION=all)
	@$(BIN)/python -m ansible_collections.oceanbase.ocp.tests.explore $(if $(WORLD),--world "$(WORLD)") \
	  $(if $(EVENTS),--events $(EVENTS)) $(if $(MUTATION),--mutation $(MUTATION))

.PHONY: outages
outages: $(DEV) ## Look for outages that restarts cause, in 500 random fleets and schedules (FLEETS=n SEED=n, STORY=yes, REPLAY=…, ARBITRATED=yes)
	@$(BIN)/python -m ansible_collections.oceanbase.ocp.tests.outages $(if $(FLEETS),--fleets $(FLEETS)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(ARBITRATED),--arbitrated) $(if $(STORY),--story) $(if $(REPLAY),--replay $(REPLAY))

.PHONY: layouts
layouts: $(DEV) ## Compare the rule about majorities with a truth of log streams in 200,000 random layouts (LAYOUTS=n SEED=n)
	@PYTHONHASHSEED=0 $(BIN)/python -m ansible_collections.oceanbase.ocp.tests.outages.layouts \
	  $(if $(LAYOUTS),--layouts $(LAYOUTS)) $(if $(SEED),--seed $(SEED))

.PHONY: fuzz
fuzz: $(DEV) ## Look for harmful answers of a hostile service (FUZZ_SECONDS=60 SEED=n; CASE=FILE repeats one)
	@$(BIN)/python tests/fuzz --seconds $(or $(FUZZ_SECONDS),60) $(if $(SEED),--seed $(SEED)) $(if $(CASE),--case $(CASE))

.PHONY: fuzz-defects
fuzz-defects: $(DEV) ## Put known defects back, one by one, and check that the same search finds each (SEED=n)
	@$(BIN)/python tests/fuzz --defects $(if $(SEED),--seed $(SEED))

.PHONY: journal
journal: $(JOURNAL) ## Share a journal on a real PostgreSQL, MariaDB and SQLite; name those not found (ONLY=sqlite)
	@$(BIN)/python tests/journal $(if $(CROSSINGS),--crossings $(CROSSINGS)) $(if $(KILLS),--kills $(KILLS)) \
	  $(if $(STOPS),--stops $(STOPS)) $(addprefix --only ,$(ONLY)) $(addprefix --required ,$(REQUIRED))

.PHONY: mutants
mutants: $(MUTANTS) ## Change the code that decides in 1,600 ways, and see whether a test fails (FILE=rules, AGAIN=survivors|all, LIST=yes, JUDGED=yes)
	@$(BIN)/python -m ansible_collections.oceanbase.ocp.tests.mutants $(addprefix --file ,$(FILE)) \
	  $(if $(AGAIN),--again $(AGAIN)) $(if $(LIST),--list) $(if $(BUDGET),--budget $(BUDGET)) \
	  $(if $(JUDGED),--judged) --show

.PHONY: audit
audit: $(DEV) $(AUDIT) ## Check the installed packages against the advisories of PyPI
	@$(BIN)/python tools/audit .build/audit/bin/pip-audit $(BIN)/python

.PHONY: recordings
recordings: $(DEV) ## Record output into README.md and docs/progress.md, ocp-status.md, journal.md and approved-plan.md
	@$(BIN)/python tools/record

.PHONY: errors
errors: $(DEV) ## Write all error messages into .build/errors.md
	@mkdir -p .build
	@$(BIN)/python tools/errors .build/errors.md

.PHONY: files
files: $(DEV) ## Write the purpose of each Python file into docs/dev/files.md
	@$(BIN)/python tools/files

.PHONY: returns
returns: $(DEMO) ## Generate the RETURN of the modules from tools/returns/modules.yml
	@$(BIN)/python tools/returns

.PHONY: matrix
matrix: $(DEV) ## Run tests and sanity on every supported ansible-core, with the Pythons found here (CORE=2.18 for one)
	@$(BIN)/python tools/matrix $(CORE)

.PHONY: screenshot
screenshot: $(DEMO) ## Make the picture in docs/timeline.md again (needs Chromium)
	@$(BIN)/uv run --quiet --script tools/screenshot

.PHONY: docs
docs: $(SITE) errors ## Build the site in .build/docs/html; a warning is an error (PUBLISHED=yes links to GitHub and Galaxy)
	PUBLISHED=$(PUBLISHED) tools/site .build/docs/venv .build/docs .build/errors.md

.PHONY: build
build: $(DEMO) ## Build the tarball of the collection in .build/dist
	@rm -rf .build/dist
	@tools/copy-collection .build/copy
	@$(BIN)/ansible-galaxy collection build .build/copy/ansible_collections/oceanbase/ocp --force --output-path .build/dist

.PHONY: release
release: $(DEV) ## Build a release in .build/release (VERSION=1.0.0; APPLY=yes writes version and changelog into the tree)
	@$(BIN)/python tools/release "$(VERSION)" $(if $(APPLY),--apply)

.PHONY: importer
importer: $(IMPORTER) build ## Check the tarball with galaxy-importer, as Galaxy and Automation Hub do
	@cd .build/importer && PATH="$$PWD/bin:$$PATH" HOME="$$PWD" GALAXY_IMPORTER_CHECK_REQUIRED_TAGS=yes \
	  GALAXY_IMPORTER_REQUIRE_V1_OR_GREATER=yes bin/python -m galaxy_importer.main ../dist/*.tar.gz \
	  >output.txt 2>&1 || { cat output.txt; exit 1; }
	@! grep -E '^(ERROR|WARNING)' .build/importer/output.txt
	@tail -1 .build/importer/output.txt

.PHONY: clean
clean: ## Remove everything that make has created
	rm -rf .venv .build .cache .hypothesis

$(VENV): tools/link-packages
	@test -n "$(REAL_PYTHON)" || { echo "make: found no Python 3.11 or newer for PYTHON=$(PYTHON)"; exit 1; }
	@tools/make-venv "$(REAL_PYTHON)" "$(PYTHON_VERSION)" .venv
	@$(BIN)/python -m pip --quiet --disable-pip-version-check install 'uv>=0.13,<1'
	@tools/link-packages $(BIN)/python
	@touch $@

$(DEMO): $(VENV) pyproject.toml $(EMULATOR)/requirements.txt
	@$(UV_INSTALL) --group demo --requirements $(EMULATOR)/requirements.txt
	@touch $@

$(DEV): $(DEMO)
	@$(UV_INSTALL) --group dev
	@touch $@

$(BENCH): $(DEMO)
	@$(UV_INSTALL) --group bench
	@touch $@

$(AUDIT): $(VENV) pyproject.toml
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .build/audit
	@$(BIN)/uv pip install --quiet --python .build/audit/bin/python --group audit
	@touch $@

$(SITE): $(VENV) pyproject.toml
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .build/docs/venv
	@$(BIN)/uv pip install --quiet --python .build/docs/venv/bin/python --group docs
	@touch $@

$(IMPORTER): $(VENV) pyproject.toml
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .build/importer
	@$(BIN)/uv pip install --quiet --python .build/importer/bin/python --group importer
	@touch $@

$(MESH): $(DEMO)
	@$(UV_INSTALL) --group mesh
	@touch $@

$(JOURNAL): $(DEV)
	@$(UV_INSTALL) --group journal
	@touch $@

$(MUTANTS): $(DEV)
	@$(UV_INSTALL) --group mutants
	@touch $@

$(EDA): $(DEV)
	@$(UV_INSTALL) --group eda
	@touch $@
