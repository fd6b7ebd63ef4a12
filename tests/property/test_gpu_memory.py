"""Packing by GPU memory, driven by trials whose true needs nobody knows: it never promises more than there
is, and every trial that could run ends."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from overtone.core.ledger import Ledger
from overtone.core.resources import Resources
from overtone.core.trial import Status
from overtone.testing.packed_gpus import GB, PackedGpus

needs = st.floats(0.5, 7.0)
trials = st.lists(
    st.builds(lambda need, length: {"need": need, "length": length}, needs, st.floats(1, 50)),
    min_size=1,
    max_size=25,
)
amounts = st.one_of(st.just("auto"), st.floats(0.2, 8.0).map(lambda amount: f"{amount:.2f}GB"))
written = st.builds(
    lambda memory, share: {"gpu_memory": memory, **({} if share is None else {"gpu": share})},
    amounts,
    st.sampled_from([None, None, 0.1, 0.5, 1]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([8.0, 8.0, 12.0]), min_size=1, max_size=3), written, trials)
def test_every_trial_ends_well_within_two_retries(sizes: list[float], written: Any, trials: Any) -> None:
    machine = PackedGpus(sizes, written, trials)
    machine.run()
    assert {trial.status for trial in machine.hand.controller.trials.values()} == {Status.TERMINATED}
    assert max(machine.excesses.values(), default=0) <= 2
    assert not any(trial.failures for trial in machine.hand.controller.trials.values())


@settings(max_examples=60, deadline=None)
@given(
    trials,
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 8)), max_size=8),
    st.sampled_from(["auto", "3GB"]),
)
def test_others_come_and_go(trials: Any, others: Any, memory: str) -> None:
    machine = PackedGpus([8.0], {"gpu_memory": memory}, trials)
    for time, amount in sorted(others):
        machine.run(until=time)
        machine.take([amount])
    machine.take([0.0])
    machine.run()
    assert all(trial.status.is_final for trial in machine.hand.controller.trials.values())


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("prt"), st.floats(0.5, 8), st.sampled_from([0.1, 0.25, 1])), max_size=40
    ),
    st.lists(st.floats(1, 10), min_size=1, max_size=3),
)
def test_the_ledger_never_promises_more_than_is_free(steps: Any, sizes: list[float]) -> None:
    taken = dict.fromkeys(range(len(sizes)), 0.0)

    def capacity() -> dict[str, dict[str, float]]:
        found = {"gpu": float(len(sizes)), "gpu_memory": sum(sizes) * GB}
        for index, size in enumerate(sizes):
            found |= {f"gpu_memory:{index}": size * GB, f"gpu_memory_taken:{index}": taken[index] * GB}
        return {"node": found}

    ledger, placed = Ledger(capacity()), {}
    for n, (what, amount, share) in enumerate(steps):
        demand = Resources.of({"gpu_memory": amount * GB, "gpu": share})
        if what == "p":
            could = any(
                size - taken[i]
                - sum(one.gpu_memory / GB for one, at in placed.values() if at == i) >= amount + 1e-6
                and sum(dict(one.bundles[0])["gpu"] for one, at in placed.values() if at == i) + share <= 1 + 1e-9
                for i, size in enumerate(sizes)
            )  # fmt: skip
            found = ledger.place(str(n), demand)
            assert found is not None or not could
            if found is not None:
                ((index, _),) = found.gpus[0]
                placed[str(n)] = (demand, index)
                used = sum(one.gpu_memory for one, at in placed.values() if at == index)
                assert used <= (sizes[index] - taken[index]) * GB + 1
        elif what == "r" and placed:
            ledger.release(placed.popitem()[0])
        elif what == "t":
            taken[n % len(sizes)] = amount / 2
            ledger.set_capacity(capacity())
