"""Runs examples/digits.py as it is, and adds up the CPU time that its trials used themselves."""

from __future__ import annotations

import json
import os
import runpy
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from overtone import tune

DEMO = Path(__file__).parent.parent / "examples" / "digits.py"


def counted(train: Any, folder: str) -> Any:
    """`train`, which notes its process's CPU time (seconds, since its start) in `folder` when it ends."""

    def wrapped(config: dict[str, Any], **arguments: Any) -> None:
        try:
            train(config, **arguments)
        finally:  # also when it is halted
            Path(folder, f"{os.getpid()}-{time.monotonic_ns()}").write_text(str(time.process_time()))

    return wrapped


def main() -> None:
    """Print the CPU seconds of all trials, and the seconds of the search."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as storage:
        bind, run, spent = tune.with_parameters, tune.run, {}

        def timed_run(*args: Any, **arguments: Any) -> Any:
            began = time.perf_counter()
            try:
                return run(*args, **arguments)
            finally:
                spent["search_s"] = time.perf_counter() - began

        tune.with_parameters = lambda train, **parameters: bind(counted(train, folder), **parameters)
        tune.run = timed_run
        sys.argv = [str(DEMO), "--storage", storage]
        runpy.run_path(str(DEMO), run_name="__main__")
        spent["cpu_s"] = sum(float(file.read_text()) for file in Path(folder).iterdir())
    print("\n" + json.dumps(spent))


if __name__ == "__main__":
    main()
