"""The command line of a trial."""

import datetime as dt
import json

import pytest

from overtone.errors import ArgumentError
from overtone.program.arguments import filled, without_interpreter

CONFIG = {"lr": 0.1, "on": True, "off": False, "model": {"layers": 3}}
FACTS = {"trial_id": "t1", "trial_dir": "/x/t1", "checkpoint_dir": "/x/t1/c", "experiment": "e", "seed": 7}


def words(template, config=CONFIG, hydra=False):
    return filled(template.split(), config, FACTS, "/x/args.json", hydra)


def test_placeholders():
    template = "p {lr} --on={on} {off} {model.layers} {model/layers} {trial_id} {{lr}} {model}"
    assert words(template) == ["p", "0.1", "--on=True", "False", "3", "3", "t1", "{lr}", '{"layers": 3}']


def test_no_placeholder_appends_all_parameters():
    assert words("p -x", {"lr": 1, "b": "c d"}) == ["p", "-x", "--lr=1", "--b=c d"]


@pytest.mark.parametrize(
    ("macro", "expected"),
    [
        ("args", ["--lr=0.1", "--on=True", "--off=False", "--model={'layers': 3}"]),
        ("args_no_hyphens", ["lr=0.1", "on=True", "off=False", "model={'layers': 3}"]),
        ("args_no_boolean_flags", ["--lr=0.1", "--on", "--model={'layers': 3}"]),
        ("args_no_equals", ["--lr", "0.1", "--on", "True", "--off", "False", "--model", "{'layers': 3}"]),
        ("args_json", [json.dumps(CONFIG)]),
        ("args_json_file", ["/x/args.json"]),
        ("args_append_hydra", ["+lr=0.1", "+on=True", "+off=False", "+model={'layers': 3}"]),
    ],
)
def test_macros_are_as_the_agent_of_wandb_writes_them(macro, expected):
    assert words(f"p ${{{macro}}} end") == ["p", *expected, "end"]


def test_environment_variables(monkeypatch):
    monkeypatch.setenv("SOME_DIR", "/data")
    assert words("p --dir=${envvar:SOME_DIR} ${args}", {"a": 1}) == ["p", "--dir=/data", "--a=1"]


@pytest.mark.parametrize(
    ("template", "error"),
    [
        ("p {lrr} {model} {on} {off} {lr}", r"\{lrr\} is not a parameter; did you mean 'lr'"),
        ("p {lr}", "'on' is not in the command"),
    ],
)
def test_a_command_that_does_not_fit_is_refused(template, error):
    with pytest.raises(ArgumentError, match=error):
        words(template)


def test_hydra_overrides_are_quoted():
    config = {"lr": 0.1, "+new": "a,b", "model": {"layers": [1, 2]}, "on": True, "none": None}
    assert words("p fixed=1", config, hydra=True) == [
        "p", "fixed=1", "lr=0.1", "+new='a,b'", "model.layers=[1,2]", "on=true", "none=null", "hydra.run.dir=/x/t1",
    ]  # fmt: skip
    assert words("p hydra.run.dir=. lr={lr}", {"lr": 1}, hydra=True) == ["p", "hydra.run.dir=.", "lr=1"]


def test_macros_that_are_equal_for_all_trials():
    assert without_interpreter(["${env}", "${program}"], "t.py") == ["/usr/bin/env", "t.py"]
    with pytest.raises(ArgumentError, match="has no program"):
        without_interpreter(["${program}"], None)


def test_a_value_that_is_not_of_json_is_text_in_json():
    config = {"day": dt.date(2026, 1, 2)}
    assert filled(["${args_json}"], config, {}, "", False) == ['{"day": "2026-01-02"}']
    assert filled(["{a}"], {"a": config}, {}, "", False) == ['{"day": "2026-01-02"}']
