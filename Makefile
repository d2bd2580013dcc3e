# Signage Fleet. `make` alone explains itself; every target below that has a ## is for people.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
DEVELOPMENT := $(VENV)/.development
DASHBOARD_TOOLS := dashboard/node_modules/.installed
SIGN_IN_SERVICE := tests/oidc_provider/node_modules/.installed
NEEDS := $(PYTHON) deploy/local/prerequisites.py
UP := $(BIN)/python -m deploy.local.up
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes
# For every Python and machine at once, with the hashes of all files of a version, and without the registry's address.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	$(if $(UPGRADE),--upgrade)

.PHONY: help run stop status reset test machines neighbours generators quick check hook docs lock openapi words deploy-files screenshots bench campaign display-package version release

help: ## Show this
	@echo 'Signage Fleet keeps a fleet of digital-signage displays alive.'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'Settings are given as NAME=value: make run DEMO=1 GATEWAY_PORT=9090'
	@echo '  DEMO=1               adds 50 simulated displays'
	@echo '  DATABASE_URL=...     uses that Postgres; CONVERTER_URL=... that converter'
	@echo '  MQTT_URL=...         uses that broker, with DISPLAYS_MQTT_URL=... for displays'
	@echo '  LOCAL_STATE_DIR=...  keeps everything there instead of in .local'
	@echo '  *_PORT=...           GATEWAY, API, CONVERT_WORKER, SCHEDULER_TICK, POSTGRES, MQTT_DISPLAYS,'
	@echo '                       MQTT_SERVICES, MQTT_BROWSERS, TASK_QUEUE, TASK_QUEUE_KEYS, CONVERTER,'
	@echo '                       BRIDGE_HEALTH, BROKER_LOGINS'
	@echo '  PYTHON=...           the python3 (3.11 or newer) that the virtual environment is made with'
	@echo 'The others stand in docs/reference.md.'

run: $(RUNTIME) ## Start everything on this machine; Ctrl-C stops it; DEMO=1 adds simulated displays
	@$(NEEDS) run
	@exec $(UP) run --with-parent

stop: $(RUNTIME) ## Stop what `make run` started
	@$(UP) stop

status: $(RUNTIME) ## Say what runs, since when and where
	@$(UP) status

reset: $(RUNTIME) ## Stop it and delete its data (asks; FORCE=1 does not)
	@$(UP) reset

test: $(DEVELOPMENT) $(SIGN_IN_SERVICE) ## Run every test on real services; SUITES="rules api" runs some
	@$(NEEDS) test
	@exec $(BIN)/python -m tests.run --with-parent $(SUITES)

machines: $(DEVELOPMENT) ## Run the tests that need root: machines with systemd or a kernel, networks, mounts
	@$(NEEDS) machines
	@exec $(BIN)/python -m tests.run --with-parent machines

neighbours: $(DEVELOPMENT) ## Run the tests of what stands beside a fleet: Home Assistant, OTLP
	@$(NEEDS) test
	@exec $(BIN)/python -m tests.run --with-parent neighbours

generators: $(DEVELOPMENT) ## Let generators of clients in Python, TypeScript, Go and Java read docs/openapi.json; from their registries
	@exec $(BIN)/python -m tests.run --with-parent generators

quick: $(DEVELOPMENT) ## Lint, import rules, types and the tests of rules: while you write
	@$(BIN)/ruff check --quiet .
	@$(BIN)/lint-imports >/dev/null || $(BIN)/lint-imports
	@$(BIN)/mypy
	@$(BIN)/pytest -q tests/rules tests/displays/rules --hypothesis-profile quick

