"""Studies in SQLite files: what they hold is in the experiment."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import stat
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from overtone import tune
from overtone.core.types import cause_of_end
from overtone.errors import OvertoneError, StorageError
from overtone.importers import import_results
from overtone.importers.optuna.distributions import Distribution
from overtone.journal.lines import header

X = Distribution.of("float", {"low": 0.0, "high": 1.0, "log": False, "step": None}).text()
K = Distribution.of("categorical", {"choices": [None, "a", [1, 2], 3]}).text()
N = Distribution.of("int", {"low": 1, "high": 9, "log": False, "step": 2}).text()


def at(seconds: float) -> str:
    """Return a time as Optuna stores it."""
    return f"2026-01-02 03:04:{seconds:09.6f}"


@pytest.fixture
def path(tmp_path, study_file) -> Path:
    """Return a database with one study, whose trials have every state."""
    path = tmp_path / "study.db"
    with study_file(path) as writer:
        study = writer.add_study("s", ["MINIMIZE"], {"who": [1, {"a": 2}]}, {"nsga": 1})
        done = writer.add_trial(None, study, 0, "COMPLETE", at(1), at(3))
        writer.set_params(done, {"x": (0.5, X), "k": (2.0, K), "n": (5.0, N)})
        writer.set_steps(done, {3: math.nan, 7: 0.25, 9: math.inf})
        writer.set_values(done, [0.125])
        writer.set_attributes("user", done, {"acc": 0.5})
        writer.set_attributes("system", done, {"sampler": 1})
        pruned = writer.add_trial(None, study, 1, "PRUNED", at(2), at(2.5))
        writer.set_params(pruned, {"x": (0.1, X)})
        writer.set_steps(pruned, {0: 0.75})
        writer.set_values(pruned, [0.75])
        failed = writer.add_trial(None, study, 2, "FAIL", at(3), at(4))
        writer.set_params(failed, {"x": (0.2, X), "k": (0.0, K)})
        writer.set_attributes("system", failed, {"fail_reason": "no memory\nmore"})
        running = writer.add_trial(None, study, 3, "RUNNING", at(3.5), None)
        writer.set_steps(running, {0: 0.5})
        waiting = writer.add_trial(None, study, 4, "WAITING", None, None)
        writer.set_attributes("system", waiting, {"fixed_params": {"x": 0.9}})
    return path


def test_states_values_and_curves(path, take, trials_of):
    found = take(path)
    done, pruned, failed, running, waiting = trials_of(found)
    assert [one.status for one in (done, pruned, failed, running, waiting)] == [
        "TERMINATED", "TERMINATED", "ERROR", "RUNNING", "PENDING",
    ]  # fmt: skip
    assert cause_of_end(done.why) == "finished"
    assert cause_of_end(pruned.why) == "request"
    assert done.config == {"x": 0.5, "k": [1, 2], "n": 5}
    assert failed.config == {"x": 0.2, "k": None}
    curve = [(one.get("step"), one["value"]) for one in done.results()]
    assert math.isnan(curve[0][1])
    assert curve[1:] == [(7, 0.25), (9, math.inf), (None, 0.125)]
    assert [one["value"] for one in pruned.results()] == [0.75]  # Its value repeats its last step.
    assert done.last_result["user_attrs"] == {"acc": 0.5}
    assert failed.error == "no memory"
    assert waiting.config == {"x": 0.9}
    assert done.run_metadata.start_time == pytest.approx(1767323041.0)
    assert done.last_result["time_total_s"] == pytest.approx(2.0)
    assert "system attribute of" in " ".join(found.lost)
    facts = header(found.folder / "journal.jsonl")
    assert facts["imported"]["user_attrs"] == {"who": [1, {"a": 2}]}
    assert facts["parts"]["metric"] == ["value"]
    assert facts["parts"]["mode"] == ["min"]


def test_the_journal_is_what_the_controller_decides(path, take):
    verified = tune.verify(take(path).folder)
    assert verified.is_same
    assert verified.n_decisions
    assert "came from study 's'" in verified.notes[0]


def test_events_are_in_the_order_of_times(path, take):
    lines = (take(path).folder / "journal.jsonl").read_text().splitlines()
    times = [one["time"] for one in map(json.loads, lines) if "time" in one]
    assert times == sorted(times)


def test_a_finished_study_is_finished(tmp_path, take, study_file):
    with study_file(tmp_path / "a.db") as writer:
        study = writer.add_study("a/b:c", ["MAXIMIZE"])
        trial = writer.add_trial(None, study, 0, "COMPLETE", at(1), at(2))
        writer.set_values(trial, [1.0])
    found = take(tmp_path / "a.db", None)
    assert found.folder.name == "a_b_c"
    assert (found.folder / "journal.jsonl").read_text().splitlines()[-1].startswith('{"n":9,"e":"end"')


def test_several_objectives_with_names_and_constraints(tmp_path, take, study_file):
    with study_file(tmp_path / "a.db") as writer:
        names = {"study:metric_names": ["loss", "size"]}
        study = writer.add_study("a", ["MINIMIZE", "MAXIMIZE"], {}, names)
        for number, bounds in enumerate(([-1.0, 0.5], [-1.0, -1.0], None)):
            trial = writer.add_trial(None, study, number, "COMPLETE", at(1), at(2))
            writer.set_values(trial, [float(number), 1.0 if number == 1 else -math.inf])
            if bounds:
                writer.set_attributes("system", trial, {"constraints": bounds})
    found = take(tmp_path / "a.db")
    analysis = tune.ExperimentAnalysis(found.folder)
    first, second, third = analysis.trials
    assert first.last_result["constraint_1"] == 0.5
    assert first.last_result["size"] == -math.inf
    assert header(found.folder / "journal.jsonl")["parts"]["constraints"] == {
        "constraint_0": 0.0,
        "constraint_1": 0.0,
    }
    assert "constraint_0" in third.why.note  # Optuna calls it infeasible, Overtone incomplete.
    assert tune.verify(found.folder).is_same
    assert [one.trial_id for one in analysis.pareto_front()] == [second.trial_id]


def test_several_studies_need_a_choice(tmp_path, take, study_file):
    with study_file(tmp_path / "a.db") as writer:
        for name in ("one", "two"):
            study = writer.add_study(name, ["MINIMIZE"])
            writer.add_trial(None, study, 0, "FAIL", at(1), at(2))
    with pytest.raises(OvertoneError, match="2 studies: choose one with --study, of 'one', 'two'"):
        take(tmp_path / "a.db")
    with pytest.raises(OvertoneError, match="no study 'three'"):
        take(tmp_path / "a.db", study="three")
    assert take(tmp_path / "a.db", None, study="two").folder.name == "two"
    with study_file(tmp_path / "none.db"):
        pass
    with pytest.raises(OvertoneError, match="holds no study"):
        take(tmp_path / "none.db")


def test_an_empty_study(tmp_path, take, study_file, trials_of):
    with study_file(tmp_path / "a.db") as writer:
        writer.add_study("a", ["MINIMIZE"])
    found = take(tmp_path / "a.db")
    assert trials_of(found) == []
    assert tune.verify(found.folder).is_same


def test_spaces_that_changed_and_conditional_ones(tmp_path, take, study_file, trials_of):
    wider = Distribution.of("float", {"low": -1.0, "high": 0.5, "log": False, "step": None}).text()
    log = Distribution.of("int", {"low": 4, "high": 64, "log": True, "step": 1}).text()
    with study_file(tmp_path / "a.db") as writer:
        study = writer.add_study("a", ["MINIMIZE"])
        for params in ({"x": (0.5, X)}, {"x": (-0.5, wider), "net/width": (8.0, log)}):
            trial = writer.add_trial(None, study, 0, "COMPLETE", at(1), at(2))
            writer.set_params(trial, params)
            writer.set_values(trial, [1.0])
    found = take(tmp_path / "a.db")
    space = header(found.folder / "journal.jsonl")["parts"]["space"]
    assert (space["x"]["lower"], space["x"]["upper"]) == (-1.0, 1.0)
    assert space["net"]["width"] == {"__domain__": "lograndint", "lower": 4, "upper": 65}
    assert [one.config for one in trials_of(found)] == [{"x": 0.5}, {"x": -0.5, "net": {"width": 8}}]


OLD = {
    '{"name": "UniformDistribution", "attributes": {"low": 0.0, "high": 1.0}}': ("float", False, None),
    '{"name": "LogUniformDistribution", "attributes": {"low": 0.1, "high": 1.0}}': ("float", True, None),
    '{"name": "DiscreteUniformDistribution", "attributes": {"low": 0.0, "high": 1.0, "q": 0.5}}': (
        "float",
        False,
        0.5,
    ),
    '{"name": "IntUniformDistribution", "attributes": {"low": 0, "high": 4, "step": 2}}': ("int", False, 2),
    '{"name": "IntLogUniformDistribution", "attributes": {"low": 1, "high": 4, "step": 1}}': ("int", True, 1),
    '{"name": "IntUniformDistribution", "attributes": {"low": 0, "high": 4}}': ("int", False, 1),
    '{"type": "int", "low": 1, "high": 5}': ("int", False, 1),
}


@pytest.mark.parametrize("text", OLD)
def test_distributions_of_earlier_versions(text):
    one = Distribution(text)
    assert (one.kind, one.data["log"], one.data["step"]) == OLD[text]
    assert one.domain() is not None


def test_tables_of_optuna_2(tmp_path, take, study_file, trials_of):
    """Schema v2.4.0.a and v2.6.0.a: values without types, NaN as NULL."""
    with study_file(tmp_path / "a.db", "2.10.1") as writer:
        study = writer.add_study("a", ["MINIMIZE"])
        trial = writer.add_trial(None, study, 0, "COMPLETE", at(1), at(2))
        writer.set_steps(trial, {0: 0.5})
        writer.set_values(trial, [0.25])
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.execute("ALTER TABLE trial_values DROP COLUMN value_type")
        database.execute("ALTER TABLE trial_intermediate_values DROP COLUMN intermediate_value_type")
        database.execute("INSERT INTO trial_intermediate_values (trial_id, step) VALUES (?, 1)", (trial,))
        database.commit()
    (one,) = trials_of(take(tmp_path / "a.db"))
    values = [result["value"] for result in one.results()]
    assert (values[0], values[2]) == (0.5, 0.25)
    assert math.isnan(values[1])


def test_older_tables_are_refused(tmp_path, take):
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.executescript(
            "CREATE TABLE studies (a); CREATE TABLE trials (a); CREATE TABLE trial_params (a);"
        )
    with pytest.raises(StorageError, match="optuna storage upgrade"):
        take(tmp_path / "a.db")


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_while_another_process_writes(tmp_path, take, mode, study_file):
    with study_file(tmp_path / "a.db") as writer:
        study = writer.add_study("a", ["MINIMIZE"])
        writer.add_trial(None, study, 0, "FAIL", at(1), at(2))
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as database:
        database.execute(f"PRAGMA journal_mode = {mode}")
        if mode == "wal":  # With a transaction open, and one in the log alone.
            database.execute("INSERT INTO trials VALUES (2, 1, 1, 'FAIL', NULL, NULL)")
            database.execute("BEGIN IMMEDIATE")
            database.execute("INSERT INTO trials VALUES (3, 2, 1, 'FAIL', NULL, NULL)")
        found = take(tmp_path / "a.db")
        if mode == "wal":
            database.execute("COMMIT")
    assert found.counts.n_trials == (2 if mode == "wal" else 1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(tmp_path, take, study_file):
    folder = tmp_path / "ro"
    folder.mkdir()
    with study_file(folder / "a.db") as writer:
        writer.add_study("a", ["MINIMIZE"])
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert take(folder / "a.db").counts.n_trials == 0
    finally:
        folder.chmod(stat.S_IRWXU)


def test_a_log_that_sqlite_cannot_open_in_place(tmp_path, take, monkeypatch, study_file):
    with study_file(tmp_path / "a.db") as writer:
        study = writer.add_study("a", ["MINIMIZE"])
    database = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    database.execute("PRAGMA journal_mode = wal")
    database.execute("INSERT INTO trials VALUES (1, 0, ?, 'FAIL', NULL, NULL)", (study,))
    from overtone.importers.optuna import storages

    ordinary = storages._open

    def refused(path, how):
        if how == "mode=ro":
            raise sqlite3.OperationalError("unable to open database file")
        return ordinary(path, how)

    monkeypatch.setattr(storages, "_open", refused)
    assert take(tmp_path / "a.db").counts.n_trials == 1  # It was in the log alone.
    database.close()


def test_a_database_that_stays_locked(tmp_path, take, study_file, monkeypatch):
    monkeypatch.setattr("overtone.importers.optuna.storages._WAIT_S", 0.0)
    with study_file(tmp_path / "a.db") as writer:
        writer.add_study("a", ["MINIMIZE"])
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="locked"):
            take(tmp_path / "a.db")


def test_long_names(tmp_path, take, study_file):
    name = "\u9577" * 300
    with study_file(tmp_path / "a.db") as writer:
        study = writer.add_study(name, ["MINIMIZE"], {}, {"study:metric_names": ["step"]})
        trial = writer.add_trial(None, study, 0, "COMPLETE", at(1), at(2))
        writer.set_params(trial, {"p" * 500: (0.5, X)})
        writer.set_steps(trial, {7: 0.25})
        writer.set_values(trial, [0.5])
    found = take(tmp_path / "a.db", None)
    assert found.folder.name == "\u9577" * 40
    (one,) = tune.ExperimentAnalysis(found.folder).trials
    assert one.config == {"p" * 500: 0.5}
    assert [result["step"] for result in one.results()] == [0.25, 0.5]  # It is the objective's name, too.


def test_damaged_files_leave_nothing(tmp_path, take, path):
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    (tmp_path / "bad.db").write_bytes(data)
    (tmp_path / "cut.db").write_bytes(path.read_bytes()[:5000])
    with closing(sqlite3.connect(tmp_path / "other.db")) as database:
        database.execute("CREATE TABLE t (a)")
        database.commit()
    for name in ("bad.db", "cut.db", "other.db"):
        with pytest.raises(StorageError, match=name):
            take(tmp_path / name)
    assert list((tmp_path / "results").iterdir()) == []


def test_a_view_is_refused(tmp_path, take, study_file):
    path = tmp_path / "study.db"
    with study_file(path) as writer:
        writer.add_trial(None, writer.add_study("s", ["MINIMIZE"]), 0, "COMPLETE", None, None)
    with closing(sqlite3.connect(path)) as database:
        database.execute("ALTER TABLE trial_values RENAME TO hidden")
        endless = (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS trial_id FROM n"
        )
        database.execute(f"CREATE VIEW trial_values AS {endless}")
    with pytest.raises(StorageError, match="the view 'trial_values'"):
        take(path)


def test_a_folder_that_another_import_removed_is_made_again(tmp_path, take, study_file, monkeypatch):
    path = tmp_path / "study.db"
    with study_file(path) as writer:
        writer.add_study("s", ["MINIMIZE"])
    made = []

    def mkdtemp(**where):
        made.append(tempfile.mkdtemp(**where))
        if len(made) == 1:
            os.rmdir(made[0])
        return made[-1]

    monkeypatch.setattr(import_results, "mkdtemp", mkdtemp)
    assert take(path).folder.is_dir()
    assert len(made) == 2


def test_what_another_import_removes_meanwhile_is_no_error(tmp_path, take, study_file):
    path = tmp_path / "study.db"
    with study_file(path) as writer:
        writer.add_study("s", ["MINIMIZE"])
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / ".import-left").symlink_to("removed")
    assert take(path).folder.is_dir()
