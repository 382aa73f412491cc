# Everything a person needs, from a fresh clone: python3 (3.10 or newer), make and a C++ compiler.
#
#   make serve                              serve SmolLM2-135M on http://127.0.0.1:8080 (all set-up is done first)
#   make serve MODEL=path.gguf PORT=8081    serve another file elsewhere; ARGS='-c 8192 -np 2' adds flags
#   make test                               format, lint, types, and every test
#   make bench                              measure against llama-server
#   make install | model | check            one part alone

PYTHON ?= python3
PORT   ?= 8080
MODEL  ?=
ARGS   ?=

SMALL  := models/SmolLM2-135M-Instruct.Q4_1.gguf
BIN    := .venv/bin
# A stamp is younger than pyproject.toml when what that file asks for is installed.
SERVES := .venv/.serves
TESTS  := .venv/.tests

.PHONY: help install model serve test check bench clean
help:
	@sed -n 's/^#   //p' Makefile

install: $(SERVES)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "ferrox-gguf needs Python 3.10 or newer; name one with PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || \
	  { rm -rf .venv; echo "$(PYTHON) has no venv module (Debian: apt install python3-venv)" >&2; exit 1; }

$(SERVES): pyproject.toml scripts/install.py | $(BIN)/python
	@$(BIN)/python scripts/install.py
	@touch $@

$(TESTS): pyproject.toml scripts/install.py | $(BIN)/python
	@$(BIN)/python scripts/install.py test
	@touch $@ $(SERVES)

model: | $(BIN)/python
	@$(BIN)/python scripts/fetch_model.py

$(SMALL): | $(BIN)/python
	@$(BIN)/python scripts/fetch_model.py > /dev/null

serve: $(SERVES) $(if $(MODEL),,$(SMALL))
	@echo "When the log says that the server is listening, open http://127.0.0.1:$(PORT) in a browser,"
	@echo "or paste this into another terminal:"
	@echo
	@echo "  curl http://127.0.0.1:$(PORT)/v1/chat/completions -d '{\"messages\": [{\"role\": \"user\", \"content\": \"Why is the sky blue?\"}], \"stream\": true}'"
	@echo
	@exec $(BIN)/ferrox-server --model "$(or $(MODEL),$(SMALL))" --port $(PORT) $(ARGS)

check: $(TESTS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check $(SMALL)
	$(BIN)/python scripts/fetch_templates.py
	$(BIN)/python scripts/schema_coverage.py --check
	$(BIN)/pytest --numprocesses auto
	$(BIN)/python scripts/check_behaviours.py

bench: $(TESTS) $(SMALL)
	$(BIN)/python scripts/bench.py

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
