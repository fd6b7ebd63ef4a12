"""An option is declared once: signatures and docstrings agree with it."""

from __future__ import annotations

import inspect
import sys
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.experiment import CheckpointPolicy, Experiment
from overtone.option import options

sys.path.insert(0, str(Path(__file__).parent))
import option_tables

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
CONFIGS = (tune.TuneConfig, tune.RunConfig, tune.FailureConfig, tune.CheckpointConfig)
OTHERS = {
    "run_or_experiment",
    "others",
    "failure_config",
    "storage_filesystem",
    "sync_config",
}


def default(one: Field[Any]) -> Any:
    return one.default if one.default_factory is MISSING else one.default_factory()


def defaults() -> dict[str, set[str]]:
    """The defaults of the fields that an argument sets, as text; None is always one."""
    found: dict[str, set[str]] = {}
    for kind in (CheckpointPolicy, Experiment):
        for name, one in options(kind).items():
            of_field = repr(default(kind.__dataclass_fields__[name]))
            for argument in (one.argument, one.config_name, *one.also):
                found.setdefault(argument, {"None"}).add(of_field)
    return found


def test_the_docstrings_are_those_of_the_options():
    path = SOURCE / "overtone/tune/tune.py"
    assert option_tables.rewritten(path.read_text("utf-8")) == path.read_text("utf-8"), (
        "run: python tests/packaging/option_tables.py"
    )


def test_run_has_an_argument_for_each_option_with_its_default():
    shown = inspect.signature(tune.run).parameters
    declared = {name for kind in (Experiment, CheckpointPolicy) for one in options(kind).values()
                for name in (one.argument, *one.also)}  # fmt: skip
    assert shown.keys() - OTHERS == declared
    known = defaults()
    assert [name for name in declared if repr(shown[name].default) not in known[name]] == []


@pytest.mark.parametrize("config", CONFIGS)
def test_the_objects_of_a_tuner_have_the_options_that_say_so_with_their_defaults(config):
    names = {one.name for one in fields(config)} - OTHERS
    assert names - {"local_dir"} == option_tables.declared(config.__name__).keys()
    assert [
        one.name for one in fields(config) if repr(one.default) not in defaults().get(one.name, {"None"})
    ] == []
