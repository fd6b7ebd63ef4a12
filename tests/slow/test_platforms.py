"""The branches for other systems, forced on this one: what docs/platforms.md says of macOS and Windows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from overtone import tune

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
SEARCH = """
import sys
from overtone import tune


def train(config):
    start = tune.get_checkpoint()
    for t in range(start.to_dict()["t"] + 1 if start else 1, 4):
        tune.report({"loss": config["x"] / t}, checkpoint=tune.Checkpoint.from_dict({"t": t}))


if __name__ == "__main__":
    found = tune.run(
        train, config={"x": tune.uniform(0, 1)}, num_samples=3, metric="loss", mode="min", seed=1,
        engine=sys.argv[1], name="search", scheduler="asha", resume="AUTO",
    )
    print(sys.platform, len(found.trials), found.best_trial.checkpoint.to_dict())
"""


def python(platform: str, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments as if on this platform."""
    paths = os.pathsep.join([str(HERE / "platforms" / platform), str(SOURCE)])
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": paths}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=home, capture_output=True, text=True, timeout=110
    )


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "search.py"
    path.write_text(SEARCH, "utf-8")
    return str(path)


@pytest.mark.parametrize("engine", ["local", "inline"])
def test_a_search_runs_and_resumes_on_macos(script: str, tmp_path: Path, engine: str):
    first = python("darwin", tmp_path, script, engine)
    assert first.stdout.splitlines()[-1:] == ["darwin 3 {'t': 3}"], first.stdout + first.stderr
    again = python("darwin", tmp_path, script, engine)
    assert again.stdout.splitlines()[-1:] == ["darwin 3 {'t': 3}"], again.stdout + again.stderr
    assert "Traceback" not in first.stderr + again.stderr


@pytest.mark.parametrize("engine", ["local", "inline"])
def test_a_search_is_refused_on_windows(script: str, tmp_path: Path, engine: str):
    done = python("win32", tmp_path, script, engine)
    assert done.returncode == 1
    assert "searches do not run on Windows" in done.stderr
    assert "AttributeError" not in done.stderr


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_experiments_are_read_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str):
    monkeypatch.setenv("HOME", str(tmp_path))
    tune.run(lambda config: tune.report({"loss": config["x"]}), config={"x": tune.grid_search([2, 1])},
             metric="loss", mode="min", name="read", engine="inline", verbose=0)  # fmt: skip
    read = "from overtone import tune; print(tune.ExperimentAnalysis('overtone_results/read').best_config)"
    assert python(platform, tmp_path, "-c", read).stdout == "{'x': 1}\n"
    for arguments in (["ls"], ["show", "read"], ["best", "read"], ["why", "read", "0"], ["tail", "read"],
                      ["export", "read"], ["ctl", "read", "note", "seen"]):  # fmt: skip
        done = python(platform, tmp_path, "-m", "overtone", *arguments)
        assert (done.returncode, "Error" in done.stderr) == (0, False), (arguments, done.stdout, done.stderr)
