from __future__ import annotations

import os

import pytest

from overtone import tune
from overtone.engines.simulated import Machines, World
from overtone.research import Problem, compare, worker_pool
from overtone.research.search import COLUMNS
from overtone.schedulers.asha import ASHAScheduler

SPACE = {"x": tune.uniform(0, 1)}


def curve(config, t):
    return ({"loss": config["x"] + 1 / t}, 2.0) if t <= 4 else None


def explode(config, t):
    raise RuntimeError("no such data")


def leave(config, t):
    os._exit(7)


def problem(**others):
    return Problem(curve, "loss", "min", space=SPACE, num_samples=6, **others)


def test_a_row_for_each_better_value_and_one_for_the_end():
    frame = compare("fifo", problems=[problem(target=0.5)], workers=2, seeds=2, processes=0, progress=False)
    assert tuple(frame.columns) == COLUMNS
    assert list(frame["seed"].unique()) == [0, 1]
    one = frame[frame["seed"] == 0]
    assert list(one["is_end"]) == [False] * (len(one) - 1) + [True]
    steps, end = one[~one["is_end"]], one.iloc[-1]
    assert steps["value"].is_monotonic_decreasing
    assert steps["time_s"].is_monotonic_increasing
    assert (end["n_trials"], end["n_results"], end["time_s"]) == (6, 24, 24.0)  # 6 x 4 x 2 s on 2 workers
    assert end["value"] == steps["value"].iloc[-1]
    assert (end["trial_s"], end["lost_s"], end["error"]) == (48.0, 0.0, "")
    assert frame.attrs["is_complete"] is True


def test_every_choice_meets_every_other_and_the_same_seed_draws_the_same():
    frame = compare(
        {"all": "fifo", "some": lambda given: ASHAScheduler(max_t=given.max_t, reduction_factor=2)},
        {"first": None, "second": "random"},
        {"p": problem(max_t=4, family="family of p")},
        [1, 2],
        seeds=[3],
        processes=0,
        progress=False,
    )
    ends = frame[frame["is_end"]]
    assert ends[["family", "scheduler", "searcher", "workers", "seed"]].values.tolist() == [
        ["family of p", s, f, w, 3] for s in ("all", "some") for f in ("first", "second") for w in "12"
    ]
    firsts = frame[frame["n_results"] == 1]
    assert firsts[firsts["workers"] == "1"]["value"].nunique() == 1
    assert (ends[ends["scheduler"] == "some"]["n_results"] < 24).all()


def test_a_search_may_end_at_its_target():
    given = {"problems": [problem(target=1.2)], "workers": 1, "seeds": 1, "processes": 0, "progress": False}
    whole, short = compare("fifo", **given), compare("fifo", ends_at_target=True, **given)
    reached = [
        frame[frame["value"] <= 1.2].iloc[0][["time_s", "value", "n_results"]] for frame in (whole, short)
    ]
    assert reached[0].tolist() == reached[1].tolist()
    # what runs hears of it at its next report
    assert short.iloc[-1]["n_results"] <= reached[1]["n_results"] + 1 < whole.iloc[-1]["n_results"]


def test_worlds_have_a_price():
    world = World(machines=Machines(count=2, price_per_hour=1800.0))
    frame = compare(
        "fifo", problems=[problem()], workers={"two": world}, seeds=1, processes=0, progress=False
    )
    end = frame.iloc[-1]
    assert (end["workers"], end["cost"], end["machine_s"]) == ("two", 24.0, 48.0)


def test_a_search_that_cannot_run_is_a_row_and_the_others_go_on():
    broken = {"good": "fifo", "bad": lambda given: 1 / 0}
    frame = compare(broken, problems=[problem()], seeds=1, processes=0, progress=False)
    errors = dict(frame[frame["is_end"]][["scheduler", "error"]].values.tolist())
    assert errors == {"good": "", "bad": "ZeroDivisionError: division by zero"}


@pytest.mark.parametrize("given", [{"seeds": 0}, {"seeds": []}, {"problems": []}])
def test_nothing_to_compare_is_an_error(given):
    with pytest.raises(ValueError, match="there are no"):
        compare("fifo", **{"problems": [problem()], "seeds": 1, "progress": False, **given})


def test_a_trainable_that_always_raises_does_not_go_on_for_ever():
    broken = Problem(explode, "loss", "min", space=SPACE, num_samples=2, target=0.5)
    frame = compare("fifo", problems=[broken], seeds=1, processes=0, progress=False)
    assert frame["error"].tolist() == ["no result has 'loss' as a number: RuntimeError: no such data"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"schedulers": ["fifo", "fif"]}, "there is no scheduler 'fif'; did you mean 'fifo'"),
        ({"searchers": ["hyperop"]}, "there is no searcher 'hyperop'; did you mean 'hyperopt'"),
        ({"workers": [2, 0]}, "workers=0: a whole number, at least one"),
        ({"workers": "many"}, "workers='many': give a number, a World"),
        ({"seeds": "ab"}, "seeds='ab': give how many, or a list of whole numbers"),
        ({"processes": -1}, "processes=-1: give a number, 0 for this process"),
    ],
)
def test_what_there_is_not_is_said_before_the_first_search(given, message):
    with pytest.raises(ValueError, match=message):
        compare(**{"schedulers": "fifo", "problems": [problem()], "seeds": 1, "progress": False, **given})


def test_a_problem_is_a_problem():
    with pytest.raises(ValueError, match=r"problems: curve is .*: give Problem\(trainable, metric, mode\)"):
        compare("fifo", problems=[curve], seeds=1, progress=False)


def test_what_breaks_a_thread_of_the_crew_is_raised(monkeypatch):
    monkeypatch.setattr(worker_pool.WorkerPool, "_started", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        compare("fifo", problems=[problem()], seeds=1, processes=1, progress=False)


def test_ctrl_c_gives_back_what_is_done(monkeypatch, capsys):
    from overtone.research import comparison

    def interrupted(setup, case):
        if case.seed == 1:
            raise KeyboardInterrupt
        return rows_of(setup, case)

    rows_of = comparison.rows_of
    monkeypatch.setattr(comparison, "rows_of", interrupted)
    frame = compare("fifo", problems=[problem()], seeds=3, processes=0, progress=False)
    assert frame["seed"].unique().tolist() == [0]
    assert frame.attrs["is_complete"] is False
    assert "interrupted: 1 of 3 searches are in the frame" in capsys.readouterr().err
    with pytest.raises(KeyboardInterrupt):
        compare("fifo", problems=[problem()], seeds=[1], processes=0, progress=False)
