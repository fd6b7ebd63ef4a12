"""Output, stacks and machines of trials on a cluster."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.control.answers import ControlError
from overtone.control.client import question
from overtone.engines.ray import node_agent
from overtone.errors import OvertoneError
from overtone.reading.machine_samples import machine_samples
from overtone.reading.output_lines import KeptLines
from overtone.worker.machines.sample import MachineSample

pytestmark = pytest.mark.usefixtures("cluster")


def printing(config: dict[str, Any]) -> None:
    for i in range(3000):
        print(f"line {i}")
    tune.report(loss=1.0)


def hanging(config: dict[str, Any]) -> None:
    tune.report(loss=1.0)
    time.sleep(1000)


def kept(folder: Path) -> list[str]:
    (trial,) = [one.name for one in folder.iterdir() if one.is_dir() and (one / "params.json").exists()]
    source = KeptLines(folder / trial, trial)
    try:
        return [line.decode() for _, line in source.lines(is_last=True)]
    finally:
        source.close()


@pytest.mark.parametrize(
    ("carries", "uses_ray"),
    [(False, True), (True, False), *[pytest.param(one, one, marks=pytest.mark.full) for one in (False, True)]],
)
def test_output_is_kept(engine: Any, tmp_path: Path, carries: bool, uses_ray: bool) -> None:
    train = tune.with_resources(printing, {"cpu": 1}, ray=uses_ray)
    tune.run(
        train,
        storage_path=str(tmp_path), name="exp", verbose=0, engine=engine(carries=carries),
    )  # fmt: skip
    lines = kept(tmp_path / "exp")
    if carries:  # only what reaches the driver
        assert lines[:2000] == [f"line {i}" for i in range(2000)]
    else:
        assert lines == [f"line {i}" for i in range(3000)]


def test_stacks_of_a_trial_that_hangs(engine: Any, tmp_path: Path, until: Any) -> None:
    run = tune.start(hanging, storage_path=str(tmp_path), name="exp", verbose=0, engine=engine())
    texts = [""]

    def hangs() -> bool:
        with suppress(ControlError):
            texts.append(question(tmp_path / "exp", "stack", "0"))
        return "in hanging" in texts[-1]

    until(hangs)
    assert texts[-1].startswith("Trial ")
    run.stop_trial("0")
    run.stop()
    with suppress(OvertoneError):
        run.wait(timeout_s=300)


def test_an_agent_samples_its_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import socket

    from overtone.worker.message_codec import CALLER, message_reader

    monkeypatch.setattr(node_agent, "EVERY_S", 0.0)

    class Engine:
        def watch(self, sock: Any, call: Any) -> None:
            self.call = call

        def poll(self, timeout_s: float | None) -> list[Any]:
            theirs.shutdown(socket.SHUT_WR)
            self.call(1)
            return []

        def __getattr__(self, name: str) -> Any:
            return lambda *_: []  # it has no trials and no ranks

    mine, theirs = socket.socketpair()
    relay = node_agent.Relay(mine, Engine(), "a", folder=tmp_path)  # type: ignore[arg-type]
    relay.run()
    relay._is_over = False
    relay._flush()
    _, (kind, _, numbers) = message_reader(CALLER).feed(theirs.recv(1 << 16))
    assert kind == "machine"
    assert len(numbers) >= len(MachineSample._fields) - 1
    mine.close()
    theirs.close()


def is_of_two(found: Any) -> Any:
    """Return the samples of the driver and a node; None if there are none yet."""
    return found if len(found) == 2 else None


def test_samples_of_nodes_reach_the_driver(engine: Any, tmp_path: Path, until: Any) -> None:
    run = tune.start(hanging, storage_path=str(tmp_path), name="exp", verbose=0, engine=engine(), grace_s=0.1)
    found = until(lambda: is_of_two(machine_samples(tmp_path / "exp")))
    assert "driver" in found
    run.stop()
    run.wait(timeout_s=300)
