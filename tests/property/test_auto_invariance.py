"""`scheduler="auto"` decides the same whatever metrics are called, and in whatever units scores and time are."""

from random import Random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from overtone.core import messages as m
from overtone.core.goal import Goal
from overtone.schedulers.auto import AutoScheduler
from overtone.testing.manual_controller import ByHand

LENGTH = 12


def decisions(seed, drift, metric="quality", mode="max", factor=1.0, offset=0.0, unit=1.0, time="step"):
    """Four trials at a time; return the length of each trial."""
    scheduler = AutoScheduler(time_attr=time)
    hand = ByHand(scheduler, cpus=4, goal=Goal(metric, mode, time, is_needed=True), seed=seed)
    random, running, lengths = Random(seed), {}, {}
    sign = 1 if mode == "max" else -1
    for _ in range(LENGTH * 16):
        while len(running) < 4:
            running[hand.run()] = [0, random.randrange(100)]
        trial = random.choice(list(running))
        running[trial][0] += 1
        t, quality = running[trial]
        running[trial][1] = quality + random.randint(-drift, drift)
        reported = {metric: sign * (quality * factor + offset), time: t * unit}
        commands = hand.report(trial, t, None, **reported)
        is_halted = any(type(command) is m.Halt for command in commands)
        if is_halted or t == LENGTH:
            hand.ended(trial, "halted" if is_halted else "returned")
            lengths[hand.trial(trial).index] = t
            del running[trial]
    return lengths


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    drift=st.integers(0, 40),
    metric=st.sampled_from(["loss", "accuracy", "validation/f1", "x"]),
    mode=st.sampled_from(["min", "max"]),
    factor=st.floats(1e-6, 1e6),
    unit=st.floats(1e-6, 1e6),
)
@example(seed=3, drift=2, metric="loss", mode="min", factor=0.1, unit=1 / 3)
def test_decisions_depend_on_ranks_and_ratios_alone(seed, drift, metric, mode, factor, unit):
    plain = decisions(seed, drift)
    assert decisions(seed, drift, metric, mode, factor, 0.0, unit, "seconds") == plain


def test_the_invariance_is_about_searches_that_stop_trials():
    lengths = decisions(3, 2)
    assert sum(length < LENGTH for length in lengths.values()) >= 5
