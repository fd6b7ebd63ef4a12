PYTHON ?= python3
RUN := .venv/bin/python
UV := .venv/bin/uv
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)# folders in which pip is told to look for packages: uv does not read that by itself
ENV = $(UV) venv -q --seed --allow-existing --python $(PYTHON)
INSTALL = $(UV) pip install -q -c constraints.txt --python
export PYTHONDONTWRITEBYTECODE :=  # tests are compiled once, and not by each process again

.PHONY: demo test slow cluster hosts launcher ui docs conformance conformance-ray searchers training integrations chaos proof lint bench release pythons clean

demo: .venv/demo.stamp  ## search for a network that reads digits
	@$(RUN) examples/digits.py

test: .venv/test.stamp  ## the quick tests
	@$(RUN) -m pytest -n 4 --dist loadfile

slow: .venv/test.stamp  ## what is slow by its nature: drivers killed, chaos, full disks; CI=true leaves out what is marked full
	@$(RUN) -m pytest -n 4 --dist loadfile tests/slow

HOSTS = $(addprefix tests/cluster/test_,gangs.py hosts.py ray_host.py sharing.py)
CLUSTER = tests/conformance/test_engine_ray.py tests/cluster $(addprefix --ignore=,$(HOSTS))
cluster: .venv/ray.stamp  ## the engine for Ray clusters, on clusters of several nodes on this machine
	@.venv/ray/bin/python -m pytest -n 2 --dist loadfile --timeout=900 $(CLUSTER)
	@CONFORMANCE_SUBJECT=ray CONFORMANCE_SAMPLE=15 .venv/ray/bin/python -m pytest --timeout=300 tests/ray_behaviour

hosts: .venv/ray.stamp  ## hosts in network namespaces, gangs over several nodes, and drivers that share a cluster
	@.venv/ray/bin/python -m pytest -n 2 --dist loadfile --timeout=900 $(HOSTS)

ui:  ## the dashboard: its types, its JavaScript, and the page in Chromium, where that is installed
	@MAKE="$(MAKE)" tests/ui/stage.sh

docs: .venv/docs.stamp  ## the documentation site, in docs/_build/html, and its checks; needs Python 3.11
	@.venv/docs/bin/python docs/build.py
	@.venv/docs/bin/python -m pytest tests/site

launcher:  ## clusters on hosts in network namespaces, clouds that moto plays, Kubernetes; without CI=true also Slurm: 15 minutes
	@MAKE="$(MAKE)" tests/launcher/stage.sh

conformance: .venv/test.stamp  ## Ray Tune's behaviour and scripts with Overtone, what all engines, stores, searchers, schedulers and plots must do, earlier journals
	@$(RUN) -m pytest -n 4 --dist loadfile tests/ray_behaviour tests/conformance tests/migration tests/golden

conformance-ray: .venv/conformance.stamp  ## the tests of Ray Tune's behaviour with Ray itself: records their outcomes, takes half an hour
	@CONFORMANCE_SUBJECT=ray CONFORMANCE_RECORD=1 .venv/conformance/bin/python -m pytest --timeout=300 tests/ray_behaviour

searchers: .venv/search.stamp  ## Ax, SMAC and Nevergrad through the conformance suite of searchers, and beside Ray Tune's
	@.venv/search/bin/python -m pytest tests/slow/test_searchers.py -k "Ax or SMAC or Nevergrad"
	@.venv/search/bin/python -m pytest tests/ray_behaviour/test_search_libraries.py

training: .venv/training.stamp  ## training over several processes, with PyTorch, Lightning, Accelerate, Hugging Face, XGBoost, LightGBM, TensorFlow
	@.venv/training/bin/python -m pytest -n 2 --dist loadfile --timeout=900 tests/training

integrations: .venv/integrations.stamp  ## frameworks, trackers and other tuners; with CI=true at most 6 minutes
	@timeout --foreground -s INT --kill-after=20 $(if $(CI),360,600) .venv/integrations/bin/python -m pytest -n 2 --dist loadfile --timeout=900 tests/integrations

chaos: .venv/test.stamp  ## 1,000 random faults in 20 minutes at most; CHAOS="--faults 50 --seed 1" for others
	@$(RUN) tests/chaos/run.py $(CHAOS)

proof: .venv/test.stamp .venv/ray.stamp .venv/training.stamp  ## what takes long and is run by hand: slow tests marked full, races of drivers, lost machines and nodes, full memories, fair shares, killed ranks, every test of the dashboard
	@CI= $(RUN) -m pytest -n 4 --dist loadfile -m full tests/slow tests/property
	@$(RUN) tests/chaos/race.py --rounds 200 $(RACE)
	@$(RUN) tests/chaos/machines.py --deaths 50 --frozen 20 $(MACHINES)
	@.venv/ray/bin/python -m pytest --timeout=1800 tests/cluster/test_loss.py -k come_and_go --losses 40
	@for case in one two ray-first actors limits; do .venv/ray/bin/python tests/chaos/memory.py --rounds 10 --case $$case || exit 1; done
	@.venv/ray/bin/python benchmarks/sharing.py $(SHARING)
	@.venv/training/bin/python tests/chaos/gangs.py --kills 50 $(GANGS)
	@CI= MAKE="$(MAKE)" tests/ui/stage.sh

