"""`overtone import` and `overtone export --format optuna`."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing

import pytest

from overtone import tune
from overtone.cli import main
from overtone.cli.exit_codes import INTERRUPTED, WRONG
from overtone.errors import StorageError
from overtone.importers import recorder
from overtone.importers.optuna.distributions import Distribution

LR = Distribution.of("float", {"low": 0.001, "high": 1.0, "log": True, "step": None}).text()
N = Distribution.of("int", {"low": 1, "high": 9, "log": False, "step": 1}).text()
K = Distribution.of("categorical", {"choices": [None, "a", 2]}).text()


@pytest.fixture
def overtone(tmp_path, monkeypatch, capsys):
    """Run a command with a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def call(*argv):
        capsys.readouterr()
        code = main([str(one) for one in argv])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def study(tmp_path, study_file):
    """Return a study with a trial of each state."""
    path = tmp_path / "study.db"
    with study_file(path) as writer:
        study = writer.add_study("s", ["MAXIMIZE"], {"who": "me"}, {"study:metric_names": ["acc"]})
        for number, state in enumerate(("COMPLETE", "COMPLETE", "PRUNED", "FAIL", "RUNNING", "WAITING")):
            times = (f"2026-01-02 03:04:0{number}.500000", f"2026-01-02 03:05:0{number}.250000")
            times = (None if state == "WAITING" else times[0], None if number > 3 else times[1])
            trial = writer.add_trial(None, study, number, state, *times)
            if state == "WAITING":
                writer.set_attributes("system", trial, {"fixed_params": {"lr": 0.5}})
                continue
            writer.set_params(
                trial, {"lr": (0.1 * (number + 1), LR), "net/n": (3.0, N), "k": (float(number % 3), K)}
            )
            writer.set_steps(trial, {5: 0.25, 10: float("inf")})
            if number < 2:
                writer.set_values(trial, [0.75 + number])
    return path


TABLES = {
    "trials": "number, state, datetime_start, datetime_complete",
    "trial_params": "trial_id, param_name, param_value",
    "trial_values": "trial_id, objective, value, value_type",
    "trial_intermediate_values": "trial_id, step, intermediate_value, intermediate_value_type",
    "study_directions": "direction, objective",
    "study_user_attributes": '"key", value_json',
    "studies": "study_name",
}


def contents(path):
    with closing(sqlite3.connect(path)) as database:
        return {
            name: database.execute(f"SELECT {columns} FROM {name} ORDER BY 1, 2").fetchall()
            if "," in columns else database.execute(f"SELECT {columns} FROM {name}").fetchall()
            for name, columns in TABLES.items()
        }  # fmt: skip


def test_there_and_back(overtone, study, tmp_path):
    code, out, err = overtone("import", study)
    folder = tmp_path / "home" / "overtone_results" / "s"
    assert (code, out, err) == (
        0, f"imported 6 trials with 12 results from Optuna: overtone show {folder}\n", "",
    )  # fmt: skip
    back = tmp_path / "back.db"
    assert overtone("export", "s", "--format", "optuna", "-o", back)[0] == 0
    before, after = contents(study), contents(back)
    values = after["trial_values"]  # As Optuna 5 does, a pruned trial gets its last value.
    assert (3, 0, None, "INF_POS") in values
    after["trial_values"] = [one for one in values if one[0] != 3]
    assert after == before
    with closing(sqlite3.connect(back)) as database:
        texts = dict(database.execute("SELECT param_name, distribution_json FROM trial_params"))
    assert {name: Distribution(text) for name, text in texts.items()} == {
        "lr": Distribution(LR), "net/n": Distribution(N), "k": Distribution(K),
    }  # fmt: skip


def test_the_commands_that_read(overtone, study):
    overtone("import", study)
    code, out, _ = overtone("show", "s")
    assert code == 0
    assert f"imported    study 's' of {study} (Optuna)" in out
    assert "overtone resume" not in out
    rows = json.loads(overtone("ls", "--json")[1])
    (row,) = rows["experiments"] if isinstance(rows, dict) else rows
    assert (row["state"], row["best"]["value"], row["metric"], row["mode"]) == (
        "interrupted",
        1.75,
        "acc",
        "max",
    )
    assert row["statuses"] == {"TERMINATED": 3, "ERROR": 1, "INTERRUPTED": 1, "PENDING": 1}
    assert overtone("verify", "s")[0] == 0
    for command in (
        ("whatif", "s", "--scheduler", "asha"),
        ("why", "s", "2"),
        ("best", "s"),
        ("export", "s"),
    ):
        assert overtone(*command)[0] == 0, command
    code, _, err = overtone("resume", "s")
    assert code == WRONG
    assert "warm_start=" in err
    code, _, err = overtone("rerun", "s", "0")
    assert code == WRONG
    assert "did not run here" in err


