"""Providers are one module with facts and five functions, also those of other people."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import overtone.cluster
from overtone.cluster import provider
from overtone.cluster.config import ConfigError
from overtone.cluster.config_reading import parse_config, read_config
from overtone.cluster.place import place_of
from overtone.cluster.plan import make_plan
from overtone.cluster.provider import (
    BUILT_IN,
    FUNCTIONS,
    Provider,
    about,
    loaded,
    provider_of,
    provider_types,
)

pytest.importorskip("yaml")

CLUSTER = Path(overtone.cluster.__file__).parent

OWN = """
from overtone.cluster.provider import About, Resource, Setting

ABOUT = About(
    settings={"zone": Setting("text", "north", True), "disk": Setting("gigabytes", "20")},
    left="nothing of {name}",
    place=("zone",),
    worker="small",
    machine_types="required",
)

def check(config):
    if config.provider.settings["zone"] == "moon":
        raise config.error("provider.zone", "must be on Earth, such as north", "moon")
    return f"zone {config.provider.settings['zone']}"

def find(config):
    return [Resource("instance", "vm-1", "running", 1.0)]

def start(config, state, progress, for_run): ...
def stop(config, state, progress): ...
def reach(config, state): ...
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "clouds").mkdir()
    (tmp_path / "clouds" / "mine.py").write_text(OWN)
    provider._module.cache_clear()
    yield tmp_path
    provider._module.cache_clear()


def written(
    folder: Path, settings: str = "zone: north", more: str = "workers: {type: small, max: 2}\n"
) -> Path:
    path = folder / "c.yaml"
    path.write_text(f"name: lab\nprovider: {{type: clouds/mine.py, {settings}}}\n{more}")
    return path


@pytest.mark.parametrize("kind", BUILT_IN)
def test_a_provider_is_one_module_with_five_functions(kind):
    module = provider._module(kind)
    own = [
        name
        for name, one in vars(module).items()
        if inspect.isfunction(one) and one.__module__ == module.__name__
    ]
    assert sorted(name for name in own if not name.startswith("_")) == sorted(FUNCTIONS)
    for name in FUNCTIONS:
        wanted = list(inspect.signature(getattr(Provider, name)).parameters)[1:]
        assert list(inspect.signature(getattr(module, name)).parameters) == wanted


@pytest.mark.parametrize("kind", BUILT_IN)
def test_nothing_but_a_provider_s_module_imports_its_parts(kind):
    """`cluster/aws/` and the like are parts of one provider: what else is known of it is in `ABOUT`."""
    for path in CLUSTER.rglob("*.py"):
        if path.parent.name == kind or path == CLUSTER / "providers" / f"{kind}.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [getattr(node, "module", None) or "", *(one.name for one in getattr(node, "names", ()))]
            assert not any(name.startswith(f"overtone.cluster.{kind}") for name in names), path


@pytest.mark.parametrize("kind", BUILT_IN)
def test_the_functions_that_facts_name_exist(kind):
    facts = about(kind)
    named = [one.function for one in (facts.ending, facts.listing, facts.ray) if one and one.function]
    assert all(callable(loaded(one)) for one in named)
    unknown = {*facts.place, *(facts.ending.settings if facts.ending else ())} - set(facts.keys)
    assert not unknown


def test_a_file_of_one_s_own_is_a_provider(folder, monkeypatch):
    monkeypatch.chdir("/")
    config = read_config(written(folder))
    assert config.provider.type == str(folder / "clouds" / "mine.py")
    assert provider_of(config).check(config) == "zone north"
    assert [one.id for one in provider_of(config).find(config)] == ["vm-1"]
    assert make_plan(config).left == "nothing of lab"
    assert place_of(config).endswith("mine.py north")
    with pytest.raises(ConfigError, match=r"c\.yaml:2: provider\.zone='moon': must be on Earth"):
        provider_of(config).check(read_config(written(folder, "zone: moon")))


@pytest.mark.parametrize(
    ("settings", "more", "said"),
    [
        ("disk: 20", "", "zone is missing for the provider .*: write it, such as zone: north"),
        ("zone: north, disk: 1", "", "provider.disk=1: must be a whole number from 8"),
        ("zone: north, sise: 1", "", "provider.sise.*is not a key of the provider"),
        ("zone: north", "workers: {max: 1}\n", "name a machine type, such as type: small"),
        ("zone: north", "workers: {type: small, max: 1, spot: true}\n", "has no spot machines"),
    ],
)
def test_the_facts_of_a_provider_check_its_config(folder, settings, more, said):
    with pytest.raises(ConfigError, match=said):
        read_config(written(folder, settings, more))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, r"c\.yaml:2: provider\.type: .*mine\.py: the provider's file is missing"),
        ("import nothing_of_that_name", r"mine\.py: cannot be imported: ModuleNotFoundError: .*nothing_of"),
        ("def check(config): ...", r"mine\.py: a provider has its facts in ABOUT"),
        (
            OWN.replace("def stop", "def stopp").replace("def reach", "def _reach"),
            "lacks the functions stop, reach",
        ),
    ],
)
def test_a_file_that_is_no_provider_says_what_is_wrong(folder, text, said):
    file = folder / "clouds" / "mine.py"
    file.unlink() if text is None else file.write_text(text)
    with pytest.raises(ConfigError, match=said):
        read_config(written(folder))


def test_an_installed_package_is_a_provider(folder, monkeypatch):
    (folder / "stack.py").write_text(OWN)
    info = folder / "stack-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stack\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[overtone.providers]\nstack = stack\n")
    monkeypatch.syspath_prepend(str(folder))
    config = parse_config("name: lab\nprovider: {type: stack, zone: north}\n", Path("c.yaml"))
    assert provider_of(config).check(config) == "zone north"
    assert provider_types() == (*BUILT_IN, "stack")
    with pytest.raises(ConfigError, match=r"c\.yaml:2: provider\.type='stak': .*did you mean 'stack'"):
        parse_config("name: lab\nprovider: {type: stak}\n", Path("c.yaml"))
