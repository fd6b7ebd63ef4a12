"""What the tests of frameworks do with an example: run it, kill its training, and compare it with the plain one."""

from __future__ import annotations

import os
import re
import runpy
import signal
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

from overtone import tune

ROOT = Path(__file__).parents[2]
MOST_LINES = 15
FIRST_KILL = 3
TRIALS = 4  # of the eight on a page: each imports its framework


def plain(name: str) -> Any:
    """Return the function that trains without Overtone, and returns the framework's own history."""
    return runpy.run_path(str(ROOT / "tests/integrations/plain" / f"{name}.py"))["train"]


def added_lines(name: str) -> list[str]:
    """Return the lines of the example's training function and imports that the plain script has not."""
    texts = [
        (ROOT / folder / f"{name}.py")
        .read_text("utf-8")
        .split('if __name__ == "__main__"')[0]
        .splitlines()[1:]
        for folder in ("tests/integrations/plain", "examples/frameworks")
    ]
    changes = list(unified_diff(*texts, n=0, lineterm=""))[2:]
    return [line[1:] for line in changes if line[0] == "+" and line != "+"]


class _KillOnce(tune.Callback):
    """Kills the process of the first trial that has `FIRST_KILL` results, and keeps the results of each trial."""

    def __init__(self) -> None:
        self.results: dict[str, list[dict[str, Any]]] = {}
        self.killed = ""

    def on_trial_result(self, iteration: Any, trials: Any, trial: Any, result: Any, **info: Any) -> None:
        results = self.results.setdefault(trial.trial_id, [])
        results.append(dict(result))
        if not self.killed and len(results) == FIRST_KILL:
            self.killed = trial.trial_id
            os.kill(result["pid"], signal.SIGKILL)

    def curve(self) -> list[dict[str, Any]]:
        """Return the results of the killed trial, the newest of each iteration."""
        results = self.results[self.killed]
        assert len({result["pid"] for result in results}) == 2
        first_again = results[FIRST_KILL]["training_iteration"]
        assert 1 < first_again <= FIRST_KILL + 1  # from a checkpoint, and without a hole
        by_t = {result["training_iteration"]: result for result in results}
        return [by_t[t] for t in sorted(by_t)]


def run_page(name: str, page: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Run the example that a page shows, compare what it printed at the end, and return its variables."""
    text = (ROOT / "docs/frameworks" / f"{page}.md").read_text("utf-8")
    script = ROOT / "examples/frameworks" / f"{name}.py"
    assert f"```python\n{script.read_text('utf-8')}```" in text
    variables = runpy.run_path(str(script), run_name="__main__")
    after = text.split(f"```python\n{script.read_text('utf-8')}```")[1]
    shown = re.findall(r"```text\n(.*?)```", after, re.DOTALL)[0].splitlines()
    printed = capsys.readouterr().out.splitlines()
    is_end = re.compile(r"(\d+\.\d+) with \{(.*)\}")
    ends = [is_end.fullmatch(lines[-1]) for lines in (shown, printed)]
    assert all(ends), printed[-1]
    (value, config), (value_now, config_now) = (end.groups() for end in ends if end)
    assert float(value_now) == pytest.approx(float(value), rel=0.2, abs=0.05)
    assert re.findall(r"'(\w+)'", config_now) == re.findall(r"'(\w+)'", config)
    return variables


def check_page(
    name: str,
    page: str,
    names: dict[str, str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Run `TRIALS` of a page's search, kill one trial, and compare this trial with the plain training.

    Args:
        names: {reported name: name in the history of the plain training}.
    """
    killer, run = _KillOnce(), tune.run

    def run_with_a_kill(*arguments: Any, **named: Any) -> Any:
        changed = {"num_samples": TRIALS, "callbacks": [killer], "stop": _never}
        return run(*arguments, **{**named, **changed})

    monkeypatch.chdir(folder)
    monkeypatch.setattr(tune, "run", run_with_a_kill)
    run_page(name, page, capsys)
    _compare(name, killer.curve(), names)


def check_curve(name: str, config: dict[str, Any], names: dict[str, str], folder: Path) -> None:
    """Kill a trial of an example's training function, and compare it with the plain training.

    Args:
        names: {reported name: name in the history of the plain training}.
    """
    killer = _KillOnce()
    train = runpy.run_path(str(ROOT / "examples/frameworks" / f"{name}.py"))["train"]
    tune.run(
        train, config=config, callbacks=[killer], stop=_never, storage_path=str(folder), verbose=0
    )  # fmt: skip
    _compare(name, killer.curve(), names)


def _never(trial_id: str, result: dict[str, Any]) -> bool:
    """A stop criterion that is asked about each result, so that none is reported ahead."""
    return False


def _compare(name: str, curve: list[dict[str, Any]], names: dict[str, str]) -> None:
    history = plain(name)(curve[0]["config"])
    for reported, own in names.items():
        length = min(len(curve), len(history[own]))
        assert [row[reported] for row in curve[:length]] == pytest.approx(
            list(history[own])[:length], rel=1e-5
        )
        assert len(curve) <= len(history[own]) + 1  # XGBoost reports once more with the final model
