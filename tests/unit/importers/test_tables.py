"""Tables, and Syne Tune's tables."""

from __future__ import annotations

import json
import math
import os
import zipfile

import pytest

from overtone import tune
from overtone.errors import OvertoneError, StorageError
from overtone.importers.cells import cell_value
from overtone.journal.lines import header


@pytest.fixture
def table(tmp_path, take, trials_of):
    def table(text, name="t.csv", **choices):
        path = tmp_path / name
        path.write_text(text)
        found = take(path, **choices)
        return found, trials_of(found)

    return table


def test_a_row_for_each_trial(table):
    text = "lr,layers,loss,note\n0.1,2,0.5,good\n0.2,3,nan,\n"
    found, (first, second) = table(text, params=("lr", "layers"), metric=("loss",), mode=("min",))
    assert first.config == {"lr": 0.1, "layers": 2}
    assert (first.last_result["loss"], first.last_result["note"]) == (0.5, "good")
    assert math.isnan(second.last_result["loss"])
    assert header(found.folder / "journal.jsonl")["parts"]["metric"] == ["loss"]
    assert tune.verify(found.folder).is_same


def test_the_frame_of_a_study_of_optuna(table):
    text = (
        ",number,value,datetime_start,datetime_complete,duration,params_lr,params_opt,user_attrs_acc,state\n"
        "0,0,0.5,2026-01-01 00:00:00,2026-01-01 00:00:10,0 days,0.1,sgd,0.9,COMPLETE\n"
        "1,1,,2026-01-01 00:00:05,2026-01-01 00:00:15,0 days,0.2,adam,,TrialState.FAIL\n"
        "2,2,0.7,2026-01-01 00:00:05,,0 days,0.2,adam,,PRUNED\n"
    )
    _, (first, second, third) = table(text, metric=("value",), mode=("min",))
    assert first.config == {"lr": 0.1, "opt": "sgd"}
    assert first.last_result["user_attrs_acc"] == 0.9
    assert [one.status for one in (first, second, third)] == ["TERMINATED", "ERROR", "TERMINATED"]
    assert third.why.note == "stopped"
    assert first.last_result["time_total_s"] == 10.0


def test_a_row_for_each_result(table):
    text = (
        "trial_id,training_iteration,loss,config/net/lr,time_total_s\n"
        "x,1,0.5,0.1,1\ny,1,0.7,0.2,1\nx,2,0.25,0.1,2\n"
    )
    _, (first, second) = table(text)
    assert (first.trial_id, second.trial_id) == ("x", "y")
    assert first.config == {"net": {"lr": 0.1}}
    assert [one["loss"] for one in first.results()] == [0.5, 0.25]


def test_the_table_that_overtone_exports(table, overtone_table):
    _, (first, second) = table(overtone_table)
    assert first.config["net"] == {"w": 1}
    assert [one["loss"] for one in first.results()] == [0.5, 0.25]
    assert second.config == {"lr": 0.2, "net": {"w": 2}}


@pytest.fixture
def overtone_table():
    return (
        "trial_id,loss,training_iteration,time_total_s,done,config/lr,config/net/w\n"
        "358bb_00000,0.5,1,1.0,False,0.1,1\n358bb_00000,0.25,2,2.0,True,0.1,1\n"
        "358bb_00001,0.75,1,1.0,True,0.2,2\n"
    )


def test_columns_that_cannot_be_told_apart(table):
    with pytest.raises(OvertoneError, match="--params lr; the columns are lr, loss"):
        table("lr,loss\n1,2\n")
    with pytest.raises(OvertoneError, match="no column 'lrr'"):
        table("lr,loss\n1,2\n", params=("lrr",))
    with pytest.raises(OvertoneError, match="--mode"):
        table("lr,loss\n1,2\n", params=("lr",), metric=("loss",))
    with pytest.raises(StorageError, match="row 2 has 3 cells"):
        table("lr,loss\n1,2,3\n", params=("lr",))


