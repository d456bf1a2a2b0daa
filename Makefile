# make reproduce   every table and figure of the papers; make help   the rest
SHELL := /bin/bash
PYTHON ?= python3
SCALE ?= laptop
CORES ?= all
TARGET ?= all

SCALES := $(basename $(notdir $(wildcard workflow/scales/*.yaml)))
ifeq ($(filter $(SCALE),$(SCALES)),)
$(error unknown SCALE '$(SCALE)'. Known: $(SCALES))
endif

BIN := .venv/bin
INSTALLED := .venv/installed
export PATH := $(CURDIR)/$(BIN):$(PATH)
# where a shell forbids it, hundreds of processes would each compile pfedrl anew
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help install data demo reproduce figures test faults slurm bench clean
.DEFAULT_GOAL := help

help:
	@echo "make reproduce [SCALE=smoke|laptop|paper] [CORES=n] [TARGET=qavg]"
	@echo "                 build the tables, figures and verdicts of the papers"
	@echo "make demo        one table and one learning curve in a minute, beside the paper's"
	@echo "make figures     draw them again from the published runs alone, without a simulator"
	@echo "make test        lint, types, tests, and a smoke run of the whole pipeline"
	@echo "make faults      hundreds of kills, broken files, full disks; counts them in docs/faults.md"
	@echo "make slurm       the pipeline through a Slurm set up on this machine (root, Debian)"
	@echo "make bench       speed of the batched kernels against a plain loop"
	@echo "make data        the data sets that can be fetched; reproduce does so first"
	@echo "make install     the virtual environment .venv, with every dependency pinned"
	@echo "make clean       remove what was built, but neither paper_figures/, .venv nor fetched data"

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt pfedrl/core/mkl.c
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pfedrl needs Python 3.11 or later: make PYTHON=python3.11")'
	@echo "Making .venv and installing what constraints.txt pins, 3 GB: some minutes, once."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -q -c constraints.txt -e ".[dev,cluster]"
	@touch $@
	@echo "Done. . .venv/bin/activate makes snakemake and pfedrl known to your shell."

demo: install
	@$(BIN)/pfedrl demo

# only DePRL needs data
reproduce: $(if $(filter all,$(TARGET))$(findstring deprl,$(TARGET)),data,install)
	$(BIN)/snakemake $(TARGET) --cores $(CORES) --config scale=$(SCALE)

# what cannot be fetched is said and is no error: its experiments are skipped; what was fetched and
# has another checksum is one
data: install
	@$(BIN)/pfedrl data fetch

test: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules workflow/helpers
	$(BIN)/mypy pfedrl
	$(BIN)/python -m pytest -n 2 --dist worksteal
	$(BIN)/snakemake --cores $(CORES) --config scale=smoke

faults: install
	PFEDRL_FAULTS=all $(BIN)/python -m pytest tests/faults

slurm: install
	PFEDRL_SLURM=1 $(BIN)/python -m pytest -s tests/workflow/test_slurm.py

# the record drawn again; what is committed must come out the same
figures: install
	$(BIN)/snakemake --cores $(CORES) --config scale=record --forcerun summarise
	@git diff --quiet -- paper_figures README.md && echo "Same as the record: every table, figure and page." || git diff --stat -- paper_figures README.md

bench: install
	$(BIN)/pfedrl benchmark

clean:
	git clean -qfdX -e '!/results/data' results && rm -rf .snakemake build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
