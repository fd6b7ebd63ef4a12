"""Warm starts: what is read from where, and what becomes of it."""

import json

import pytest

from overtone.core.goal import Goal
from overtone.errors import OvertoneError, SpaceError, StorageError
from overtone.run.warm_start import earlier_results, fitted, tell, warm
from overtone.searchers import AutoSearch, ConcurrencyLimiter
from overtone.searchers.library.bohb import TuneBOHB
from overtone.space import choice, parse, randint, space, uniform

SPACE = {"x": uniform(0, 1), "model": choice([{"kind": "a", "n": randint(1, 5)}, {"kind": "b"}]), "epochs": 3}
ROOT = parse(SPACE)
LOSS = Goal("loss", "min")


def write_ray(folder, name, config, *results):
    (folder / name).mkdir(parents=True)
    (folder / name / "params.json").write_text(json.dumps(config))
    (folder / name / "result.json").write_text("".join(f"{json.dumps(one)}\n" for one in results))


def test_what_is_searched_must_be_there_and_inside_and_constants_may_differ():
    assert fitted(ROOT, {"x": 0.5, "model": {"kind": "b"}, "epochs": 9, "other": 1}) == {
        "x": 0.5, "model": {"kind": "b"}, "epochs": 3,
    }  # fmt: skip
    with pytest.raises(SpaceError, match="has no x"):
        fitted(ROOT, {"model": {"kind": "b"}})
    with pytest.raises(SpaceError, match="x=2 lies outside"):
        fitted(ROOT, {"x": 2, "model": {"kind": "b"}})


def test_a_folder_of_ray_tune(tmp_path):
    inside = {"x": 0.25, "model": {"kind": "a", "n": 2}, "epochs": 9}
    write_ray(tmp_path, "one", inside, {"loss": 3.0}, {"loss": 1.0, "done": True})
    write_ray(tmp_path, "two", {**inside, "x": 0.5}, {"loss": float("nan")})
    write_ray(tmp_path, "three", {**inside, "x": 9}, {"loss": 2.0})
    write_ray(tmp_path, "four", inside)
    with (tmp_path / "one" / "result.json").open("a") as file:
        file.write('{"loss": 0.')
    (tmp_path / "one" / "error.txt").write_text("of a try that was followed by others")
    write_ray(tmp_path, "five", {**inside, "x": 0.75}, {"loss": 0.5})
    (tmp_path / "five" / "error.txt").write_text("Traceback")
    found, line = earlier_results([tmp_path], ROOT, LOSS)
    assert sorted((one["config"]["x"], one["values"]) for one in found) == [
        (0.25, [1.0]),
        (0.5, [None]),
        (0.75, []),
    ]
    assert line == "warm start: 3 results of 1 earlier searches; 1 lie outside of this space"
    searcher = AutoSearch(num_samples=1)
    searcher.on_start(ROOT, 1)
    tell(searcher, found, ROOT, LOSS)
    whole = [one.scores for one in searcher._told.observations if one.is_complete]
    assert sorted(whole) == [(), (float("-inf"),), (-1.0,)]


def test_a_goal_is_needed():
    with pytest.raises(OvertoneError, match="name metric and mode"):
        earlier_results([], ROOT, Goal())


def test_what_is_no_source_is_shown():
    root, goal = parse({"x": uniform(0, 1)}), Goal("loss", "min")
    with pytest.raises(OvertoneError, match=r"warm_start has 42: give folders of experiments"):
        earlier_results([42], root, goal)


def test_one_source_need_be_no_list(tmp_path):
    write_ray(tmp_path, "one", {"x": 0.25, "model": {"kind": "b"}}, {"loss": 3.0})
    searcher = AutoSearch(num_samples=1)
    searcher.on_start(ROOT, 1)
    _, line = warm(str(tmp_path), searcher, ROOT, LOSS, None, lambda one: True)
    assert line == "warm start: 1 results of 1 earlier searches"


def test_results_without_the_metric_are_counted(tmp_path):
    write_ray(tmp_path, "one", {"x": 0.25, "model": {"kind": "b"}}, {"acc": 3.0})
    found, line = earlier_results([tmp_path], ROOT, LOSS)
    assert (found, line) == ([], "warm start: 0 results of 1 earlier searches; 1 have no loss")


@pytest.mark.parametrize("wrapped", [False, True])
def test_results_belong_to_the_space_that_the_searcher_was_given(tmp_path, wrapped):
    write_ray(tmp_path, "one", {"x": 0.25}, {"loss": 1.0})
    searcher = TuneBOHB(space={"x": uniform(0, 1)})
    outer = ConcurrencyLimiter(searcher, 2) if wrapped else searcher
    outer.goal = LOSS
    outer.on_start(parse({"epochs": 3}), 1)
    warm([tmp_path], outer, parse({"epochs": 3}), LOSS, None, lambda _: True)
    assert [one.flat for one in searcher.told] == [{"x": 0.25}]


def test_where_the_space_is_known_only_trial_by_trial_there_is_no_warm_start(tmp_path):
    write_ray(tmp_path, "one", {"x": 0.25}, {"loss": 1.0})
    searcher = TuneBOHB(space={})
    searcher.goal = LOSS
    searcher.on_start(ROOT, 1)
    with pytest.raises(OvertoneError, match="TuneBOHB draws its space trial by trial"):
        warm([tmp_path], searcher, ROOT, LOSS, None, lambda _: True)


def test_a_file_that_is_no_database_is_named(tmp_path):
    (tmp_path / "bad.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StorageError, match="bad.db is not known"):
        earlier_results([f"sqlite:///{tmp_path}/bad.db"], ROOT, LOSS)


def test_failed_trials_of_a_study_are_told_as_that_where_they_are_allowed():
    optuna = pytest.importorskip("optuna")
    study, x = optuna.create_study(), optuna.distributions.FloatDistribution(0, 1)
    for value, at in ((None, 0.25), (3.0, 0.5), (None, 0.75)):
        states = optuna.trial.TrialState
        state = states.FAIL if value is None else states.COMPLETE
        study.add_trial(
            optuna.trial.create_trial(state=state, value=value, params={"x": at}, distributions={"x": x})
        )
    allowed = parse(space({"x": uniform(0, 1)}, constraint=lambda config: config["x"] < 0.6))
    found, _ = earlier_results([study], allowed, LOSS)
    assert [(one["config"]["x"], one["values"]) for one in found] == [(0.25, []), (0.5, [3.0])]


def test_a_database_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(OvertoneError, match="there is no .*none.db"):
        earlier_results([f"sqlite:///{tmp_path}/none.db"], ROOT, LOSS)
    assert not (tmp_path / "none.db").exists()


def test_a_table_of_any_tuner(tmp_path):
    table = tmp_path / "results.csv"
    table.write_text("config/x,config/model/kind,loss\n0.25,b,3.0\n0.5,b,1.0\n")
    found, line = earlier_results([table], ROOT, LOSS)
    assert [(one["config"]["x"], one["values"]) for one in found] == [(0.25, [3.0]), (0.5, [1.0])]
    assert line == "warm start: 2 results of 1 earlier searches"
