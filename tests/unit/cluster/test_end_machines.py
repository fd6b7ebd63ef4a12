"""How a head ends its machines: what the watchdog hands over reaches the function of each provider."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path

import pytest

from overtone.cluster import end_machines
from overtone.cluster.config_reading import parse_config
from overtone.cluster.provider_modules import BUILT_IN, about

PROVIDERS = {
    "aws": "{type: aws, region: eu-west-1}",
    "gcp": "{type: gcp, project: my-lab, zone: us-central1-a}",
    "kubernetes": "{type: kubernetes, image: 'rayproject/ray:2.60.0-py311'}",
}
GIVEN = {
    "aws": {"region": "eu-west-1", "name": "digits"},
    "gcp": {"project": "my-lab", "name": "digits"},
    "kubernetes": {"name": "digits"},
}


@pytest.mark.parametrize("kind", [kind for kind in BUILT_IN if about(kind).ending])
def test_the_function_of_each_provider_gets_what_it_takes(kind, monkeypatch):
    config = parse_config(f"name: digits\nprovider: {PROVIDERS[kind]}\n", Path("c.yaml"))
    machine = json.loads(json.dumps(end_machines.machine_of(config)))
    name, _, function = machine["function"].partition(":")
    module = importlib.import_module(name)
    signature = inspect.signature(getattr(module, function))
    given = []
    monkeypatch.setattr(module, function, lambda **settings: given.append(settings))
    end_machines.main(json.dumps({**machine, "name": "digits"}))
    assert given == [GIVEN[kind]]
    signature.bind(**given[0])
    assert end_machines.shuts_down(machine) == (kind != "kubernetes")


@pytest.mark.parametrize("provider", ["{type: local, hosts: [10.0.0.1]}", "{type: slurm}"])
def test_machines_of_other_providers_stay(provider):
    config = parse_config(f"name: digits\nprovider: {provider}\n", Path("c.yaml"))
    assert end_machines.machine_of(config) is None
