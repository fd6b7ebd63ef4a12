from __future__ import annotations

import pytest

from overtone import tune
from overtone.engines.simulated import Simulated
from overtone.tune.schedulers import ASHAScheduler, FIFOScheduler


class Odd(FIFOScheduler):
    pass


@pytest.fixture
def searched(results):
    def search(**more):
        tune.run(
            lambda config, t: {"loss": config["x"] / t} if t <= 9 else None, config={"x": tune.uniform(0, 1)},
            num_samples=6, metric="loss", mode="min", engine=Simulated(workers=2), verbose=0, name="exp",
            storage_path=str(results), **more,
        )  # fmt: skip

    return search


def test_it_says_how_many_differ(overtone, searched):
    searched(scheduler=ASHAScheduler(max_t=9))
    done = overtone("verify", "exp")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].endswith("records replayed")
    assert lines[1].startswith("0 of ")
    assert lines[1].endswith(" decisions differ")
    assert lines[2] == "0 of 6 suggestions differ"


def test_a_difference_is_named_and_is_the_exit_code(overtone, searched, monkeypatch):
    searched(scheduler=ASHAScheduler(max_t=9))
    monkeypatch.setattr(ASHAScheduler, "on_result", lambda self, trial, result: self.CONTINUE)
    done = overtone("verify", "exp")
    assert done.code == 1
    assert "now it would lead to" in done.out
    data = overtone("verify", "exp", "--json").data
    assert data["differing_decisions"][0].keys() == {"record", "now", "then"}
    assert (data["suggestions"], data["differing_suggestions"]) == (6, [])


def test_what_cannot_be_made_from_the_journal_is_named(overtone, searched):
    searched(scheduler=Odd())
    done = overtone("verify", "exp")
    assert done.code == 1
    assert "scheduler is not plain data" in done.err
