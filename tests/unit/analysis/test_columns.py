from __future__ import annotations

import math

import pytest

from overtone.analysis.columns import columns_of
from overtone.analysis.experiment_analysis import ExperimentAnalysis
from overtone.analysis.frames import flatten, frame
from overtone.errors import StorageError
from overtone.reading.trial_index import Block

pd = pytest.importorskip("pandas")

REPORTS = {
    "numbers": [{"loss": 0.5, "n": 1}, {"loss": math.nan, "n": 2}, {"loss": math.inf, "n": 3}],
    "mixed numbers": [{"loss": 1}, {"loss": 0.5}, {"loss": 2}],
    "missing": [{"loss": 0.5, "n": 1, "flag": True}, {}, {"loss": None, "n": None, "late": 1}],
    "none at all": [{"x": None}, {"x": None}],
    "texts": [{"x": "a"}, {"x": None}, {"x": "b" * 300}],
    "everything": [{"x": 1.5}, {"x": None}, {"x": "text"}, {"x": [1, 2]}, {"x": True}, {"x": 2}],
    "truth": [{"x": True}, {"x": False}],
    "truth and numbers": [{"x": True}, {"x": 1}],
    "large": [{"x": 2**63}, {"x": -1}, {"x": 10**400}],
    "large and unsigned": [{"x": 2**63}, {"x": 1}],
    "nested": [{"a": {"b": 1, "c": {"d": "x"}}}, {"a": {"b": 2}}, {"a": {}}, {"a": 5}],
    "overridden": [{"pid": 7, "config": 3, "trial_id": "x", "timesteps_total": 5}],
    "as many but others": [{"a": 1, "b": 2}, {"b": 3, "c": 4}, {"c": 5, "a": 6}],
    "one by one": [{f"m{i}": i} for i in range(20)],
    "nothing": [],
}


def same_as_before(analysis: ExperimentAnalysis, trial: str, in_any_order: bool = False) -> None:
    found = analysis.trial_dataframes[trial]
    (recorded,) = [one for one in analysis.trials if one.trial_id == trial]
    expected = frame(flatten(result) for result in recorded.results())
    pd.testing.assert_frame_equal(found, expected, check_exact=True, check_like=in_any_order)


@pytest.mark.parametrize("kind", REPORTS)
def test_a_frame_is_that_of_the_results_one_by_one(told, kind) -> None:
    trial = told.run({"lr": 0.1, "net": {"width": 3}, "tags": ["a", "b"]}, *REPORTS[kind])
    same_as_before(ExperimentAnalysis(told.write()), trial, in_any_order=kind == "overridden")


@pytest.mark.parametrize("n_others", [0, 3, 40])
def test_trials_in_between_change_nothing(told, n_others) -> None:
    trials = [told.add({"lr": i}) for i in range(n_others + 1)]
    for trial in trials:
        told.start(trial)
    for i in range(30):
        for trial in trials:
            told.report(trial, loss=i / 7, text=f"{trial} {i}", long="x" * 200)
    analysis = ExperimentAnalysis(told.write())
    for trial in (trials[0], trials[-1]):
        same_as_before(analysis, trial)


def test_each_part_of_a_trial_has_the_config_it_was_made_with(told) -> None:
    first, second = told.add({"lr": 0.1}), told.add({"lr": 0.2, "beta": 1})
    told.start(first)
    told.start(second)
    for i in range(3):
        told.report(first, loss=i)
    told.restart(first, {"lr": 0.5, "beta": None}, second, 2)
    told.start(first)
    for i in range(3):
        told.report(first, loss=i + 0.5)
    told.report(first, checkpoint=told.at(first, 7), loss=9)
    told.end(first)
    analysis = ExperimentAnalysis(told.write())
    same_as_before(analysis, first)
    assert list(analysis.trial_dataframes[first]["config/lr"]) == [0.1] * 3 + [0.5] * 4


def test_half_of_a_surrogate_pair_is_spelled_out(told) -> None:
    trial = told.run({"\udc80": "\ud800"}, {"\ud800": 1, "b": "x\ud800", "c": {"\udfff": "\ud800"}})
    analysis = ExperimentAnalysis(told.write())
    found = analysis.trial_dataframes[trial]
    assert list(found["\\ud800"]) == [1]
    assert list(found["b"]) == ["x\\ud800"]
    assert list(found["c/\\udfff"]) == ["\\ud800"]
    assert list(found["config/\\udc80"]) == ["\\ud800"]
    same_as_before(analysis, trial)
    for one in (analysis.results_df, analysis.dataframe()):
        assert list(one["config/\\udc80"]) == ["\\ud800"]


def test_a_journal_that_changed_is_told_from_one_that_did_not(told) -> None:
    trial = told.run({}, *[{"loss": 0.5}] * 5)
    folder = told.write()
    analysis = ExperimentAnalysis(folder)
    assert analysis.trials
    journal = folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"loss":0.5', b'"loss":0.7', 3))
    with pytest.raises(StorageError, match="was changed after it was read"):
        analysis.trial_dataframes[trial]


def test_many_rows_are_kept_as_numbers() -> None:
    blocks = [Block([{"x": i / 3, "n": i, "ok": True} for i in range(100)], {"lr": 0.1})] * 10
    found = columns_of(blocks)
    assert {name: getattr(cells, "dtype", None) for name, cells in found.items()} == {
        "timesteps_total": None, "x": "float64", "n": "int64", "ok": "bool", "lr": "float64",
    }  # fmt: skip
    assert found["timesteps_total"] == [None] * 1000
