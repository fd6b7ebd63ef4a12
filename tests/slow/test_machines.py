"""A machine that is lost and a driver that is frozen; `tests/chaos/machines.py` does 50 and 20."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

RUN = Path(__file__).parents[1] / "chaos" / "machines.py"

if os.environ.get("CI") != "true":
    pytest.importorskip("moto.server", reason='pip install "moto[server]" s3fs')
    pytest.importorskip("s3fs")


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("deaths", "frozen"), [("1", "0"), pytest.param("2", "0", marks=pytest.mark.full), ("0", "1")])
def test_lost_machines_and_frozen_drivers_lose_nothing(deaths: str, frozen: str) -> None:
    # with this seed a save comes each 0.2 s
    command = [sys.executable, str(RUN), "--deaths", deaths, "--frozen", frozen, "--seed", "11"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing lost, overwritten or deleted" in done.stdout


SCRIPT = """
import sys
from pathlib import Path
from overtone import tune

def train(config):
    first = int(Path(tune.checkpoint, "t").read_text()) if tune.checkpoint else 0
    for t in range(first + 1, 4):
        with tune.checkpoint_dir(step=t) as folder:
            Path(folder, "t").write_text(str(t))
            if t == 2 and not Path(sys.argv[1], "killed").exists():
                Path(folder, "weights").write_bytes(bytes(250_000_000))
        tune.report(score=t)

if __name__ == "__main__":
    tune.run(train, storage_path=sys.argv[1], name="exp", resume="AUTO", metric="score", mode="max", verbose=1,
             tensorboard=False)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="names of processes are read through /proc")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("when", [".saving_*/weights", ".put-*/weights"])
def test_the_space_of_a_save_that_was_cut_short_comes_back(tmp_path: Path, when: str) -> None:
    script = tmp_path / "search.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(tmp_path)]
    driver = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    give_up_at = time.monotonic() + 60
    while not list(tmp_path.glob(f"exp/*/{when}")):
        assert driver.poll() is None
        assert time.monotonic() < give_up_at
        time.sleep(0.001)
    tree = [driver, *psutil.Process(driver.pid).children(recursive=True)]
    for process in reversed(tree):  # a trial before those who would end it in order
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    driver.wait()
    psutil.wait_procs(tree[1:], timeout=60)
    left = [path for pattern in (".put-*", ".saving_*") for path in tmp_path.glob(f"exp/*/{pattern}")]
    (tmp_path / "killed").touch()
    again = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert again.returncode == 0, again.stderr
    if left:  # else the save was whole before the signal came
        assert "overtone: removed 1 unfinished save (" in again.stderr
        assert ") that the journal does not name" in again.stderr
    assert not [path for pattern in (".put-*", ".saving_*") for path in tmp_path.glob(f"exp/*/{pattern}")]
