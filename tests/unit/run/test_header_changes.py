"""Two sets of settings, as data, and what is said of their differences."""

import copy

import pytest

from overtone import tune
from overtone.experiment import Experiment
from overtone.option import CODE, DATA, options
from overtone.run.resume.header_changes import changes, space_changes, told_changes
from overtone.space import space_to_data

OPTIONS = {name: one for name, one in options(Experiment).items() if one.recorded in (DATA, CODE)}
TOLD = {name for name, one in OPTIONS.items() if one.changed} - {"engine"}

PARTS = {
    "name": "train",
    "source": {"text": "a", "code-3.11": "b"},
    "parameters": {"epochs": "1"},
    "space": {"x": 1},
    "metric": ["loss"],
    "mode": ["min"],
    "constraints": {},
    "scheduler": {"path": "overtone.schedulers.asha.ASHAScheduler", "arguments": {"max_t": 9}},
    "searcher": {"path": "a.Basic", "arguments": {"points_to_evaluate": None, "num_samples": 2}},
    "stop": None,
    "checkpoints": {"every": None, "keep": 1},
    "options": dict.fromkeys(OPTIONS),
    "limits": {"total": 2},
    "warm_start": [],
    "engine": "Local",
}


def found(new=None, seeds=(1, None), old=None, **options):
    today = copy.deepcopy({**PARTS, **(new or {})})
    today["options"].update(options)
    return [str(one) for one in changes(PARTS if old is None else old, today, seeds, {})]


def test_where_nothing_differs_nothing_is_said():
    assert found() == found(seeds=(1, 1)) == []
    assert told_changes("exp", []) == []


@pytest.mark.parametrize("name", sorted(TOLD))
def test_each_option_is_told_with_its_effect(name):
    (line,) = found(**{name: 5})
    assert line.endswith(f": None -> 5 ({OPTIONS[name].changed})")


@pytest.mark.parametrize("name", sorted(OPTIONS.keys() - TOLD))
def test_what_concerns_the_call_alone_is_not_told(name):
    assert found(**{name: 5}) == []


@pytest.mark.parametrize("name", sorted(PARTS))
def test_what_an_older_journal_lacks_is_unknown(name):
    old = {key: value for key, value in PARTS.items() if key != name}
    assert found(old=old) == []
    assert found(old={**PARTS, "options": {}}, max_failures=3) == []
    changed = {
        "source": {"text": "c"}, "parameters": {"epochs": "2"}, "warm_start": ["x"], "limits": {"total": 3},
    }  # fmt: skip
    assert found(changed, old={key: value for key, value in PARTS.items() if key not in changed}) == []


@pytest.mark.parametrize(
    ("new", "begins"),
    [
        ({"name": "other", "source": {"text": "c"}}, "trainable: train -> other (taken: "),
        ({"source": {"text": "c"}}, "trainable: the source of train changed (taken: "),
        ({"source": {"code-3.11": "c"}}, "trainable: the source of train changed (taken: "),
        ({"parameters": {}}, "the trainable's argument epochs: another value (taken: "),
        ({"metric": ["a", "b"]}, "metric: 'loss' -> ['a', 'b'] (taken: "),
        ({"constraints": {"a": 1.0}}, "constraints: None -> {'a': 1.0} (taken: "),
        ({"space": {"x": 2}}, "space: x: was 1, is 2 (taken: "),
        ({"engine": "Ray"}, "engine: 'Local' -> 'Ray' (taken)"),
        ({"warm_start": ["c"]}, "warm_start: another (kept: "),
        ({"limits": {"total": 3}}, "trials in all: 2 -> 3 (taken: "),
        ({"checkpoints": {"every": None, "keep": 2}}, "keep_checkpoints_num: 1 -> 2 (taken: "),
        ({"stop": [{"path": "a.f"}, {"loss": 1}]}, "stop: None -> [f, {'loss': 1}] (taken: "),
        ({"scheduler": {"path": "a.Other", "arguments": {}}}, "scheduler: ASHAScheduler -> Other (taken: "),
    ],
)
def test_each_setting_has_a_line(new, begins):
    (line,) = found(new)
    assert line.startswith(begins)


@pytest.mark.parametrize("source", [{}, {"code-3.12": "c"}, {"text": "a", "code-3.11": "c"}])
def test_sources_that_are_equal_or_cannot_be_compared_are_not_told(source):
    assert found({"source": source}) == []


def test_the_number_of_samples_is_told_once():
    searcher = {"path": "a.Basic", "arguments": {"points_to_evaluate": None, "num_samples": 5}}
    assert found({"searcher": searcher, "limits": {"total": 5}}, num_samples=5) == [
        "num_samples: None -> 5 (taken: trials that were made stay)"
    ]


def test_a_default_argument_that_was_not_given_is_no_difference():
    scheduler = {"path": PARTS["scheduler"]["path"], "arguments": {"max_t": 9, "grace_period": 1}}
    new = {**PARTS, "scheduler": scheduler}
    assert changes(PARTS, new, (1, None), {"scheduler": {"grace_period": 1}}) == []
    assert len(changes(PARTS, new, (1, None), {"scheduler": {"grace_period": 2}})) == 1


def test_addresses_of_objects_are_no_difference():
    old = {**PARTS, "stop": {"__repr__": "<object at 0x7f01>"}}
    assert found({"stop": {"__repr__": "<object at 0x7f02>"}}, old=old) == []


def test_the_lines_are_one_text():
    (text,) = told_changes("exp", changes(PARTS, {**PARTS, "engine": "Ray"}, (1, 2)))
    assert text.split("\n") == [
        "resuming exp: 2 settings differ from the recorded run",
        "  engine: 'Local' -> 'Ray' (taken)",
        "  seed: 1 -> 2 (kept: 1; what was drawn so far was drawn with it)",
    ]


def test_a_long_value_is_cut():
    (line,) = found(resources="x" * 1000)
    assert len(line) < 300


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({"x": tune.uniform(0, 1)}, {"x": tune.uniform(0, 1)}, []),
        (
            {"x": tune.uniform(0, 1)},
            {"x": tune.uniform(0, 2)},
            ["x: was uniform(lower=0, upper=1), is uniform(lower=0, upper=2)"],
        ),
        (
            {"a": {"b": tune.choice([1, 2]), "c": 3}},
            {"a": {"c": 4}, "d": "e"},
            [
                "a/b: was choice(categories=[1, 2]), is not there",
                "a/c: was 3, is 4",
                "d: was not there, is 'e'",
            ],
        ),
    ],
)
def test_a_changed_space_is_told_key_by_key(old, new, told):
    assert space_changes(space_to_data(old), space_to_data(new)) == told
