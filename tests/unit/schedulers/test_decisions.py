"""Decisions equal to those of other tools' schedulers, on the reports that they were recorded with.

The records are made by `benchmarks/record_decisions.py`. Recorded is what has the same rule:
Ray Tune's asynchronous HyperBand is our "stop", its median rule and (with powers of eta) its
HyperBand are ours; Syne Tune's ASHA is our MOASHA with one objective, and its sorting is MOASHA's;
Optuna's halving asks, from the eta-th value on, what our "promote" asks of a trial that just came.
"""

import json
from pathlib import Path

import pytest

from overtone.core import messages as m
from overtone.core.goal import Goal
from overtone.core.trial import Status
from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.hyperband import HyperBandScheduler
from overtone.schedulers.median import MedianStoppingRule
from overtone.schedulers.moasha import MOASHA
from overtone.schedulers.rungs import Rung
from overtone.testing.manual_controller import ByHand

DATA = Path(__file__).parents[2] / "data/decisions"
MAKE = {
    "asha stop": ASHAScheduler,
    "median": lambda **arguments: MedianStoppingRule("training_iteration", **arguments),
    "moasha": MOASHA,
}


def recorded(pattern):
    return [
        pytest.param(json.loads(path.read_text("utf-8")), id=path.stem) for path in sorted(DATA.glob(pattern))
    ]


def begun(scheduler, n, names):
    """So many trials that run."""
    hand = ByHand(scheduler, cpus=n, goal=Goal(names, "max", is_needed=True))
    return hand, [hand.run() for _ in range(n)]


@pytest.mark.parametrize(
    "record", [*recorded("ray_asha*"), *recorded("ray_median*"), *recorded("syne_tune*")]
)
def test_as_trials_report(record):
    reports = record["reports"]
    n_values = len(reports[0][2]) if isinstance(reports[0][2], list) else 1
    names = [f"score{k}" for k in range(n_values)]
    hand, trials = begun(
        MAKE[record["rule"]](**record["arguments"]), 1 + max(one[0] for one in reports), names
    )
    differ = []
    for number, (k, t, value, decision) in enumerate(reports):
        values = dict(zip(names, value if n_values > 1 else [value], strict=True))
        commands = hand.report(trials[k], t, None, **values)
        ours = "STOP" if any(isinstance(one, m.Halt) for one in commands) else "CONTINUE"
        if ours != decision:
            differ.append((number, k, t, value, decision, ours))
    assert differ == []
    assert {one[3] for one in reports} == {"STOP", "CONTINUE"}


@pytest.mark.parametrize("record", recorded("ray_hyperband*"))
def test_brackets(record):
    hand, trials = begun(HyperBandScheduler(**record["arguments"]), 27, "score")
    for rung in (1, 3, 9):
        batch = [one for one in record["reports"] if one[1] == rung]
        for k, t, value, _ in batch:
            hand.report(trials[k], t, value, saves=True)
            hand.ended(trials[k], "halted")
        stopped = {k for k, *_ in batch if hand.status(trials[k]) is Status.TERMINATED}
        assert stopped == {k for k, _, _, decision in batch if decision == "STOP"}
        for k, *_ in batch:
            if k not in stopped:
                assert hand.status(trials[k]) is Status.STARTING
                hand.started(trials[k])


@pytest.mark.parametrize("record", recorded("optuna*"))
def test_who_could_be_promoted_at_once(record):
    rung, eta = Rung(1), record["arguments"]["reduction_factor"]
    for k, _, value, decision in record["reports"]:
        rung.add(value, waiting=str(k))
        if len(rung) >= eta:
            assert (str(k) in rung.ready(eta)) == (decision == "CONTINUE"), k
            if decision == "CONTINUE":
                rung.leave(str(k))


def test_there_are_records():
    assert len(list(DATA.glob("*.json"))) >= 10
