"""What a trial sends past `tune.report` ends that trial alone; what it reports may be any number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.worker.frames import MARK, framed
from overtone.worker.session.current import current

_OWN = {
    "time_this_iter_s": 0.1, "time_total_s": 0.1, "time_since_restore": 0.1, "timesteps_total": None,
    "timestamp": 1, "iterations_since_restore": 1, "date": "today", "done": False,
}  # fmt: skip
_WRONG = {
    "noise": b"\x00\x01\x02\x03" * 10,
    "a huge frame": MARK + b"\xff\xff\xff\x7f" + b"x" * 1000,
    "no own fields": {"loss": 1.0},
    "another iteration": {**_OWN, "loss": 1.0, "training_iteration": 7},
    "a later result": {**_OWN, "loss": 1.0, "training_iteration": 999_999},
    "no boolean": {**_OWN, "loss": 1.0, "training_iteration": 1, "done": "no"},
    "no mapping": [1],
}
_RIGHT: dict[str, dict[str, Any]] = {
    "no steps": {"loss": 0.5, "timesteps_total": float("nan")},
    "beyond all floats": {"loss": 10**400, "far": {"below": -(10**400)}},
    "a tag": {"loss": 0.5, "x": {"__float__": [1]}},
    "odd names": {"loss": 0.5, "\ud800": "\ud800", "a\nb": "a\nb", "": 1},
    "deep": {"loss": 0.5, "x": json.loads("[" * 300 + "]" * 300)},
}


def train(config: dict[str, Any]) -> None:
    """Reports what is right, and sends what is wrong."""
    name = config["name"]
    if name in _RIGHT:
        tune.report(_RIGHT[name])
    if name not in _WRONG:
        tune.report({"loss": 0.1})
        return
    session: Any = current()
    sent = _WRONG[name]
    if not isinstance(sent, bytes):
        t = 999_999 if name == "a later result" else 1
        head = json.dumps(["reported", session._start.trial_id, session._start.attempt, t, None])
        sent = framed(f"{head}\n{json.dumps(sent)}".encode())
    session._channel._sock.sendall(sent)
    tune.report({"loss": 0.1})  # waits to be killed, as it is not answered


@pytest.mark.parametrize("reuse", [False, True])
def test_nonsense_ends_one_trial_and_odd_numbers_none(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], reuse: bool
) -> None:
    names = [*_WRONG, *_RIGHT, "plain"]
    analysis = tune.run(
        train,
        config={"name": tune.grid_search(names)},
        metric="loss",
        mode="min",
        stop={"loss": -1.0},
        storage_path=str(tmp_path),
        name="nonsense",
        reuse_actors=reuse,
        raise_on_failed_trial=False,
    )
    ended = {trial.config["name"]: trial for trial in analysis.trials}
    assert {name for name, trial in ended.items() if trial.status == "ERROR"} == set(_WRONG)
    for name in _WRONG:
        assert "it sent what no trial sends" in ended[name].error, name
    for name in _RIGHT:
        assert len(list(ended[name].results())) == 2, name
    said = capfd.readouterr()
    assert "disconnected" not in said.err
    assert "13 trials" in said.out
