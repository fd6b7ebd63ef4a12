from __future__ import annotations

import random
import warnings
import zipfile
from pathlib import Path

import pytest

from overtone.analysis import ExperimentAnalysis
from overtone.cli.ranking import ranking
from overtone.cli.trial_rows import parameter_names
from overtone.core.messages import Discarded, Ended, Saved
from overtone.core.table import Row
from overtone.core.types import Checkpoint
from overtone.reading import index_on_demand
from overtone.reading.columns import column_cache
from overtone.reading.index_on_demand import IndexOnDemand
from overtone.reading.journal_index import JournalIndex

ARCHIVES = sorted(Path(__file__, "../../../golden").resolve().glob("journals*/*.zip"))


@pytest.fixture(autouse=True)
def always(tmp_path, monkeypatch):
    """Every journal is long."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(index_on_demand, "LONG_BYTES", 0)
    monkeypatch.setattr(column_cache, "FEWEST", 1)


def whole(journal):
    index = JournalIndex(journal)
    index.refresh()
    return index


def check(index, journal, every=1):
    """Assert that an index says what the whole index says."""
    wanted = whole(journal)
    assert list(index.table.rows) == list(wanted.table.rows)
    assert index.table.counts == wanted.table.counts
    assert (index.table.n, index.table.time) == (wanted.table.n, wanted.table.time)
    assert index.table.limits == wanted.table.limits
    assert index.rungs == wanted.rungs
    for trial_id in list(wanted.table.rows)[::every]:
        mine, theirs = index.table.rows[trial_id], wanted.table.rows[trial_id]
        for name in Row.__slots__:
            one, other = getattr(mine, name), getattr(theirs, name)
            assert repr(one) == repr(other), name
        past, other_past = index.past(trial_id), wanted.past(trial_id)
        for name in ("offsets", "mentions", "checkpoints", "failures", "traceback"):
            assert getattr(past, name) == getattr(other_past, name), name
        assert repr(index.last_result(trial_id)) == repr(wanted.last_result(trial_id))
        assert repr(list(index.results(trial_id))) == repr(list(wanted.results(trial_id)))
        assert repr(list(index.records(trial_id))) == repr(list(wanted.records(trial_id)))


def check_rankings(journal, monkeypatch):
    """Assert that rankings are the same by columns and without."""
    fast = ExperimentAnalysis(journal, on_demand=True)
    with monkeypatch.context() as without:
        without.setattr(index_on_demand, "LONG_BYTES", 1 << 60)
        slow = ExperimentAnalysis(journal)
        trials = slow.trials
    assert fast.trials
    assert fast._index.columns is not None or not fast._index._reading
    assert parameter_names(fast.trials) == parameter_names(trials)
    for metric, mode, scope in (
        ("loss", "min", "last"), ("loss", "max", "all"), ("acc", "max", "last"), ("acc", "min", "all"),
        ("deep/a", "max", "last"), ("deep/b/c", "min", "all"), ("loss", "min", "avg"), ("none", "max", "last"),
    ):  # fmt: skip
        mine = [(value, one.trial_id) for value, one in ranking(fast, fast.trials, metric, mode, scope)]
        theirs = [(value, one.trial_id) for value, one in ranking(slow, trials, metric, mode, scope)]
        assert mine == theirs
        assert [repr(value) for value, _ in mine[:1]] == [repr(value) for value, _ in theirs[:1]]
        with warnings.catch_warnings(record=True):
            assert best_of(fast, metric, mode, scope) == best_of(slow, metric, mode, scope)
    assert fast.stats() == slow.stats()


def best_of(analysis, metric, mode, scope):
    try:
        best = analysis.get_best_trial(metric, mode, scope)
    except Exception as error:
        return str(error)
    return best and (best.trial_id, repr(best.config), repr(best.last_result))


def save_some(told, rng):
    """Checkpoints that are saved, and some that are deleted."""
    for trial in rng.sample(list(told._configs), min(4, len(told._configs))):
        uri = rng.choice([f"{told.journal.parent}/{trial}/checkpoint_000001", f"store://{rng.random()}"])
        told._tell(Saved(told.time, trial, told._attempts[trial], Checkpoint(trial, 1, uri)))
        if rng.random() < 0.6:
            told._tell(Discarded(told.time, uri))
        if rng.random() < 0.3:
            told._tell(Ended(told.time, trial, told._attempts[trial], "raised", "it failed", "Traceback"))


@pytest.mark.parametrize("seed", range(8))
def test_random_journals_that_grow(told, seed, monkeypatch):
    rng = random.Random(seed)
    told.random_steps(rng, 5)
    index = IndexOnDemand(told.write(), builds=True)
    for _ in range(5):
        told.random_steps(rng, rng.choice([0, 1, 10, 40]))
        save_some(told, rng)
        told.write()
        before = index.table.n
        assert index.refresh() == index.table.n - before
        assert index.columns is not None
        check(index, told.journal)
        index.past(rng.choice(list(index.table.rows)))
    check_rankings(told.journal, monkeypatch)


@pytest.mark.parametrize(
    "archive",
    [  # journals of format 1 are read as a whole: three are enough in CI
        pytest.param(one, marks=[pytest.mark.full] * (one.parent.name == "journals" and i >= 3))
        for i, one in enumerate(ARCHIVES)
    ],
    ids=lambda one: f"{one.parent.name}-{one.stem}",
)
def test_journals_of_each_scheduler(archive, tmp_path, monkeypatch):
    zipfile.ZipFile(archive).extractall(tmp_path)
    for journal in tmp_path.rglob("journal.jsonl"):
        index = IndexOnDemand(journal, builds=True)
        index.refresh()
        assert (index.columns is None) == (archive.parent.name == "journals")  # format 1 is read as a whole
        check(index, journal)
        check_rankings(journal, monkeypatch)


def test_many_trials_are_read_at_once(told, monkeypatch):
    monkeypatch.setattr(index_on_demand, "MOST_TRIALS", 3)
    told.random_steps(random.Random(1), 100)
    index = IndexOnDemand(told.write(), builds=True)
    index.refresh()
    rows = index.table.rows
    assert index.columns is not None
    assert [rows[one].id for one in rows] == list(rows)
    assert index.columns is None
    check(index, told.journal)
    told.random_steps(random.Random(2), 10)
    told.write()
    index.refresh()
    check(index, told.journal)


def test_trials_stay_the_same_objects(told, monkeypatch):
    monkeypatch.setattr(index_on_demand, "MOST_TRIALS", 3)
    told.random_steps(random.Random(1), 100)
    analysis = ExperimentAnalysis(told.write(), on_demand=True)
    trials = analysis.trials
    assert len({one.status for one in trials}) > 1  # by now, all are read
    assert all(one is other for one, other in zip(analysis.trials, trials, strict=True))


def test_a_journal_that_changed(told):
    told.random_steps(random.Random(1), 60)
    index = IndexOnDemand(told.write(), builds=True)
    index.refresh()
    lines = told.journal.read_bytes().splitlines(keepends=True)
    told.journal.write_bytes(b"".join(lines[:30]))
    index.refresh()
    check(index, told.journal)


def test_columns_are_built_on_request_and_used_if_there(told):
    told.random_steps(random.Random(1), 60)
    journal = told.write()
    for builds, has_columns in ((False, False), (True, True), (False, True)):
        index = IndexOnDemand(journal, builds=builds)
        index.refresh()
        assert (index.columns is not None) is has_columns
        check(index, journal)


@pytest.mark.parametrize("value", [10**400, -(10**400), 2**60 + 1, float("inf"), float("nan"), 2**53])
def test_rankings_of_large_numbers(told, value, monkeypatch):
    told.run({"x": 1}, {"loss": 1.5, "acc": 2**60})
    told.run({"x": 2}, {"loss": value, "acc": 1})
    told.run({"x": 3}, {"loss": 2**60, "acc": 2})
    check_rankings(told.write(), monkeypatch)
