from __future__ import annotations

import math
import zipfile
from pathlib import Path

import numpy as np
import pytest

from overtone.core.lineage import Lineage
from overtone.core.types import Why
from overtone.journal.codec import Codec
from overtone.reading.columns import column_cache
from overtone.reading.columns.opening import open_columns
from overtone.reading.columns.restricted import restricted
from overtone.reading.journal_reader import JournalReader
from overtone.space.nesting import flatten, with_tuples

GOLDEN = Path(__file__, "../../../golden").resolve()
ARCHIVES = [*sorted(GOLDEN.glob("journals*/*.zip"))]


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda one: f"{one.parent.name}-{one.stem}")
def test_journals_of_each_scheduler(archive, tmp_path, check_columns):
    zipfile.ZipFile(archive).extractall(tmp_path)
    journals = sorted(tmp_path.rglob("journal.jsonl"))
    assert len(journals) == 2
    for journal in journals:
        check_columns(open_columns(journal), journal)


def test_a_branch_that_was_not_taken_is_missing(told):
    told.run({"lr": 0.1, "net": {"kind": "mlp", "width": 8}, "seed": 1}, {"loss": 1.0})
    told.run({"lr": 0.2, "net": {"kind": "cnn", "depth": 2}, "seed": 2}, {"loss": 2.0})
    columns = open_columns(told.write())
    assert list(columns.params) == ["lr", "net/kind", "net/depth", "net/width", "seed"]
    assert columns.params["net/width"].missing.tolist() == [False, True]
    assert columns.params["net/depth"].missing.tolist() == [True, False]
    assert columns.params["net/kind"].levels == ("mlp", "cnn")
    assert columns.params["seed"].values.tolist() == [1.0, 2.0]


def test_values_of_mixed_types_are_levels(told, check_columns):
    values = [
        3,
        "a",
        None,
        (1, "b"),
        [1],
        {"x": {}},
        True,
        1,
        1.0,
        10**400,
        math.inf,
        3,
        Path("/a"),
        "\ud800",
    ]
    for value in values:
        told.run({"x": value}, {"loss": 1.0})
    columns = open_columns(told.write())
    column = columns.params["x"]
    assert [column.levels[code] for code in column.values[:2]] == [3, "a"]
    assert column.values[0] == column.values[11]
    assert column.levels[column.values[12]] == Path("/a")
    assert columns.params["x/x"].missing.tolist() == [one != {"x": {}} for one in values]
    assert column.missing.tolist() == [one == {"x": {}} for one in values]


def test_numbers_stay_numbers(told, check_columns):
    for value in (1, 2.5, 10**400, math.nan, -math.inf, 2**60):
        told.run({"x": value}, {"loss": 1.0})
    columns = open_columns(told.write())
    np.testing.assert_array_equal(
        columns.params["x"].values, [1.0, 2.5, math.inf, math.nan, -math.inf, 2.0**60]
    )
    check_columns(columns, told.journal)


def test_metrics_of_any_kind(told, check_columns):
    told.run({"x": 1}, {"loss": 3.0, "deep": {"a": 1, "b": {"c": 2.0}}, "word": "x", "truth": True})
    told.run(
        {"x": 1}, {"loss": math.nan}, {"loss": 2}, {"loss": 10**400}, {"other": 1.0}, {"loss": -math.inf}
    )
    told.run({"x": 1}, {"loss": None}, {"loss": "a"}, {"deep": {"a": "x", "b": 3}})
    told.run({"x": 1}, *({"loss": value} for value in (2.0, 1.0, 3.0, 1.0, 3.0)))
    columns = open_columns(told.write())
    assert list(columns.metrics) == ["loss", "deep/a", "deep/b/c", "time_total_s", "other", "deep/b"]
    assert columns.metrics["loss"].min_t.tolist() == [1, 2, 0, 2]
    assert columns.metrics["loss"].max_t.tolist() == [1, 2, 0, 3]
    check_columns(columns, told.journal)


def test_an_experiment_without_trials(told):
    columns = open_columns(told.write())
    assert len(columns) == 0
    assert columns.goals == (("loss", "min"),)


def test_the_goal_is_inferred_from_the_first_result(tmp_path, make_told):
    told = make_told(tmp_path / "inferred", metric=[], mode=[])
    told.run({"x": 1}, {"accuracy": 0.5}, {"loss": 0.5})
    assert open_columns(told.write()).goals == (("accuracy", "max"),)


def test_the_end_of_a_trial_has_its_cause(told, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(column_cache, "FEWEST", 1)
    told.run({"x": 1}, {"loss": 1.0})
    for why in (Why("asha", t=1, rung=1), Why("max_t", t=9), Why("stop", note="by ada"), Why("stop", t=3)):
        trial = told.add({"x": 2})
        told.start(trial)
        told.end(trial, "halted", why)
    failed = told.add({"x": 3})
    told.start(failed)
    told.end(failed, "raised", error="ValueError: x")
    told.add({"x": 4})
    ends = ["finished", "asha", "finished", "request", "finished", "failed", None]
    for _ in range(2):  # the second time from the cache
        columns = open_columns(told.write())
        found = zip(columns.end.values.tolist(), columns.end.missing.tolist(), strict=True)
        assert [None if gone else columns.end.levels[code] for code, gone in found] == ends


@pytest.mark.parametrize("archive", [one for one in ARCHIVES if "pb" in one.stem], ids=lambda one: one.stem)
def test_exploits_are_those_of_the_whole_journal(archive, tmp_path):
    zipfile.ZipFile(archive).extractall(tmp_path)
    for journal in sorted(tmp_path.rglob("journal.jsonl")):
        lineage, decode, wanted = Lineage(), Codec(decode_config=with_tuples).decode, []
        for part in JournalReader(journal).parts():
            if isinstance(part, bytes) and (record := decode(part, True)) is not None:
                wanted += lineage.apply(record)
        columns = open_columns(journal)
        ids = columns.ids
        found = [
            (ids[one.row], ids[one.source], one.t, one.source_t, one.before, one.after)
            for one in columns.exploits(range(len(ids)))
        ]
        steps = [
            (name, one.source_id, one.target_t, one.t, flatten(one.before), flatten(one.after))
            for name, one in wanted
            if name != one.source_id or one.t < one.target_t
        ]
        assert found == steps
        assert found, "the journal has no exploit"
        # those of one trial need the records of the trials that it went on from
        row = ids.index(found[-1][0])
        assert [one.after for one in columns.exploits([row])] == [
            one[5] for one in found if one[0] == ids[row]
        ]
        part = restricted(columns, {found[-1][0], found[-1][1]})
        assert part.exploits([0, 1])[-1].after == found[-1][5]
