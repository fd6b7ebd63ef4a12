"""Trials that get more or fewer resources while they live."""

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.core.goal import Goal
from overtone.core.resources import Resources
from overtone.core.trial import Status
from overtone.engines.local import Local
from overtone.errors import UsageError
from overtone.schedulers.pbt import PopulationBasedTraining
from overtone.schedulers.resize import (
    DistributeResources,
    DistributeResourcesToTopJob,
    ResourceChangingScheduler,
)
from overtone.testing.manual_controller import ByHand


def search(allocation=None, n=1, cpus=4, base=None, **more):
    hand = ByHand(
        ResourceChangingScheduler(base, allocation),
        cpus=None,
        goal=Goal("score", "max"),
        limits={"total": n},
        **more,
    )
    hand.capacity(cpus if isinstance(cpus, dict) else {"node": {"cpu": cpus}})
    return hand, [hand.run() for _ in range(n)]


def resized(hand, trial, t, **more):
    """A result with a checkpoint, and what the trial goes on with if it was resized."""
    (order, *_) = hand.report(trial, t, saves=True, **more)
    if type(order) is m.Proceed:
        return None
    start = next(order for order in hand.ended(trial, "halted") if isinstance(order, m.Start))
    assert start.checkpoint.t == t
    hand.started(trial)
    return start.resources.total()["cpu"]


def test_a_trial_alone_gets_everything():
    hand, (trial,) = search()
    assert resized(hand, trial, 1) == 4
    assert resized(hand, trial, 2) is None
    assert (
        hand.controller._scheduler.describe().splitlines()[1] == "ResourceChangingScheduler: 1 trials resized"
    )


def test_it_is_on_record():
    hand, (trial,) = search()
    hand.report(trial, 1, saves=True)
    (ruled,) = (one for one in hand.choices if isinstance(one, m.Ruled))
    assert (ruled.what, ruled.resources, ruled.source) == ("restart", Resources.of({"cpu": 4}), None)
    assert ruled.why.note == "cpu 1 -> cpu 4"


def test_equal_parts_and_the_rest_to_the_oldest():
    hand, trials = search(n=2, cpus=5)
    assert [resized(hand, trial, 1) for trial in trials] == [3, 2]


def test_more_when_another_ends():
    hand, (one, other) = search(n=2)
    assert [resized(hand, trial, 1) for trial in (one, other)] == [2, 2]
    hand.ended(other)
    assert resized(hand, one, 2) == 4


def test_less_when_there_is_less():
    hand, (trial,) = search()
    resized(hand, trial, 1)
    hand.capacity({"node": {"cpu": 4}, "other": {"cpu": 4}})
    assert resized(hand, trial, 2) is None  # it could hold 8, but no node has so many
    hand, (one,) = search(allocation=lambda view, trial, result, _: {"cpu": 5 - result.t})
    assert [resized(hand, one, t) for t in (1, 2, 3, 4)] == [4, 3, 2, 1]


@pytest.mark.parametrize(("more", "bundles"), [
    ({"increase_by": {"cpu": 2}}, [{"cpu": 3}]),
    ({"increase_by_times": 1}, [{"cpu": 2}]),
    ({"reserve_resources": {"cpu": 1}}, [{"cpu": 3}]),
    ({"add_bundles": True}, [{"cpu": 1}] * 4),
])  # fmt: skip
def test_how_it_grows(more, bundles):
    hand, (trial,) = search(DistributeResources(**more))
    hand.report(trial, 1, saves=True)
    assert hand.choices[-2].resources == Resources.of(bundles)


def test_the_best_gets_what_is_free():
    hand, (one, other) = search(DistributeResourcesToTopJob(), n=2, cpus=6)
    assert resized(hand, one, 1, score=1.0) == 5
    assert resized(hand, other, 1, score=2.0) is None
    hand, (one, other) = search(DistributeResourcesToTopJob(increase_by_times=2), n=2, cpus=6)
    assert resized(hand, one, 1, score=1.0) == 3
    assert resized(hand, other, 1, score=2.0) == 3
    assert resized(hand, one, 2, score=1.0) is None  # it keeps what it got


