"""What the dashboard says of recorded runs, against the analysis and the command line."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from overtone.analysis import ExperimentAnalysis
from overtone.analysis.plots.compare import compare
from overtone.control.overview import overview
from overtone.reading.columns.opening import open_columns
from overtone.reading.journal_index import JournalIndex
from overtone.reading.story_text import clock_of, sentence, unruled, verdict
from overtone.reading.summary_cache import SummaryCache
from overtone.reading.trial_story import Story
from overtone.space.nesting import flatten
from overtone.ui.data.experiments import Experiments

GOLDEN = Path(__file__, "../../../golden").resolve()
NAMES = ["journals/asha", *(f"journals_format_2/{one}" for one in ("asha", "pbt", "hyperband", "median"))]


@pytest.fixture(scope="module", params=NAMES)
def recorded(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    zipfile.ZipFile(GOLDEN / f"{request.param}.zip").extractall(folder)
    journal = sorted(folder.rglob("journal.jsonl"))[0]
    experiments = Experiments(journal.parent.parent)
    yield experiments.get(journal.parent.name)
    experiments.close()


def test_the_overview_is_that_of_the_command_line(recorded, tmp_path):
    found = recorded.overview()
    with SummaryCache(tmp_path / "index") as cache:
        known = overview(recorded.journal, cache)
    same = ("name", "path", "state", "is_resumable", "driver", "trainable", "trials", "planned", "statuses",
            "results", "metric", "mode", "started", "runs", "error")  # fmt: skip
    assert {name: found[name] for name in same} == {name: known[name] for name in same}
    assert known["best"].items() <= found["best"].items()
    analysis = ExperimentAnalysis(recorded.journal)
    best = analysis.best_trial
    assert found["best"]["trial_id"] == best.trial_id
    assert found["best"]["value"] == best.value(found["metric"], found["mode"])
    assert found["best"]["best_value"] == best.value(found["metric"], found["mode"], "all")
    assert found["now"]["clock"] == pytest.approx(analysis.stats()["total_time"])
    assert {name: found["statuses"].get(name, 0) for name in analysis.count()} == analysis.count()


def test_a_trial_has_the_story_of_the_command_line(recorded):
    analysis = ExperimentAnalysis(recorded.journal)
    index = JournalIndex(recorded.journal)
    index.refresh()
    metric, mode = analysis.default_metric, analysis.default_mode
    for trial in analysis.trials[:: max(1, len(analysis.trials) // 8)]:
        story = Story(index, trial.trial_id, metric, mode, clock_of(index.header))
        for step in story.steps:
            step.text = step.text or sentence(step, metric)
        found = recorded.trial(trial.trial_id)
        assert found["verdict"] == verdict(story, trial.trial_id, found["status"])
        assert found["note"] == unruled(story, found["status"])
        assert [(one["n"], one["text"]) for one in found["story"]] == [
            (one.n, one.text) for one in story.steps
        ]
        assert found["results"] == trial.num_results
        assert found["value"] == trial.value(metric)
        assert [one["t"] for one in found["checkpoints"]] == [one.t for one in trial.references()]
        best = {one["name"]: one["best"] for one in found["params"] if "best" in one}
        assert best == flatten(analysis.best_trial.config)


def test_decisions_are_sentences_of_stories(recorded):
    found, before = [], None
    while True:
        page = recorded.decisions(before, 7)
        found += page["decisions"]
        before = page["next"]
        if before is None:
            break
    assert found
    numbers = [one["n"] for one in found]
    assert numbers == sorted(numbers, reverse=True)
    assert found == recorded.decisions(None, 500)["decisions"][: len(found)] or len(found) > 400
    stories = {}
    for one in found[:60]:
        trial = one["trial_id"]
        if trial is None:
            continue
        if trial not in stories:
            stories[trial] = {(step["n"], step["text"]) for step in recorded.trial(trial)["story"]}
        assert (one["n"], one["text"]) in stories[trial]
    some = next(one["trial_id"] for one in found if one["trial_id"])
    own = recorded.decisions(trial=some)["decisions"]
    assert [one for one in found if one["trial_id"] == some] == own


def test_curves_have_each_result_once(recorded):
    columns = open_columns(recorded.journal)
    metric = columns.goals[0][0]
    rows = list(range(0, len(columns), max(1, len(columns) // 10)))
    found = recorded.curves([columns.ids[row] for row in rows], metric, 5000)
    assert found["metric"] == metric
    for row, one in zip(rows, found["trials"], strict=True):
        t, values = columns.curve(row, metric)
        segments = one["segments"]
        assert [at for each in segments for at in each["t"]] == t.tolist()
        joined = [np.nan if value is None else value for each in segments for value in each["value"]]
        np.testing.assert_array_equal(joined, np.where(np.isfinite(values), values, np.nan))
        if segments:
            assert segments[0]["changes"]


def test_rows_are_exact(recorded):
    columns = open_columns(recorded.journal)
    rows = [0, len(columns) - 1]
    found = recorded.rows([*rows, *rows, 10**9])
    assert found["rows"] == list(dict.fromkeys(rows))
    assert found["ids"] == [columns.ids[row] for row in found["rows"]]
    for name, column in columns.params.items():
        if column.levels is None:
            assert found["columns"][f"param:{name}"] == column.values[found["rows"]].tolist()
        else:
            assert found["columns"][f"param:{name}"][0] == column.levels[column.values[0]]


def test_a_comparison_has_the_numbers_of_the_plot(recorded):
    experiments = Experiments(recorded.journal.parent.parent)
    names = [one["id"] for one in experiments.listing()]
    found = experiments.comparison(names)
    wanted = compare([open_columns(experiments.get(one).journal) for one in names])
    assert [one["best"] for one in found["experiments"]] == [one.best for one in wanted.experiments]
    assert [one["name"] for one in found["experiments"]] == [one.name for one in wanted.experiments]
    assert [one["by_trial"]["y"][-1] for one in found["experiments"]] == [
        one.by_trial.y[-1] for one in wanted.experiments
    ]
    experiments.close()


def test_each_useful_plot_is_a_message(recorded):
    from overtone.ui.data.binary_message import array_at, decoded

    for name in recorded.overview()["plots"]:
        header, data = decoded(recorded.plot(name))
        assert header["kind"] == "scene"
        assert header["scene"]["panels"] or header["scene"]["empty"]
        for place in header["arrays"]:
            assert len(array_at(data, place)) == place["length"]
        for panel in header["scene"]["panels"]:
            assert all(mark["type"] in ("Points", "Line", "Band", "Bars", "Cells", "Texts")
                       for mark in panel["marks"])  # fmt: skip
