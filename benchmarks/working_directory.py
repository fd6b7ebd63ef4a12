"""CPU time of a change of the working directory: python benchmarks/working_directory.py"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from overtone.core.job import Job
from overtone.store.folder_mark import LOCK, FolderMark
from overtone.worker.working_directory import DriversDirectory, enter

N = 3000


def cpu_us(call: Callable[[str], None]) -> float:
    """Return the CPU time of one call in microseconds, over `N` trials."""
    began = time.process_time()
    for i in range(N):
        call(f"358bb_{i:05d}")
    return (time.process_time() - began) / N * 1e6


def main() -> None:
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "exp")
        folder.mkdir()
        (folder / LOCK).touch()
        job = Job(None, "train", folder, chdir_to_trial_dir=True, mark=FolderMark.of(folder))
        print(f"first attempt of a trial: {cpu_us(lambda trial: enter(job, trial)):.0f} us")
        print(f"folder exists:            {cpu_us(lambda trial: enter(job, trial)):.0f} us")
        os.chdir(home)
        directory = DriversDirectory()

        def visit(trial: str) -> None:
            with directory.visited():
                pass

        with directory.left():
            enter(job, "358bb_00000")
            print(f"driver's code, inline:    {cpu_us(visit):.0f} us")


if __name__ == "__main__":
    main()