def test_tabs_and_an_empty_table(table):
    _, (trial,) = table("config_a\tloss\n1\t2\n", "t.tsv")
    assert trial.config == {"a": 1}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1), ("-2", -2), ("1.5", 1.5), ("1e3", 1000.0), ("inf", math.inf), ("True", True), ("none", None),
        ("", None), ("[1, 2]", [1, 2]), ("[1, x]", "[1, x]"), ("a", "a"), ("1_000", "1_000"),
        ("12345678901234567890123", 12345678901234567890123.0),
    ],
)  # fmt: skip
def test_cells(text, value):
    assert cell_value(text) == value


def test_syne_tune(tmp_path, take, trials_of):
    folder = tmp_path / "st"
    folder.mkdir()
    (folder / "tuner.dill").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    space = {
        "lr": {"domain_cls": "Float", "domain_kwargs": {"lower": 0.1, "upper": 1.0}, "sampler_cls": "LogUniform", "sampler_kwargs": {}},
        "n": {"domain_cls": "Integer", "domain_kwargs": {"lower": 1, "upper": 4}},
        "k": {"domain_cls": "Categorical", "domain_kwargs": {"categories": ["a", "b"]}},
        "w": {"domain_cls": "FiniteRange", "domain_kwargs": {"lower": 1, "upper": 4, "size": 3, "log_scale": True, "cast_int": True}},
        "epochs": 3,
        "new": {"domain_cls": "New", "domain_kwargs": {}},
    }  # fmt: skip
    facts = {
        "st_tuner_start_timestamp": 1000.0, "metric_names": ["loss"], "metric_mode": "min",
        "config_space": json.dumps(space), "entrypoint": "train", "scheduler_name": "ASHA",
    }  # fmt: skip
    (folder / "metadata.json").write_text(json.dumps(facts))
    text = (
        "loss,epoch,st_worker_time,st_decision,st_status,trial_id,config_lr,config_k,st_tuner_time\n"
        "0.5,1,1.0,CONTINUE,InProgress,0,0.1,a,2.0\n0.7,1,1.5,STOP,InProgress,1,0.2,b,2.5\n"
        "0.25,2,2.0,CONTINUE,Completed,0,0.1,a,3.0\n0.5,1,1.0,CONTINUE,InProgress,2,0.3,a,4.0\n"
        "0.5,1,1.0,CONTINUE,Failed,3,0.3,a,5.0\n"
    )
    with zipfile.ZipFile(folder / "results.csv.zip", "w") as archive:
        archive.writestr("results.csv", text)
    found = take(folder, None)
    first, second, third, fourth = trials_of(found)
    assert found.folder.name == "st"
    assert any("the domain of new" in one for one in found.lost)
    assert [one["loss"] for one in first.results()] == [0.5, 0.25]
    assert first.config == {"lr": 0.1, "k": "a"}
    assert [one.status for one in (first, second, third, fourth)] == [
        "TERMINATED",
        "TERMINATED",
        "RUNNING",
        "ERROR",
    ]
    assert second.why.note == "stopped by its scheduler"
    assert first.run_metadata.start_time == 1001.0
    parts = header(found.folder / "journal.jsonl")["parts"]
    assert parts["space"]["lr"] == {"__domain__": "loguniform", "lower": 0.1, "upper": 1.0}
    assert parts["space"]["w"]["categories"] == [1, 2, 4]
    assert parts["space"]["epochs"] == 3
    assert tune.verify(found.folder).is_same
    (folder / "results.csv.zip").write_bytes(b"PK garbage")
    with pytest.raises(StorageError, match=r"results\.csv\.zip cannot be read"):
        take(folder, "again")


@pytest.mark.parametrize("header", ["lr,Verlust größer,loss", "lr,größe"])
def test_a_table_in_another_encoding_is_refused(tmp_path, take, header):
    path = tmp_path / "t.csv"
    path.write_bytes(f"{header}\n1,2,3\n".encode("latin-1"))
    with pytest.raises(StorageError, match="cannot be read as a table in UTF-8"):
        take(path, params=("lr",))


def test_a_value_that_no_tuner_writes_is_refused_and_leaves_nothing(tmp_path, take):
    path = tmp_path / "t.csv"
    path.write_text("config/lr,loss\n0.1,0.5\n0.2," + "[" * 100_000 + "\n")
    with pytest.raises(StorageError, match=r"t\.csv has a value that cannot be read \(RecursionError"):
        take(path)
    assert os.listdir(tmp_path / "results") == []
