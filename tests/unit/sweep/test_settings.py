"""Sweep files and command lines as settings."""

import json

import pytest

from overtone.errors import ArgumentError
from overtone.sweep.settings import sweep_of

_FILE = {
    "program": "train.py", "metric": {"name": "loss"}, "run_cap": 2,
    "parameters": {"lr": {"min": 0.1, "max": 1.0}},
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"run_cap": "many"}, "run_cap: 'many' must be a whole number of 1 or more"),
        ({"run_cap": 2.5}, "run_cap: 2.5 must be a whole number"),
        ({"run_cap": -3}, "run_cap: -3 must be a whole number"),
        ({"metric": {"name": 3}}, "metric: name: 3 must be a text"),
        ({"metric": {"name": "loss", "target": "low"}}, "metric: target: 'low' must be a number"),
        ({"program": ["a"]}, "program: ['a'] must be the path"),
        ({"command": 5}, "command: 5 must be a list of words"),
        ({"early_terminate": {"type": "hyperband", "min_iter": "two"}}, "min_iter: 'two' must be a whole"),
        ({"early_terminate": {"type": "hyperband", "min_iter": 2, "eta": 1}}, "eta: 1 must be above 1"),
        ({"early_terminate": {"type": "hyperband", "max_iter": 9, "s": None}}, "s: None must be a whole"),
        ({"parameters": {"lr": {"distribution": ["uniform"]}}}, "there is no distribution ['uniform']"),
        ({"parameters": {"lr": {"distribution": "q_uniform", "min": 0, "max": 1, "q": 0}}}, "q: 0 must be"),
        ({"parameters": {"lr": {"min": 3, "max": 1}}}, "min 3 is above max 1"),
        ({"base": {}}, "'base' is not a key of a sweep: choose one of command, "),
    ],
)
def test_an_invalid_value_is_named_with_what_is_allowed(folder, changes, error):
    path = folder / "sweep.json"
    path.write_text(json.dumps({**_FILE, **changes}))
    with pytest.raises(ArgumentError) as raised:
        sweep_of(path, [], {})
    assert error in str(raised.value)


def test_numbers_as_yaml_reads_them(folder):
    path = folder / "sweep.json"
    path.write_text(json.dumps({**_FILE, "run_cap": 3.0, "metric": {"name": "loss", "target": "1e-5"}}))
    sweep = sweep_of(path, [], {})
    assert (sweep.arguments["num_samples"], sweep.target) == (3, 1e-5)


def test_another_space_in_the_command_is_another_sweep(folder):
    def name(*words):
        return sweep_of(None, ["python", "train.py", *words], {"hydra": True}).arguments["name"]

    assert name("lr=1,2") == name("lr=1,2")
    assert name("lr=1,2") != name("lr=1,2,3")
    assert name("lr=1,2") != name("lr=interval(1,2)")


def test_a_changed_grid_is_another_sweep_and_a_changed_range_is_not(folder):
    path = folder / "sweep.json"

    def name(method, **domain):
        path.write_text(json.dumps({**_FILE, "method": method, "parameters": {"lr": domain}}))
        return sweep_of(path, [], {}).arguments["name"]

    assert name("grid", values=[1, 2]) == name("grid", values=[1, 2])
    assert name("grid", values=[1, 2]) != name("grid", values=[5, 6, 7])
    assert name("random", min=0.0, max=1.0) == name("random", min=0.0, max=2.0)
    assert name("random", values=[1, 2]) != name("grid", values=[1, 2])


def test_a_value_that_contains_itself_is_an_error(folder):
    pytest.importorskip("yaml")
    path = folder / "sweep.yaml"
    path.write_text("program: train.py\nparameters: &all\n  lr: {value: 1}\n  more: {parameters: *all}\n")
    with pytest.raises(ArgumentError, match=r"sweep\.yaml: an alias refers to a value that contains it"):
        sweep_of(path, [], {})
    path.write_text("program: train.py\nparameters:\n  lr: &one {min: 0.1, max: 1.0}\n  decay: *one\n")
    assert set(sweep_of(path, [], {}).arguments["config"]) == {"lr", "decay"}
