from __future__ import annotations

import random

import pytest

from overtone.core.goal import is_finite, is_number
from overtone.core.messages import Ended, Moved
from overtone.core.table import TrialTable
from overtone.core.types import Why
from overtone.observers.display.display_context import ConsoleFacts
from overtone.observers.display.progress import Best, Progress
from overtone.testing.scripted_records import Story


@pytest.mark.parametrize("mode", ["min", "max"])
@pytest.mark.parametrize("seed", range(8))
def test_the_leader_is_the_best_of_all_last_values(seed: int, mode: str) -> None:
    rng = random.Random(seed)
    story = Story()
    facts = ConsoleFacts("exp", "/results/exp", "local engine", lambda: 0.0, metric="loss", mode=mode)
    progress = Progress(facts, TrialTable())
    last: dict[str, tuple[float, int]] = {}
    peaks: dict[str, tuple[float, int]] = {}
    running: list[str] = []
    waiting: list[str] = []
    n_seen = 0
    for _ in range(400):
        what = rng.choice(["add", "report", "report", "report", "report", "pause", "resume", "end", "fail"])
        if what == "add":
            running.append(story.add({"lr": rng.random()}))
            story.start(running[-1])
        elif what == "resume" and waiting:
            trial = waiting.pop(rng.randrange(len(waiting)))
            story.start(trial)
            running.append(trial)
        elif running:
            trial = rng.choice(running)
            if what == "report":
                value = rng.choice(
                    [rng.randrange(9), rng.random() * 9, float("nan"), float("inf"), None, "1"]
                )
                record = story.report(trial, **({} if value is None else {"loss": value}))
                if is_number(value):
                    last[trial] = (value, record.event.t)
                    rises = -1 if mode == "min" else 1
                    if is_finite(value) and (trial not in peaks or (value - peaks[trial][0]) * rises > 0):
                        peaks[trial] = last[trial]
            elif what == "pause":
                running.remove(trial)
                waiting.append(trial)
                story.recover(trial, "ValueError: x")
            elif what in ("end", "fail"):
                running.remove(trial)
                cause = "returned" if what == "end" else "raised"
                story.end(trial, cause, error="" if what == "end" else "ValueError: x")
        for record in story.records[n_seen:]:
            progress.table.apply(record)
            progress.apply(record)
        n_seen = len(story.records)
        if rng.random() < 0.3:
            continue  # nobody asks
        sign = 1 if mode == "min" else -1
        order = {trial: i for i, trial in enumerate(progress.table.rows)}
        ranked = sorted(
            (value * sign, order[trial], trial, value, t)
            for trial, (value, t) in last.items() if is_finite(value)
        )  # fmt: skip
        best = progress.best
        if not ranked:
            assert best is None
        else:
            _, _, trial, value, t = ranked[0]
            assert best == Best(value, trial, t, progress.table.rows[trial].config, *peaks[trial])


def test_a_failed_trial_that_is_tried_again_keeps_its_last_value() -> None:
    story = Story()
    facts = ConsoleFacts("exp", "/results/exp", "local engine", lambda: 0.0, metric="loss", mode="min")
    progress = Progress(facts, TrialTable())
    first, second = story.add({}), story.add({})
    for trial, loss in ((first, 0.1), (second, 0.2)):
        story.start(trial)
        story.report(trial, loss=loss)
    story.end(first, "raised", error="ValueError: x")
    story.end(second)
    story._tell(Ended(9.0, first, 1, "raised", "x", ""), Moved(first, "PENDING", 2, Why("resumed")))
    story.start(first)
    story.report(first, loss=0.3)
    for record in story.records:
        progress.table.apply(record)
        progress.apply(record)
        if record is story.records[-2]:
            assert progress.best is not None
            assert progress.best.trial_id == first
    assert progress.best is not None
    assert progress.best.trial_id == second