def test_json_and_what_is_lost(overtone, study, study_file, tmp_path):
    with closing(sqlite3.connect(study)) as database:
        database.execute("INSERT INTO trial_system_attributes VALUES (NULL, 1, 'grid', '1')")
        database.commit()
    code, out, _ = overtone("import", study, "--name", "x", "--json")
    assert code == 0
    assert json.loads(out) == {
        "path": str(tmp_path / "home" / "overtone_results" / "x"),
        "tuner": "Optuna",
        "trials": 6,
        "results": 12,
        "not_carried_over": ["1 system attribute of trials"],
    }
    out = overtone("import", study, "--name", "y")[1]
    assert out.splitlines()[1] == "not carried over: 1 system attribute of trials"


def test_a_repeat_says_what_exists(overtone, study, tmp_path):
    overtone("import", study)
    code, _, err = overtone("import", study)
    assert code == WRONG
    assert f"the import of study 's' of {study}" in err
    assert "--name s-2" in err
    results = tmp_path / "home" / "overtone_results"
    (results / "plain").mkdir()
    (results / "plain" / "file").touch()
    code, _, err = overtone("import", study, "--name", "plain")
    assert code == WRONG
    assert "something else" in err
    assert sorted(one.name for one in results.iterdir()) == ["plain", "s"]
    assert overtone("import", study, "--name", "a/b")[0] == WRONG


def test_one_that_appears_meanwhile_is_not_replaced(overtone, study, tmp_path, monkeypatch):
    results = tmp_path / "home" / "overtone_results"
    ordinary = recorder.record_experiment

    def slow(*args):
        (results / "s").mkdir()
        (results / "s" / "theirs").touch()
        return ordinary(*args)

    monkeypatch.setattr("overtone.importers.import_results.record_experiment", slow)
    code, _, err = overtone("import", study)
    assert code == WRONG
    assert "exists already" in err
    assert [one.name for one in results.rglob("*")] == ["s", "theirs"]


def test_ctrl_c_leaves_nothing(overtone, study, tmp_path, monkeypatch):
    def interrupted(self, trial):
        raise KeyboardInterrupt

    monkeypatch.setattr(recorder._Recorder, "_start", interrupted)
    assert overtone("import", study)[0] == INTERRUPTED
    assert list((tmp_path / "home" / "overtone_results").iterdir()) == []


def test_what_a_killed_import_left_is_removed(overtone, study, tmp_path):
    left = tmp_path / "home" / "overtone_results" / ".import-abc"
    left.mkdir(parents=True)
    (left / "half").touch()
    overtone("import", study)
    assert not left.exists()


@pytest.mark.parametrize("text", ["", "garbage"])
def test_unknown_sources(overtone, tmp_path, text):
    (tmp_path / "file").write_text(text)
    code, _, err = overtone("import", tmp_path / "file")
    assert code
    assert "is not known" in err
    code, _, err = overtone("import", tmp_path / "missing.db")
    assert code == WRONG
    assert "there is no" in err
    os.mkfifo(tmp_path / "pipe")
    assert overtone("import", tmp_path / "pipe")[0] != 0


def test_the_goal_can_be_said(overtone, study):
    overtone("import", study, "--metric", "step", "--mode", "min")
    assert json.loads(overtone("show", "s", "--json")[1])["metric"] == "step"
    assert overtone("import", study, "--name", "b", "--metric", "step")[0] == WRONG
    assert overtone("import", study, "--name", "b", "--mode", "min")[0] == WRONG


def test_a_search_goes_on(overtone, study, tmp_path):
    """As a study or a run, with the trials that were open first; and as a warm start."""
    overtone("import", study)
    overtone("import", study, "--name", "t")
    results = str(tmp_path / "home" / "overtone_results")
    space = {
        "lr": tune.loguniform(0.001, 1.0),
        "net": {"n": tune.randint(1, 10)},
        "k": tune.choice([None, "a", 2]),
    }
    goal = {"metric": "acc", "mode": "max", "storage_path": results}
    with tune.ask_tell(space, name="s", resume=True, **goal) as again:
        asked = [again.ask() for _ in range(3)]
        assert [one.number for one in asked] == [4, 5, 6]
        for one in asked:
            again.tell(one, 0.5)
        assert len(again.trials) == 7
    assert overtone("verify", "s")[0] == 0
    done = tune.run(
        lambda config: {"acc": 0.5}, config=space, name="t", resume=True, num_samples=6, engine="inline", verbose=0,
        raise_on_failed_trial=False, **goal,
    )  # fmt: skip
    assert all(one.is_finished() for one in done.trials)
    assert len(done.trials) == 7
    warm = tune.run(
        lambda config: {"acc": config["lr"]}, config=space, name="w", num_samples=2, engine="inline", verbose=0,
        search_alg="auto", warm_start=f"{results}/s", **goal,
    )  # fmt: skip
    earlier = warm.runner_data()["earlier"]
    assert len(earlier) >= 6
    assert earlier[0]["config"] == {"lr": 0.1, "net": {"n": 3}, "k": None}


