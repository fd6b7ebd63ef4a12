"""What the controller costs per result, for few and for many trials: no engine, no journal.

The world answers each command at once, as an engine would: ASHA over `n` trials on 64 slots.
"""

from __future__ import annotations

import time
from collections import deque

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.randomness import keyed
from overtone.schedulers.asha import ASHAScheduler

SLOTS = 64
LONGEST = 9


def seconds_per_result(trials: int) -> float:
    """The time spent in `Controller.handle`, over the number of results, for `trials` trials."""
    controller = Controller(
        ASHAScheduler(max_t=LONGEST, grace_period=1, reduction_factor=3),
        Goal("loss", "min", is_needed=True),
        limits=Limits(total=trials, lookahead=SLOTS),
        seed=1,
    )
    events: deque[m.Event] = deque([m.CapacityChanged(0.0, {"node": {"cpu": SLOTS}})])
    reached: dict[str, int] = {}
    results, clock, spent = 0, 0.0, 0.0
    while not controller.is_done:
        event = events.popleft()
        began = time.perf_counter()
        commands = controller.handle(event)[1]
        spent += time.perf_counter() - began
        clock += 1e-3
        for command in commands:
            match command:
                case m.Suggest(index):
                    events.append(m.Suggested(clock, index, {"x": keyed(1, "x", str(index)).random()}))
                case m.Start(trial_id, attempt):
                    events.append(m.Started(clock, trial_id, attempt, "node", 1))
                    reached[trial_id] = 0
                    results += _report(events, controller, reached, trial_id, attempt, command.until_t, clock)
                case m.Proceed(trial_id, attempt, until_t):
                    results += _report(events, controller, reached, trial_id, attempt, until_t, clock)
                case m.Halt(trial_id, attempt):
                    events.append(m.Ended(clock, trial_id, attempt, "halted"))
    return spent / results


def _report(
    events: deque[m.Event], controller: Controller, reached: dict[str, int],
    trial_id: str, attempt: int, until_t: float, clock: float,
) -> int:  # fmt: skip
    """Queue what a trial says until it must wait, or ends; the number of its results."""
    x, n = controller.trials[trial_id].config["x"], 0
    while reached[trial_id] < LONGEST:
        reached[trial_id] += 1
        n += 1
        t = reached[trial_id]
        metrics = {"loss": x / t, "training_iteration": t, "time_total_s": float(t)}
        events.append(m.Reported(clock, trial_id, attempt, t, metrics))
        if t >= until_t:
            return n
    events.append(m.Ended(clock, trial_id, attempt, "returned"))
    return n
