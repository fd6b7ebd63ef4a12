"""Metrics that `stop=` waits for in vain, and checkpoints that a population does."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.core.goal import MOST_LISTED, Goal, lacking_criteria
from overtone.core.ineffective_settings import PATIENCE
from overtone.core.retention import MetricWorth
from overtone.engines.inline import Inline
from overtone.engines.local import Local
from overtone.journal.reader import Reader
from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.pb2 import PB2
from overtone.schedulers.pbt import PopulationBasedTraining
from overtone.schedulers.resize import ResourceChangingScheduler
from overtone.schedulers.schedule import HyperparameterSchedule
from overtone.stoppers import CombinedStopper, ExperimentPlateauStopper, TrialPlateauStopper, stop
from overtone.testing.manual_controller import ByHand


def stopped_by(spec: Any, cpus: int | None = 4) -> ByHand:
    return ByHand(stoppers=stop(spec), cpus=cpus)


def warnings(hand: ByHand) -> list[str]:
    noted = [one for record in hand.records for one in record.choices if isinstance(one, m.Noted)]
    return [one.text for one in noted if one.is_warning]


def test_a_criterion_that_no_result_has_is_told_once_after_ten_results_of_a_trial() -> None:
    hand = stopped_by({"asdf": 1})
    trials = [hand.run(), hand.run()]
    for t in range(1, PATIENCE):
        for trial in trials:
            hand.report(trial, t, loss=1.0)
    assert warnings(hand) == []
    for trial in trials:
        hand.report(trial, PATIENCE, loss=1.0)
        hand.report(trial, PATIENCE + 1, loss=1.0)
    (text,) = warnings(hand)
    assert text.startswith("stop= waits for 'asdf', and no result so far has a number of that name")
    assert text.endswith("the newest result has 'score', 'loss'")
    assert not hand.controller.is_done


def test_a_metric_of_each_fifth_epoch_is_waited_for() -> None:
    hand = stopped_by({"accuracy": 0.9})
    trial = hand.run()
    for t in range(1, 3 * PATIENCE):
        hand.report(trial, t, **({"accuracy": 0.5} if t % 5 == 0 else {}))
    assert warnings(hand) == []


@pytest.mark.parametrize("metrics", [{"eval": {"acc": 0.1}}, {"eval/acc": 0.1}])
def test_nested_metrics_are_found(metrics: dict[str, Any]) -> None:
    hand = stopped_by({"eval": {"acc": 0.9}})
    trial = hand.run()
    for t in range(1, PATIENCE + 2):
        hand.report(trial, t, **metrics)
    assert warnings(hand) == []


def test_a_metric_that_is_no_number_ends_nothing_either() -> None:
    hand = stopped_by({"loss": 9})
    trial = hand.run()
    for t in range(1, PATIENCE + 1):
        hand.report(trial, t, loss="low")
    assert len(warnings(hand)) == 1


def test_a_trial_that_returns_has_had_its_chance() -> None:
    hand = stopped_by({"asdf": 1, "training_iteration": 9})
    trial = hand.run()
    hand.report(trial, 1)
    hand.ended(trial)
    assert len(warnings(hand)) == 1


@pytest.mark.parametrize("cause", ["raised", "killed"])
def test_a_trial_that_failed_has_not(cause: Any) -> None:
    hand = stopped_by({"asdf": 1})
    trial = hand.run()
    hand.report(trial, 1)
    hand.ended(trial, cause)
    assert warnings(hand) == []


def test_a_trial_that_another_criterion_ended_has_had_its_chance() -> None:
    hand = stopped_by({"asdf": 1, "training_iteration": 2})
    trial = hand.run()
    hand.report(trial, 1)
    hand.report(trial, 2)
    hand.ended(trial, "halted")
    assert len(warnings(hand)) == 1


@pytest.mark.parametrize(
    "spec",
    [
        TrialPlateauStopper("asdf"),
        ExperimentPlateauStopper("asdf"),
        CombinedStopper(TrialPlateauStopper("asdf"), TrialPlateauStopper("score")),
        [{"asdf": 1}, TrialPlateauStopper("asdf")],
    ],
)
def test_other_stoppers_that_wait_for_a_metric(spec: Any) -> None:
    hand = stopped_by(spec)
    trial = hand.run()
    for t in range(1, PATIENCE + 1):
        hand.report(trial, t, score=t)
    (text,) = warnings(hand)
    assert text.startswith("stop= waits for 'asdf', and")


def test_a_replay_tells_nothing_again() -> None:
    hand = stopped_by({"asdf": 1})
    trial = hand.run()
    for t in range(1, PATIENCE + 1):
        hand.report(trial, t)
    assert len(warnings(hand)) == 1
    again = stopped_by({"asdf": 1}, cpus=None)
    for record in hand.records:
        again.controller.replay(record)
    for t in range(PATIENCE + 1, PATIENCE + 5):
        again.report(trial, t)
    assert warnings(again) == []


def test_a_metric_that_should_select_checkpoints_is_told_once_a_checkpoint_is_kept_without_it() -> None:
    hand = ByHand(checkpoint_worth=MetricWorth("eval/acuracy"))
    trial = hand.run()
    for t in range(1, PATIENCE + 1):
        hand.report(trial, t, eval={"accuracy": 0.5})
    assert warnings(hand) == []
    for t in range(PATIENCE + 1, PATIENCE + 4):
        hand.report(trial, t, saves=True, eval={"accuracy": 0.5})
    (text,) = warnings(hand)
    assert text.startswith("checkpoint_score_attribute selects checkpoints by 'eval/acuracy', and no result")
    assert "'eval/acuracy' and 'eval/accuracy' are similar" in text


def test_a_metric_that_selects_checkpoints_may_come_late() -> None:
    hand = ByHand(checkpoint_worth=MetricWorth("accuracy"))
    trial = hand.run()
    for t in range(1, PATIENCE + 3):
        hand.report(trial, t, saves=t == PATIENCE, **({"accuracy": 0.5} if t % 5 == 0 else {}))
    assert warnings(hand) == []


def test_the_message_suggests_a_near_name_and_never_the_same() -> None:
    text = lacking_criteria(("acuracy", "loss"), {"accuracy": 1.0, "loss": "low", "training_iteration": 1})
    assert text == (
        "stop= waits for 'acuracy', 'loss', and no result so far has a number of that name, so that they do "
        "not end any trial; the newest result has 'accuracy', 'loss'; 'acuracy' and 'accuracy' are similar: use "
        "the same name in both places"
    )
    assert "'eval/ac' and 'eval/acc' are similar" in lacking_criteria(("eval/ac",), {"eval": {"acc": 1.0}})
    assert "did you mean 'training_iteration'?" in lacking_criteria(("training_iteratoin",), {"a": 1.0})


def test_a_message_names_so_many_metrics_at_most() -> None:
    text = lacking_criteria(("asdf",), {f"m{i}": 1.0 for i in range(MOST_LISTED + 7)})
    assert text.endswith("'m19', and 7 more")


# --- checkpoints ---------------------------------------------------------------------------


def pbt(**more: Any) -> PopulationBasedTraining:
    given = {"perturbation_interval": 2, "hyperparam_mutations": {"lr": [1, 2, 3]}, **more}
    return PopulationBasedTraining("training_iteration", "score", "max", **given)


def bandits() -> PB2:
    return PB2(
        "training_iteration", "score", "max", perturbation_interval=2, hyperparam_bounds={"lr": [1, 3]}
    )


POPULATIONS = {
    "pbt": pbt, "pb2": bandits, "resized": lambda: ResourceChangingScheduler(pbt()),
    "scheduled": lambda: HyperparameterSchedule({"lr": {4: 0.1}}, pbt()),
}  # fmt: skip


def population(scheduler: Any, n: int = 2) -> tuple[ByHand, list[str]]:
    hand = ByHand(scheduler, cpus=n, goal=Goal("score", "max", is_needed=True))
    return hand, [hand.run({"lr": 2}) for _ in range(n)]


@pytest.mark.parametrize("name", POPULATIONS)
def test_a_population_without_checkpoints_is_told_once_what_to_do(name: str) -> None:
    scheduler = POPULATIONS[name]()
    hand, trials = population(scheduler)
    for t in (1, 2, 3):
        for score, trial in enumerate(trials):
            hand.report(trial, t, score)
    assert warnings(hand) == []
    for t in range(4, 13):
        for score, trial in enumerate(trials):
            hand.report(trial, t, score)
    (text,) = warnings(hand)
    assert text.startswith(
        f"{type(scheduler).__name__} lets trials go on from checkpoints of others, and no trial has saved any "
        f"(trial {trials[1]} was asked for one at 2 and again at 4)"
    )
    assert "tune.report({...}, checkpoint=Checkpoint.from_directory(path))" in text
    assert "save_checkpoint(self, path)" in text


def test_one_checkpoint_of_any_trial_ends_the_doubt() -> None:
    hand, trials = population(pbt())
    for t in range(1, 13):
        for score, trial in enumerate(trials):
            hand.report(trial, t, score, saves=t == 1 and not score)
    assert warnings(hand) == []


def test_one_that_saves_when_it_is_asked_is_not_doubted() -> None:
    hand, trials = population(pbt())
    for t in range(1, 5):
        for score, trial in enumerate(trials):
            commands = hand.report(trial, t, score)
            if any(isinstance(one, m.Proceed) and one.save for one in commands):
                hand.saved(trial, t)
    hand.ended(trials[1])
    assert warnings(hand) == []


def test_a_population_of_which_the_best_ends_without_having_saved() -> None:
    hand, trials = population(pbt())
    for score, trial in enumerate(trials):
        hand.report(trial, 2, score)
    hand.ended(trials[0])  # it was never asked
    assert warnings(hand) == []
    hand.ended(trials[1])
    (text,) = warnings(hand)
    assert f"(trial {trials[1]} was asked for one at 2 and has ended)" in text


def test_members_that_fail_have_not_had_their_chance() -> None:
    hand, trials = population(pbt())
    for score, trial in enumerate(trials):
        hand.report(trial, 2, score)
    hand.ended(trials[1], "raised")
    assert warnings(hand) == []


def never_saves(config: Any) -> None:
    """Report eight times, each time once `n_abreast` trials have come as far."""
    for t in range(1, 9):
        Path(config["folder"], f"{config['lr']}-{t}").touch()
        while len(list(Path(config["folder"]).glob(f"*-{t}"))) < config["n_abreast"]:
            time.sleep(0.005)
        tune.report({"score": config["lr"] * t})


@pytest.mark.parametrize("cpus", [1, 3])
@pytest.mark.parametrize("synch", [False, True])
@pytest.mark.parametrize("engine", ["inline", "local"])
def test_a_trainable_that_never_saves_is_told_of_on(
    engine: str, synch: bool, cpus: int, tmp_path: Path
) -> None:
    (tmp_path / "places").mkdir()
    n_abreast = cpus if engine == "local" else 1  # a trial that was alone to its end would need no checkpoint
    space = {"lr": tune.grid_search([1, 2, 3]), "folder": str(tmp_path / "places"), "n_abreast": n_abreast}
    found = tune.run(
        never_saves, config=space, scheduler=pbt(synch=synch), storage_path=tmp_path / "results",
        engine=Inline(cpus=cpus) if engine == "inline" else Local(cpus=cpus), verbose=0,
    )  # fmt: skip
    records = Reader(Path(found.experiment_path) / "journal.jsonl")
    noted = [one for record in records for one in record.choices if isinstance(one, m.Noted)]
    (text,) = [one.text for one in noted if one.is_warning]
    assert text.startswith("PopulationBasedTraining lets trials go on from checkpoints of others")
    assert [trial.last_result["training_iteration"] for trial in found.trials] == [8, 8, 8]


def test_who_clones_nothing_needs_no_checkpoint() -> None:
    scheduler = ASHAScheduler("training_iteration", "score", "max", 81, 1, 3, rule="promote")
    hand, trials = population(scheduler, 4)
    for score, trial in enumerate(trials):
        hand.report(trial, 1, score)
        hand.save_failed(trial)
    assert warnings(hand) == []


def test_a_replay_of_a_population_tells_nothing_again() -> None:
    hand, trials = population(pbt())
    for t in range(1, 5):
        for score, trial in enumerate(trials):
            hand.report(trial, t, score)
    assert len(warnings(hand)) == 1
    again = ByHand(pbt(), cpus=None, goal=Goal("score", "max", is_needed=True))
    for record in hand.records:
        again.controller.replay(record)
    for t in range(5, 9):
        for score, trial in enumerate(trials):
            again.report(trial, t, score)
    assert warnings(again) == []
