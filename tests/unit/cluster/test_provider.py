"""Providers are one module with facts and five functions, also those of other people."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import overtone.cluster
from overtone.cluster import provider_modules
from overtone.cluster.cloud_clusters import cloud_clusters
from overtone.cluster.config import ClusterConfig, ConfigError
from overtone.cluster.config_reading import parse_config, read_config
from overtone.cluster.end_machines import check_ending
from overtone.cluster.place import place_of
from overtone.cluster.plan import make_plan
from overtone.cluster.plan_text import plan_text
from overtone.cluster.provider import Provider
from overtone.cluster.provider_modules import (
    BUILT_IN,
    FUNCTIONS,
    ProviderError,
    about,
    loaded,
    provider_of,
    provider_types,
)
from overtone.cluster.state import State
from overtone.errors import OvertoneError

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
    provider_modules.provider_module.cache_clear()
    yield tmp_path
    provider_modules.provider_module.cache_clear()


def written(
    folder: Path, settings: str = "zone: north", more: str = "workers: {type: small, max: 2}\n"
) -> Path:
    path = folder / "c.yaml"
    path.write_text(f"name: lab\nprovider: {{type: clouds/mine.py, {settings}}}\n{more}")
    return path


@pytest.mark.parametrize("kind", BUILT_IN)
def test_a_provider_is_one_module_with_five_functions(kind):
    module = provider_modules.provider_module(kind)
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
        ("import nothing_of_that_name", r"mine\.py cannot be imported: ModuleNotFoundError: .*nothing_of"),
        ("def check(config): ...", r"mine\.py: a provider has its facts in ABOUT"),
        ("import sys\nsys.exit()", "cannot be imported: SystemExit:"),
        (
            OWN.replace("(config, state, progress): ...\ndef reach", "(config): ...\ndef reach"),
            "stop must take the arguments of stop",
        ),
        (OWN.replace('"text"', '"number"'), "kinds text, texts, port, gigabytes, price .mine.py, line 4"),
        (OWN.replace('"disk":', '"price":'), "every provider has price"),
        (OWN.replace('place=("zone",)', 'place=("region",)'), "region: not in settings"),
        (
            OWN.replace('"required"', '"sometimes"'),
            "machine_types='sometimes': must be one of none, optional, required",
        ),
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


def changed(folder: Path, old: str, new: str) -> ClusterConfig:
    """A config whose provider has other code."""
    (folder / "clouds" / "mine.py").write_text(OWN.replace(old, new))
    return read_config(written(folder))


FIND = 'return [Resource("instance", "vm-1", "running", 1.0)]'


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("return {}['x']", r"mine\.py: find: KeyError: 'x' \(mine\.py, line 18\)"),
        ("import json; json.loads('{')", r"find: JSONDecodeError: .*\(mine\.py, line 18\)"),
        ("raise SystemExit(4)", "find: SystemExit: 4"),
        ("return None", "find: must return a list of Resource, not None"),
        ("return [{'id': 1}]", "find: must return a list of Resource"),
        (
            "return [Resource('instance', 'vm-1', 'up', 'today')]",
            "since='today' of vm-1: must be seconds since 1970",
        ),
    ],
)
def test_an_error_in_a_provider_names_its_function_and_line(folder, code, said):
    config = changed(folder, FIND, code)
    with pytest.raises(ProviderError, match=said):
        provider_of(config).find(config)


def test_an_error_that_a_provider_raises_for_people_stays_as_it_is(folder):
    config = changed(folder, FIND, 'from overtone.errors import OvertoneError; raise OvertoneError("full")')
    with pytest.raises(OvertoneError, match="^full$"):
        provider_of(config).find(config)


def test_a_provider_s_file_may_define_dataclasses(folder):
    more = "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass Machine:\n    id: str\n"
    assert provider_of(changed(folder, "\nfrom overtone", f"{more}from overtone")).ABOUT.place == ("zone",)


def test_the_plan_says_that_rented_machines_go_on_costing_at_a_limit(folder):
    config = read_config(written(folder, "zone: north, price: 0.5"))
    assert make_plan(config).most_in_all is None
    assert "15m without work or 12 hours; the machines stay, and cost until `overtone down`" in plan_text(
        make_plan(config)
    )
    (folder / "clouds" / "other.py").write_text(
        OWN.replace("About, R", "About, Ending, R").replace(
            "place=", "ending=Ending(shuts_down=True), place="
        )
    )
    ending = read_config(Path(written(folder, "zone: north, price: 0.5")))
    text = ending.source.read_text().replace("mine.py", "other.py")
    assert "takes the cluster down after 15m without work or 12 hours: at most $18" in plan_text(
        make_plan(parse_config(text, ending.source))
    )


def test_a_broken_listing_does_not_hide_other_clusters(folder, monkeypatch):
    monkeypatch.setenv("OVERTONE_HOME", str(folder / "home"))
    listing = 'listing=Listing("no_such_module:names", "zone"), place='
    (folder / "clouds" / "mine.py").write_text(
        OWN.replace("About, R", "About, Listing, R").replace("place=", listing)
    )
    config = read_config(written(folder))
    state = State.open(config)
    state.update(config=config.source.read_text(), source=str(config.source))
    found, errors = cloud_clusters([state])
    assert found == []
    assert len(errors) == 1
    assert "mine.py north: no_such_module:names: is not a function that can be imported here" in errors[0]


def test_the_head_refuses_an_ending_that_it_cannot_import():
    check_ending(None)
    check_ending({"function": "", "settings": {}, "shuts_down": True})
    with pytest.raises(
        ProviderError, match="no_such_module:end: is not a function that can be imported here"
    ):
        check_ending({"function": "no_such_module:end", "settings": {}, "shuts_down": False})
