"""A run and what it leaves behind."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core.controller import Controller
from overtone.core.messages import Record
from overtone.core.table import TrialTable


def curve(config: dict[str, Any], t: int) -> Any:
    return {"loss": config["x"] / t} if t <= 3 else None


def test_the_controller_is_freed_with_its_run_and_waits_for_no_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    controllers: list[weakref.ref[Controller]] = []
    begin = Controller.__init__

    def noted(self: Controller, *args: Any, **options: Any) -> None:
        controllers.append(weakref.ref(self))
        begin(self, *args, **options)

    monkeypatch.setattr(Controller, "__init__", noted)
    gc.disable()
    try:
        analysis = tune.run(
            curve, config={"x": tune.uniform(0, 1)}, num_samples=3, metric="loss", mode="min", seed=1,
            engine=tune.Simulated(2), storage_path=str(tmp_path), verbose=0,
        )  # fmt: skip
        assert [one() for one in controllers] == [None]
    finally:
        gc.enable()
    assert len(analysis.trials) == 3


def train(config: dict[str, Any]) -> None:
    tune.report(loss=config["x"])


@pytest.mark.parametrize("verbose", [0, 2])
def test_each_record_is_applied_once_for_all_who_read_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verbose: int
) -> None:
    applied: list[int] = []
    apply = TrialTable.apply

    def noted(self: TrialTable, record: Record) -> Any:
        applied.append(record.n)
        return apply(self, record)

    monkeypatch.setattr(TrialTable, "apply", noted)
    counts: list[int] = []

    class Counting(tune.Callback):
        def on_trial_complete(self, trials: list[Any], **info: Any) -> None:
            counts.append(sum(one.is_finished() for one in trials))

    tune.run(
        train, config={"x": tune.uniform(0, 1)}, num_samples=3, engine="inline", storage_path=str(tmp_path),
        verbose=verbose, callbacks=[Counting()],
    )  # fmt: skip
    assert counts == [1, 2, 3]
    assert applied == list(range(2, len(applied) + 2))
