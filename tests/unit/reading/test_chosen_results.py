"""Frames of all trials by columns are those of the whole index."""

from __future__ import annotations

import io
import random
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from overtone.analysis import ExperimentAnalysis, each_result
from overtone.core.messages import Added, Suggested
from overtone.core.resources import Resources
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.reading import index_on_demand, reading_progress
from overtone.reading.columns import chosen_results, column_cache
from overtone.reading.index_on_demand import IndexOnDemand

pd = pytest.importorskip("pandas")

ARCHIVES = sorted(Path(__file__, "../../../golden").resolve().glob("journals*/*.zip"))
FRAMES = {
    "results": lambda analysis: analysis.results_df,
    "last": lambda analysis: analysis.dataframe(),
    **{
        f"{metric} {mode}": lambda analysis, metric=metric, mode=mode: analysis.dataframe(metric, mode)
        for metric, mode in (
            ("loss", "min"),
            ("acc", "max"),
            ("deep/b/c", "min"),
            ("config/lr", "max"),
            ("none", "max"),
        )
    },
}


@pytest.fixture(autouse=True)
def always(tmp_path, monkeypatch):
    """Every journal is long, and few lines are read at once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(index_on_demand, "LONG_BYTES", 0)
    monkeypatch.setattr(column_cache, "FEWEST", 1)
    monkeypatch.setattr(chosen_results, "_MOST_BYTES", 4000)
    monkeypatch.setattr(chosen_results, "_GAP_BYTES", 500)
    monkeypatch.setattr(chosen_results, "_MOST_ROWS", 7)


def frame_of(analysis, name):
    try:
        return FRAMES[name](analysis)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def check_frames(journal, monkeypatch, names=tuple(FRAMES)):
    """Assert that each frame is the same by columns and without; return the number of rows by columns."""
    read = []
    monkeypatch.setattr(
        each_result, "_block",
        lambda part, *rest, method=each_result._block: read.extend(part.rows) or method(part, *rest),
    )  # fmt: skip
    for name in names:
        fast = ExperimentAnalysis(journal)
        mine = frame_of(fast, name)
        with monkeypatch.context() as without:
            without.setattr(index_on_demand, "LONG_BYTES", 1 << 60)
            slow = ExperimentAnalysis(journal)
            assert slow._index.columns is None
            theirs = frame_of(slow, name)
        if isinstance(theirs, str):
            assert mine == theirs
            continue
        added = set(mine.columns) - set(theirs.columns)
        assert added <= {"timesteps_total"}  # which a frame without results need not have
        mine = mine[list(theirs.columns)]
        pd.testing.assert_frame_equal(mine, theirs, check_exact=True)
        assert repr(mine.to_numpy().tolist()) == repr(theirs.to_numpy().tolist())
    return len(read)


@pytest.mark.parametrize("seed", range(4))
def test_random_journals(told, seed, monkeypatch):
    rng = random.Random(seed)
    told.random_steps(rng, rng.choice([3, 40, 90]))
    check_frames(told.write(), monkeypatch)


def test_random_journals_of_plain_trials(told, monkeypatch):
    rng = random.Random(3)
    for _ in range(40):
        trial = told.add(
            {"lr": rng.random(), **({"b": {"c": rng.choice([1, "é", (1,)])}} if rng.random() < 0.5 else {})}
        )
        for _ in range(rng.randrange(3)):
            told.start(trial, node=rng.choice(["10.0.0.1", "host"]), pid=rng.randrange(9))
            for _ in range(rng.randrange(4)):
                metrics = {
                    "loss": rng.choice([1, 2.5, 0.5]),
                    "acc": rng.random(),
                    "word": rng.choice(["a", "é"]),
                }
                told.report(trial, **metrics)
            if rng.random() < 0.5:
                told.recover(trial, "it was killed")
        if rng.random() < 0.8 and trial in told._started:
            told.end(trial)
    assert check_frames(told.write(), monkeypatch) > 80


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda one: f"{one.parent.name}-{one.stem}")
def test_journals_of_each_scheduler(archive, tmp_path, monkeypatch):
    zipfile.ZipFile(archive).extractall(tmp_path)
    for journal in tmp_path.rglob("journal.jsonl"):
        check_frames(journal, monkeypatch, ["results", "loss min"])


def test_texts_that_look_like_fields(told, monkeypatch):
    told.run(
        {"metrics": {"metrics": 1}, "choices": [{"c": "added"}]}, {"loss": 1.0, "metrics": {"metrics": 2}}
    )
    told.run({"a": ',"metrics":{', "choices": [{"c": "x"}], "z": 1}, {"loss": 2.0, "choices": [{"c": "x"}]})
    assert check_frames(told.write(), monkeypatch) >= 4


def test_a_record_that_adds_many_trials(told, monkeypatch):
    ids = [f"many_{number:05}" for number in range(30)]
    added = [
        Added(one, number, {"x": number}, Resources.of({"cpu": 1}), f"{number}_x")
        for number, one in enumerate(ids)
    ]
    told._tell(Suggested(told.time, 0, {"x": 0}), *added)
    assert check_frames(told.write(), monkeypatch) >= 30


def test_many_trials_of_several_configs_are_left_to_the_index(told, monkeypatch):
    monkeypatch.setattr(index_on_demand, "MOST_TRIALS", 1)
    told.random_steps(random.Random(5), 150)
    index = IndexOnDemand(told.write(), builds=True)
    index.refresh()
    assert index.chosen_results(np.arange(len(index.columns))) is None
    check_frames(told.journal, monkeypatch)


@pytest.mark.parametrize("seed", range(3))
def test_last_results_are_those_of_the_whole_index(told, seed, monkeypatch):
    told.random_steps(random.Random(seed), 60)
    fast = ExperimentAnalysis(told.write())
    mine = fast.results
    with monkeypatch.context() as without:
        without.setattr(index_on_demand, "LONG_BYTES", 1 << 60)
        slow = ExperimentAnalysis(told.journal)
        theirs = {one.trial_id: one.last_result for one in slow.trials}
    assert repr(mine) == repr(theirs)


def test_objects_in_configs_come_from_the_space(told):
    for value in (1, 2):
        told.run({"kind": {"__space__": "kind", "index": value, "shown": "a class"}}, {"loss": 1.0})
    codec = Codec(None, lambda data: {"kind": [None, int, str][data["kind"]["index"]]}, has_objects=True)
    analysis = ExperimentAnalysis(told.write(), codec=codec)
    assert analysis.results_df["config/kind"].tolist() == [int, str]


def test_integers_that_floats_round_are_exact(told, monkeypatch):
    told.run({"x": 2**60 + 1}, {"loss": 1.0})
    told.run({"x": 7}, {"loss": 1.0})
    check_frames(told.write(), monkeypatch, ["results"])
    assert ExperimentAnalysis(told.journal).results_df["config/x"].tolist() == [2**60 + 1, 7]


def test_a_frame_shows_its_progress_and_removes_it(told, monkeypatch):
    for number in range(10):
        told.run({"x": number}, {"loss": 1.0})
    analysis = ExperimentAnalysis(told.write(), on_demand=True)
    assert len(analysis.trials) == 10
    monkeypatch.setattr(reading_progress, "_WAIT_S", 0.0)
    monkeypatch.setattr(reading_progress, "_EVERY_S", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert len(analysis.results_df) == 10
    shown = sys.stderr.getvalue()
    assert "reading exp: 70 %\rreading exp: 100 %" in shown.replace("  ", ""), shown
    assert shown.endswith(" \r")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_journal_that_changed_after_it_was_read(told):
    told.run({"x": 1}, {"loss": 1.0})
    index = IndexOnDemand(told.write(), builds=True)
    index.refresh()
    told.journal.write_bytes(told.journal.read_bytes().replace(b'"loss":1.0', b'"loss":2.0'))
    with pytest.raises(StorageError, match="was changed"):
        list(index.chosen_results(np.arange(1)))


@pytest.mark.parametrize("builds", [False, True])
def test_an_interrupted_reading_begins_again(told, builds, monkeypatch):
    for number in range(20):
        told.run({"x": number}, {"loss": 1.0})
    journal = told.write()
    index = IndexOnDemand(journal, builds=builds)
    with monkeypatch.context() as interrupted:

        def interrupt(*_):
            raise KeyboardInterrupt

        interrupted.setattr(IndexOnDemand, "_begin_columns" if builds else "_on_record", interrupt)
        with pytest.raises(KeyboardInterrupt):
            index.refresh()
    assert not index.is_indexed
    index.refresh()
    assert index.is_indexed
    assert len(index.table.rows) == 20
    assert sum(row.n_results for row in index.table.rows.values()) == 20