# --- overtone export --format optuna ---------------------------------------------------------


def test_an_export_of_a_run(overtone, tmp_path):
    results = str(tmp_path / "home" / "overtone_results")
    space = {
        "lr": tune.loguniform(0.01, 1), "n": tune.qrandint(2, 8, 2), "const": 3, "act": tune.grid_search(["a", "b"]),
        "net": tune.choice([{"kind": "mlp", "w": tune.randint(1, 4)}, {"kind": "cnn"}]), "layers": tune.choice([[1], [2, 3]]),
        "z": tune.randn(0, 1),
    }  # fmt: skip

    def train(config):
        for step in range(3):
            if config["act"] == "b" and step == 1:
                raise ValueError("no")
            tune.report({"loss": float("nan") if config["lr"] < 0 else config["lr"], "other": step})

    tune.run(
        train, config=space, metric="loss", mode="min", name="r", num_samples=4, engine="inline", verbose=0, seed=1,
        storage_path=results, raise_on_failed_trial=False,
    )  # fmt: skip
    path = tmp_path / "r.db"
    code, _, err = overtone("export", "r", "--format", "optuna", "-o", path)
    assert code == 0
    assert "wrote 8 trials" in err
    found = contents(path)
    assert [one[1] for one in found["trials"]].count("FAIL") == 4
    assert {one[1] for one in found["trial_params"]} == {"lr", "n", "act", "net/kind", "net/w", "layers", "z"}
    assert len(found["trial_intermediate_values"]) == 4 * 3 + 4
    for wrong in ((), ("-o", path), ("-o", tmp_path / "no" / "x.db")):
        assert overtone("export", "r", "--format", "optuna", *wrong)[0] == WRONG
    assert [one.name for one in tmp_path.glob("r.db*")] == ["r.db"]


def test_a_number_that_optuna_cannot_store_is_an_error(overtone, tmp_path):
    def train(config):
        tune.report(loss=10**400)

    results = tmp_path / "home" / "overtone_results"
    tune.run(train, metric="loss", mode="min", name="r", engine="inline", verbose=0, storage_path=results)
    code, _, err = overtone("export", "r", "--format", "optuna", "-o", tmp_path / "r.db")
    assert (code, "a number is too large for Optuna" in err) == (WRONG, True)
    assert [one.name for one in tmp_path.iterdir()] == ["home"]


def test_an_export_touches_no_other_file(overtone, study, tmp_path):
    """A file with the name that a draft could have may be a link to another database."""
    overtone("import", study)
    link = tmp_path / f"r.db.{os.getpid()}.tmp"
    link.symlink_to(tmp_path / "other.db")
    assert overtone("export", "s", "--format", "optuna", "-o", tmp_path / "r.db")[0] == 0
    assert link.is_symlink()
    assert not (tmp_path / "other.db").exists()


@pytest.mark.parametrize("moment", [float("nan"), 1e20])
def test_a_time_outside_of_the_calendar_is_unknown(moment):
    from overtone.importers.optuna.study_file import _utc

    assert _utc(moment) is None


def test_values_outside_of_the_space(overtone, tmp_path):
    """A scheduler may have changed a config: the distribution grows with it."""
    from overtone.importers.optuna.study_file import _fitting

    given = {"lr": Distribution(LR), "n": Distribution(N), "k": Distribution(K)}
    configs = [{"lr": 2.0, "n": 3.5, "k": "new"}, {"lr": 0.5, "n": 3, "k": 2}]
    found = _fitting(given, iter(configs))
    assert found["lr"].data["high"] == 2.0
    assert found["lr"].data["log"]
    assert (found["n"].kind, found["k"].data["choices"]) == ("float", [None, "a", 2, "new"])
    many = _fitting({}, iter([{"x": float(i), "same": 1} for i in range(5000)]))
    assert many["x"].data["high"] == 4999.0
    assert "same" not in many


def test_a_results_folder_that_may_not_be_written(tmp_path, take, study):
    (tmp_path / "results").touch()
    with pytest.raises(StorageError, match="--dir"):
        take(study)