lint: .venv/lint.stamp  ## style, types, and which layer imports which
	@$(RUN) -m ruff check . && $(RUN) -m mypy && .venv/bin/lint-imports

bench: .venv/bench.stamp  ## the figures of the README; add PEER="--peer ray" to compare
	@$(RUN) benchmarks/throughput.py $(PEER)

release: .venv/release.stamp  ## wheel and sdist into dist/, checked, and the quickstart from the wheel on each Python
	@.venv/release/bin/python tests/packaging/release.py

pythons: .venv/release.stamp  ## the same, and the unit and property tests from the wheel on each Python
	@.venv/release/bin/python tests/packaging/release.py --tests

clean:
	rm -rf .venv dist docs/_build docs/api docs/learn tests/ui/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

.venv/uv.stamp:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 10) or sys.exit("Overtone needs Python 3.10 or newer, and $(PYTHON) is " + sys.version.split()[0] + ": make PYTHON=python3.11 ...")'
	@echo "making .venv" && $(PYTHON) -m venv .venv && $(RUN) -m pip install -q "uv>=0.5"
	@touch $@

.venv/demo.stamp: .venv/uv.stamp pyproject.toml constraints.txt
	@echo "installing overtone and scikit-learn into .venv" && $(INSTALL) .venv -e ".[demo]"
	@touch $@

.venv/test.stamp: .venv/uv.stamp pyproject.toml constraints.txt
	@echo "installing what the tests need into .venv" && $(INSTALL) .venv -e . --group test
	@touch $@

.venv/lint.stamp: .venv/test.stamp pyproject.toml constraints.txt
	@echo "installing the linters into .venv" && $(INSTALL) .venv --group lint
	@touch $@

.venv/ray.stamp: .venv/uv.stamp pyproject.toml constraints.txt
	@echo "installing Ray into .venv/ray" && $(ENV) .venv/ray && $(INSTALL) .venv/ray -e . --group ray
	@touch $@

.venv/launcher.stamp: .venv/uv.stamp pyproject.toml constraints.txt
	@echo "installing Ray and moto into .venv/launcher" && $(ENV) .venv/launcher && $(INSTALL) .venv/launcher -e . --group launcher
	@touch $@

.venv/conformance.stamp: .venv/uv.stamp pyproject.toml constraints.txt
	@echo "installing Ray and its search libraries into .venv/conformance" && $(ENV) .venv/conformance && $(INSTALL) .venv/conformance -e . --group conformance
	@touch $@

.venv/search.stamp: .venv/uv.stamp pyproject.toml constraints.txt
	@echo "installing search libraries into .venv/search" && $(ENV) .venv/search && $(INSTALL) .venv/search -e . --group search
	@touch $@

.venv/training.stamp: .venv/uv.stamp pyproject.toml constraints.txt
	@echo "installing frameworks for training into .venv/training" && $(ENV) .venv/training && $(INSTALL) .venv/training -e . --group training
	@touch $@

# Its versions, anew: uv pip compile as the lock's head has it.
LOCK = tests/integrations/requirements.lock
.venv/integrations.stamp: .venv/uv.stamp pyproject.toml constraints.txt $(LOCK)
	@echo "installing frameworks and trackers into .venv/integrations" && $(ENV) .venv/integrations && $(INSTALL) .venv/integrations -c $(LOCK) -e . torch
	@$(INSTALL) .venv/integrations --no-deps -r $(LOCK)
	@touch $@

.venv/ui.stamp: .venv/uv.stamp pyproject.toml constraints.txt
	@echo "installing what tests of the dashboard need into .venv/ui" && $(ENV) .venv/ui && $(INSTALL) .venv/ui -e ".[ui]" --group ui-test
	@touch $@

.venv/docs.stamp: .venv/uv.stamp pyproject.toml constraints.txt
	@echo "installing what builds and checks the documentation into .venv/docs" && $(ENV) .venv/docs && $(INSTALL) .venv/docs -e . --group docs
	@touch $@

HTML_MANAGER = @jupyter-widgets/html-manager@1.0.15# its tarball alone: what it depends on is in its script, and 120 MB
tests/ui/node_modules/.package-lock.json: tests/ui/package-lock.json
	@echo "installing what checks the dashboard's JavaScript into tests/ui/node_modules" && cd tests/ui && npm ci --silent && npm pack --silent --pack-destination node_modules $(HTML_MANAGER) >/dev/null
	@touch $@

.venv/release.stamp: .venv/uv.stamp pyproject.toml constraints.txt
	@echo "installing what builds and checks a release into .venv/release" && $(ENV) .venv/release && $(INSTALL) .venv/release --group release
	@touch $@

.venv/bench.stamp: .venv/test.stamp
	@touch $@
