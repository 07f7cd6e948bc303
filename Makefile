# Every target is one obvious line; `make` alone lists them.
PYTHON ?= python3
BIN    := .venv/bin
PAGES  := _config.yml _toc.yml $(shell find book chapters scalelab -type f -not -path '*/__pycache__/*' -not -path '*.egg-info/*' -not -path '*/.ipynb_checkpoints/*' 2>/dev/null)
BOOK   := _build/html/index.html
TEST   := python -m pytest -n logical --dist loadscope --no-loadscope-reorder
LAB    := .venv/share/jupyter/labextensions
SINCE  ?= HEAD
export PATH := $(CURDIR)/$(BIN):$(PATH)
unexport PYTHONDONTWRITEBYTECODE  # it would have every process compile everything anew

.DEFAULT_GOAL := help
.PHONY: help book lab pdf test test-all test-changed check looks exercises course grade bench clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 14

book: $(BOOK)  ## run every chapter, build the book, print where it is
	@echo "The book is ready: file://$(CURDIR)/$(BOOK)"

lab: .venv/ready  ## open JupyterLab on the chapters
	jupyter lab --notebook-dir=. --LabApp.default_url=/lab/tree/chapters/01_speedup.ipynb \
		--LabApp.app_settings_dir=$(CURDIR)/scalelab/show/lab

pdf: .venv/ready-dev $(BOOK)  ## print the whole book into one file
	python book/_ext/pdf.py

test: .venv/ready-dev $(BOOK)  ## test every promise, in minutes, the dear tests by turns; the browser's where a Chromium is found
	$(TEST)

test-all: .venv/ready-dev $(BOOK)  ## every test there is
	$(TEST) --all

test-changed: .venv/ready-dev $(BOOK)  ## what only test-all has of what changed SINCE a commit
	$(TEST) --since $(SINCE) --minutes 3 || [ $$? = 5 ]  # 5: nothing changed that only test-all tries

check: .venv/ready-dev  ## format, lint, spelling, notebook hygiene
	pre-commit run --all-files

looks: .venv/ready-dev $(BOOK)  ## take anew the pictures in tests/browser/looks/ that no longer match
	SCALELAB_RENEW_LOOKS=1 python -m pytest --all tests/browser/test_looks.py

exercises: .venv/ready-dev  ## rebuild exercises/ from solutions/
	scalelab release

course: .venv/ready-dev  ## make a demonstration class with every kind of trouble, in _build/class
	rm -rf _build/class && python -m tests.submissions _build/class

grade: course  ## grade the demonstration class
	cd _build/class && scalelab grade demo --cell-seconds 2

bench: .venv/ready-dev $(BOOK)  ## speed, as ratios measured side by side
	python -m tests.bench

clean:  ## forget the built book; the environment stays
	rm -rf _build

$(BOOK): .venv/ready $(PAGES)
	jupyter-book build . -q -n -W --keep-going || { rm -rf _build/.doctrees; false; }  # or the next run forgets the warning
	@touch $@

.venv/ready: requirements.txt constraints.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	pip install -q --disable-pip-version-check -r requirements.txt
	mkdir -p $(LAB) && ln -sfn $(CURDIR)/scalelab/show/lab $(LAB)/scalelab  # pip does so with a wheel, not with -e
	@touch $@

.venv/ready-dev: requirements-dev.txt .venv/ready
	pip install -q --disable-pip-version-check -r requirements-dev.txt
	-git config diff.ipynb.textconv "$(BIN)/nbstripout -t" && git config diff.ipynb.cachetextconv true
	@touch $@
