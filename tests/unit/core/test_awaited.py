"""Metrics that `stop=` waits for in vain."""

from __future__ import annotations

from typing import Any

import pytest

from overtone.core import messages as m
from overtone.core.awaited import PATIENCE
from overtone.core.goal import MOST_LISTED, lacking_criteria
from overtone.stoppers import CombinedStopper, ExperimentPlateauStopper, TrialPlateauStopper, stop
from overtone.testing.by_hand import ByHand


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


def test_the_message_suggests_a_near_name_and_never_the_same() -> None:
    text = lacking_criteria(("acuracy", "loss"), {"accuracy": 1.0, "loss": "low", "training_iteration": 1})
    assert text == (
        "stop= waits for 'acuracy', 'loss', and no result so far has a number of that name, so that they do "
        "not end any trial; the newest result has 'accuracy', 'loss'; did you mean 'accuracy'?"
    )
    assert "did you mean 'eval/acc'?" in lacking_criteria(("eval/ac",), {"eval": {"acc": 1.0}})
    assert "did you mean 'training_iteration'?" in lacking_criteria(("training_iteratoin",), {"a": 1.0})


def test_a_message_names_so_many_metrics_at_most() -> None:
    text = lacking_criteria(("asdf",), {f"m{i}": 1.0 for i in range(MOST_LISTED + 7)})
    assert text.endswith("'m19', and 7 more")
