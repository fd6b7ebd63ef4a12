"""What the dashboard's server costs: its start, the time of each answer, and its memory.

    python benchmarks/ui_server.py                     100,000 trials with ten hyperparameters
    python benchmarks/ui_server.py --trials 10000
    python benchmarks/ui_server.py --keep FOLDER       keeps the journal there, and uses it again

The journal is that of `trial_columns.py`. "start" is the CPU time until the server prints its address, and
the time until it has answered a first request for the page. Each answer is asked for once; the memory after
it is the resident one, and its peak so far.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from trial_columns import write_journal

ANSWERS = (
    "overview", "columns", "rows?rows=0-200", "decisions?limit=100", "machines", "plots/optimization_history",
    "plots/param_importances", "plots/slice", "plots/contour", "plots/timeline", "plots/intermediate_values",
    "plots/parallel_coordinate", "columns",
)  # fmt: skip


def status(pid: int, name: str) -> float:
    """Return an entry of a process's status in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(f"{name}:")).split()[1]) * 1024 / 1e6


def cpu_s(pid: int) -> float:
    """Return the CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure one server."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["XDG_CACHE_HOME"] = str(Path(temporary) / "cache")  # the same seed writes the same journal
        folder = args.keep or Path(temporary) / "results"
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "search").exists():
            write_journal(folder / "search", args.trials)
        begun = time.monotonic()
        command = [sys.executable, "-m", "overtone", "ui", str(folder), "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            base, _, token = server.stdout.readline().strip().partition("#token=")
            used_s = cpu_s(server.pid)
            urllib.request.urlopen(base).read()
            print(f"start: {used_s:.2f} s of CPU; first answer after {time.monotonic() - begun:.2f} s")
            headers = {"Authorization": f"Bearer {token}"}
            (search,) = (
                one["id"] for one in json.loads(get(base, "api/experiments", headers))["experiments"]
            )
            for path in (
                "api/experiments",
                *(f"api/experiments/{search}/{one}" for one in ANSWERS),
                "metrics",
            ):
                begun = time.monotonic()
                size = len(get(base, path, headers)) / 1e6
                took_s = time.monotonic() - begun
                used, peak = status(server.pid, "VmRSS"), status(server.pid, "VmHWM")
                print(
                    f"{path:52} {size:6.2f} MB {took_s:6.2f} s   memory {used:4.0f} MB, peak {peak:4.0f} MB"
                )
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


def get(base: str, path: str, headers: dict[str, str]) -> bytes:
    """Return an answer's body."""
    try:
        with urllib.request.urlopen(urllib.request.Request(base + path, headers=headers)) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{path}: {error.read()[:300]!r}") from None


if __name__ == "__main__":
    main()
