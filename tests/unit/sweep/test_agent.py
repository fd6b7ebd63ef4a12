"""An agent says that a process is gone where somebody waits for it, and leaves no file elsewhere."""

from __future__ import annotations

import subprocess
import sys

import pytest

from overtone.program.shared_place import AGENTS
from overtone.sweep.agent import _Agent


@pytest.mark.parametrize("is_awaited", [True, False])
def test_a_task_that_the_driver_has_removed_gets_no_new_file(tmp_path, is_awaited):
    agent = _Agent(str(tmp_path), 1, 0, 1.0, trusts_all=True)
    task = f"{AGENTS}/here/tasks/one.1.run"
    if is_awaited:
        (tmp_path / task).mkdir(parents=True)
        (tmp_path / task / "start.json").write_text("{}")
    runner = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    runner.wait()
    agent._tell_killed(task, runner)
    assert (tmp_path / task / "killed.json").exists() == is_awaited
