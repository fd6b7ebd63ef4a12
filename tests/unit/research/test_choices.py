from __future__ import annotations

import pytest

from overtone.engines.simulated import Machines, Simulated, World
from overtone.research.choices import engine_of, named, scheduler_of, searcher_of
from overtone.research.problem import Problem
from overtone.schedulers.adapter import Adapter
from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.fifo import FIFOScheduler
from overtone.searchers import BasicVariantGenerator


def curve(config, t):
    return {"loss": 1 / t} if t <= 3 else None


PROBLEM = Problem(curve, "loss", "min", max_t=9)


def asha(problem):
    return ASHAScheduler(max_t=problem.max_t)


def test_names_are_those_of_what_is_given():
    given = ["fifo", ASHAScheduler, FIFOScheduler(), asha]
    assert list(named("schedulers", given)) == ["fifo", "ASHAScheduler", "FIFOScheduler", "asha"]
    assert list(named("searchers", [None])) == ["random"]
    assert list(named("workers", 4)) == ["4"]
    assert list(named("problems", [PROBLEM])) == ["curve"]
    assert named("schedulers", {"mine": asha}) == {"mine": asha}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["fifo", "fifo"], "two schedulers are called 'fifo'"),
        ([], "no schedulers to compare"),
        ([lambda problem: None], "without a name is among the schedulers"),
    ],
)
def test_what_cannot_be_named(given, message):
    with pytest.raises(ValueError, match=message):
        named("schedulers", given)


def test_schedulers_in_every_form():
    assert isinstance(scheduler_of("asha", PROBLEM), ASHAScheduler)
    assert isinstance(scheduler_of(FIFOScheduler, PROBLEM), FIFOScheduler)
    one = FIFOScheduler()
    assert scheduler_of(one, PROBLEM) is one
    assert scheduler_of(asha, PROBLEM).bracket_draw.milestones == [[1, 4]]
    assert scheduler_of(None, PROBLEM) is None
    with pytest.raises(ValueError, match="is no TrialScheduler"):
        scheduler_of(lambda problem: 5, PROBLEM)


def test_searchers_in_every_form():
    assert searcher_of("random", PROBLEM) is None
    assert isinstance(searcher_of("variant_generator", PROBLEM), BasicVariantGenerator)
    assert isinstance(searcher_of(lambda problem: BasicVariantGenerator(), PROBLEM), BasicVariantGenerator)
    with pytest.raises(ValueError, match="is no Searcher"):
        searcher_of(FIFOScheduler(), PROBLEM)


def test_engines_in_every_form():
    assert engine_of(3).describe().startswith("simulated engine: 3 workers")
    world = World(machines=Machines(count=2))
    assert engine_of(world).world is world
    assert isinstance(engine_of(lambda: Simulated(1)), Simulated)
    with pytest.raises(ValueError, match="give a number, a World"):
        engine_of("many")


def test_a_scheduler_that_wants_a_controller_runs_through_an_adapter():
    class Old:
        def on_trial_result(self, tune_controller, trial, result): ...

    for given in (Old, Old()):
        assert isinstance(scheduler_of(given, PROBLEM), Adapter)