check: $(DEVELOPMENT) $(DASHBOARD_TOOLS) ## Lint, format, types, import rules, containers, bandit, pip-audit, the dashboard's tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.findings
	$(BIN)/python -m tests.dependencies
	$(BIN)/hadolint --failure-threshold style deploy/docker/Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec deploy/docker/compose.yaml deploy/docker/build.yaml
	$(BIN)/check-jsonschema --builtin-schema vendor.cloudbuild deploy/docker/cloudbuild.yaml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows $(wildcard .github/workflows/*.yml)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(BIN)/check-jsonschema --builtin-schema vendor.renovate .github/renovate.json
	npm --prefix dashboard run --silent check
	npm --prefix dashboard test --silent >/dev/null || npm --prefix dashboard test --silent

hook: ## Let git refuse a commit whose subject has more than 72 characters
	@install -D -m 755 .ci/commit-msg "$$(git rev-parse --git-path hooks)/commit-msg"

docs: $(DEVELOPMENT) ## Make the site of documents, with search, in dist/docs; a broken link ends it
	@$(BIN)/sphinx-build --quiet --fail-on-warning --fresh-env --conf-dir docs/site . $(or $(TO),dist/docs)

lock: $(DEVELOPMENT) ## Renew the locks after a change of requirements*.txt; UPGRADE=1 takes what is newest
	@$(LOCK) requirements.txt --output-file requirements.lock
	@$(LOCK) --constraints requirements.lock requirements-dev.txt --output-file requirements-dev.lock

openapi: $(RUNTIME) ## Write docs/openapi.json from the routes' declarations
	@$(BIN)/python -m functions.api docs/openapi.json

words: $(DEVELOPMENT) ## Compile what translators write: sentences of the server, labels of the page
	@$(BIN)/python -m shared.words.compiler

deploy-files: $(RUNTIME) ## Write a box's units and containers from deploy/components.yaml
	@$(BIN)/python -m deploy.files

screenshots: $(DEVELOPMENT) ## Take the README's pictures from a demo fleet; TO=folder takes every view, dialog and state in each language
	@$(NEEDS) test
	@$(BIN)/python -m tests.browser.pictures $(TO)

display-package: $(RUNTIME) ## Build the Debian package of the display agent and its installer into dist/
	@$(BIN)/python -m deploy.parts.display_package dist

version: $(DEVELOPMENT) ## State a new version, VERSION=1.2.0, in all files that have it, for one commit
	@$(BIN)/python -m deploy.release.prepare $(VERSION)
	@$(MAKE) --no-print-directory openapi deploy-files
	@$(BIN)/python -m tests.stores.kept_releases $(VERSION)

release: $(RUNTIME) ## Check, build and sign this commit's release into dist/; SIGN=file of an SSH key, or cosign; TAG=1 tags it; IMAGES=needed, or push
	@$(BIN)/python -m deploy.release $(if $(SIGN),--sign "$(SIGN)") $(if $(TAG),--tag) $(if $(IMAGES),--images "$(IMAGES)") $(if $(CHECKED),--checked)

bench: $(DEVELOPMENT) ## Measure against peers and limits; prints a table; ROWS="ingest store" runs some
	@$(NEEDS) test
	@$(BIN)/python -m tests.lab.bench $(ROWS)

campaign: $(DEVELOPMENT) ## Run the full fault campaign; ONLY="kills noise" runs some, SHARE=10 a tenth, SEED=2 another; ONLY=corpus DECKS=folder; ONLY=broker BROKER=rabbitmq; ONLY="docker trial" on an engine; ONLY="box displays cluster" as root; ONLY=neighbours with HOME_ASSISTANT=hass; ONLY=converter with GOTENBERG=program; ONLY=cloud TERRAFORM_PLUGINS=folder
	@$(NEEDS) $(if $(filter 0,$(shell id -u)),machines,test)
	@$(BIN)/python -m tests.lab.campaigns $(ONLY) $(if $(DECKS),--decks $(DECKS)) $(if $(BROKER),--broker $(BROKER)) --share $(or $(SHARE),100) --seed $(or $(SEED),1); code=$$?; \
	  $(BIN)/python -m tests.lab.campaigns.figures tests/lab/figures.md; exit $$code

# The virtual environment. Each stamp is newer than the lists it was installed from.
$(RUNTIME): requirements.lock
	@$(NEEDS) venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo 'Installing Python packages'
	@$(INSTALL) -r requirements.lock
	@touch $@

$(DEVELOPMENT): requirements-dev.lock $(RUNTIME)
	@echo 'Installing Python packages for tests and checks'
	@$(INSTALL) -r requirements-dev.lock
	@touch $@

$(DASHBOARD_TOOLS): dashboard/package-lock.json
	@$(NEEDS) check
	@npm --prefix dashboard ci --silent --no-audit --no-fund
	@touch $@

$(SIGN_IN_SERVICE): tests/oidc_provider/package-lock.json
	@$(NEEDS) test
	@npm --prefix $(<D) ci --ignore-scripts --silent --no-audit --no-fund
	@touch $@
