# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors

PYTHON ?= python3

# The first makes modules read their source byte by byte, the second compiles ansible anew at every start.
unexport PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE

# A copy of the collection installed for the user would be taken before the one here.
export ANSIBLE_HOME := $(CURDIR)/.build/ansible
export ANSIBLE_COLLECTIONS_PATH := $(CURDIR)/.build/ansible/collections

FOUND_PYTHON := $(shell tools/find-python $(PYTHON))
REAL_PYTHON := $(word 1,$(FOUND_PYTHON))
PYTHON_VERSION := $(word 2,$(FOUND_PYTHON))

BIN := .venv/bin
# Named for the Python version, so that asking for another one makes the environment again.
VENV := .venv/.made-$(PYTHON_VERSION)
DEMO := .venv/.demo-$(PYTHON_VERSION)
DEV := .venv/.dev-$(PYTHON_VERSION)
UV_INSTALL := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: venv
venv: $(DEV) ## Make .venv with all that development needs

$(VENV): Makefile
	@test -n "$(REAL_PYTHON)" || { echo "make: PYTHON=$(PYTHON) is no Python that can be found"; exit 1; }
	@echo "Making .venv with Python $(PYTHON_VERSION)"
	@$(REAL_PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip --quiet --disable-pip-version-check install 'uv>=0.8,<1'
	@collections=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/ansible_collections && \
	  mkdir -p "$$collections/oceanbase" && touch "$$collections/py.typed" && \
	  ln -s "$(CURDIR)" "$$collections/oceanbase/ocp"
	@touch $@

# The emulator is left out as long as it is not there.
EMULATOR := $(wildcard roles/emulator/files/pyproject.toml)
$(DEMO): $(VENV) pyproject.toml $(EMULATOR)
	@$(UV_INSTALL) --group demo $(if $(EMULATOR),--editable roles/emulator/files)
	@touch $@

$(DEV): $(DEMO)
	@$(UV_INSTALL) --group dev
	@touch $@