def test_a_trial_is_asked_to_save_first():
    hand, (trial,) = search()
    assert hand.report(trial, 1) == [m.Proceed(trial, 0, 0.0, save=True)]
    hand.saved(trial, 1)
    order = hand.report(trial, 2)[0]
    assert (type(order), order.save) == (m.Halt, True)
    hand.saved(trial, 2)
    assert hand.ended(trial, "halted")[0].checkpoint.t == 2


def test_one_that_never_saves_goes_on():
    hand, (trial,) = search()
    assert {type(hand.report(trial, t)[0]) for t in (1, 2, 3)} == {m.Proceed}


def test_a_clone_keeps_what_it_holds():
    pbt = PopulationBasedTraining(
        "training_iteration", perturbation_interval=2, quantile_fraction=0.5, custom_explore_fn=dict
    )
    hand, (one, other) = search(n=2, base=pbt)
    assert [resized(hand, trial, 1, score=score) for trial, score in ((one, 1.0), (other, 2.0))] == [2, 2]
    hand.report(other, 2, 9.0, saves=True)
    hand.report(one, 2, 1.0, saves=True)
    assert hand.choices[-2].source == other
    start = next(order for order in hand.ended(one, "halted") if isinstance(order, m.Start))
    assert start.resources == Resources.of({"cpu": 2})
    assert hand.status(one) is Status.STARTING


def test_what_makes_no_sense():
    with pytest.raises(ValueError, match="increase_by_times=0"):
        DistributeResources(increase_by_times=0)


def train(config):
    import tempfile
    from pathlib import Path

    saved = tune.get_checkpoint()
    t = int((Path(saved.path) / "t").read_text()) if saved else 0
    while t < 4:
        t += 1
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "t").write_text(str(t))
            cpus = tune.get_trial_resources().total()["cpu"]
            tune.report({"cpus": cpus, "score": t}, checkpoint=tune.Checkpoint.from_directory(folder))


def test_on_this_machine(tmp_path):
    analysis = tune.run(
        train, scheduler=ResourceChangingScheduler(), engine=Local(cpus=3), storage_path=str(tmp_path), verbose=0,
        metric="score", mode="max",
    )  # fmt: skip
    assert [one["cpus"] for one in analysis.trials[0].results()] == [1, 3, 3, 3]


def test_a_function_in_ray_tunes_form_shares_the_cpus_of_all_nodes():
    seen = []

    def allocate(tune_controller, trial, result, scheduler):
        if result["training_iteration"] < 1:
            return None
        base = scheduler.base_trial_resources
        assert base == scheduler._base_trial_resources == tune.PlacementGroupFactory([{"CPU": 1}])
        live = tune_controller.get_live_trials()
        assert trial in live
        assert trial in tune_controller.get_trials()
        assert tune_controller.get_trial(trial.trial_id) == trial
        assert tune_controller.trial_executor._resource_updater.get_num_gpus() == 0
        seen.append((trial.placement_group_factory.head_cpus, len(live), tune_controller.total["cpu"]))
        cpus = tune_controller._resource_updater.get_num_cpus() // len(live)
        return tune.PlacementGroupFactory([{"CPU": max(cpus, base.head_cpus), "GPU": 0}])

    hand, (one, two) = search(allocate, n=2, cpus=4)
    assert resized(hand, one, 1) == 2
    assert resized(hand, one, 2) is None
    hand.report(two, 1)
    hand.ended(two)
    assert resized(hand, one, 3) == 4
    assert seen[0] == (1, 2, 4.0)
    assert seen[-1][1] == 1


def test_a_function_that_orders_something_is_refused():
    def allocate(controller, trial, result, scheduler):
        controller.stop_trial(trial)

    hand, (one,) = search(allocate)
    with pytest.raises(UsageError, match="may not stop, pause or save trial"):
        hand.report(one, 1)
