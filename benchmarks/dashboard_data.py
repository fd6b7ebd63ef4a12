"""What the dashboard's data cost for one process: the message of all trials, updates, and answers.

    python benchmarks/dashboard_data.py                    100,000 trials with ten hyperparameters
    python benchmarks/dashboard_data.py --trials 10000
    python benchmarks/dashboard_data.py --keep FOLDER      keeps the journal there, and uses it again

The journal is made by the simulator, as in trial_columns.py. Times are milliseconds of CPU, medians of ten
(first times are marked so); an update is of 125 records, a quarter of a second with 500 results a second.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from trial_columns import write_journal

from overtone.store.folder_mark import JOURNAL
from overtone.ui.data.experiments import Experiments
from overtone.ui.data.followed_journal import FollowedJournal

UPDATES, RECORDS = 20, 125


def measured(name: str, work: Callable[[], Any], times: int = 10) -> Any:
    """Run `work`, and print what it took."""
    found, taken = None, []
    for _ in range(times):
        begun = time.process_time()
        found = work()
        taken.append(1e3 * (time.process_time() - begun))
    size = f"  {len(found) / 1e6:.2f} MB" if isinstance(found, bytes) else ""
    print(f"{name:<28} {taken[0]:9.1f} first {statistics.median(taken):9.1f} ms{size}")
    return found


def updates(journal: Path, folder: Path) -> None:
    """Let a copy of the journal grow, and follow it."""
    data = journal.read_bytes()
    cut = len(data)
    for _ in range(UPDATES * RECORDS + 1):
        cut = data.rfind(b"\n", 0, cut - 1) + 1
    lines = data[cut:].splitlines(keepends=True)
    copy = folder / JOURNAL
    copy.write_bytes(data[:cut])
    del data
    followed = FollowedJournal(copy)
    followed.refresh()
    followed.whole()
    n, key, taken = followed.n, followed.key, []
    for i in range(UPDATES):
        with copy.open("ab") as file:
            file.writelines(lines[i * RECORDS : (i + 1) * RECORDS])
        begun = time.process_time()
        followed.refresh()
        read = time.process_time()
        message = followed.update_since(n, key)
        taken.append((1e3 * (read - begun), 1e3 * (time.process_time() - read), len(message or b"")))
        n = followed.n
    for i, name in enumerate(("reading on", "update")):
        print(f"{name:<28} {'':15} {statistics.median(one[i] for one in taken):9.1f} ms")
    print(f"{'size of an update':<28} {'':15} {statistics.median(one[2] for one in taken) / 1e3:9.1f} kB")


def answers(folder: Path) -> None:
    """Measure what a page asks."""
    experiments = Experiments(folder.parent)
    one = experiments.get(folder.name)
    measured("opening", one.overview, 1)
    measured("all columns", one.columns)
    found = measured("overview", one.overview)
    measured("100 rows", lambda: one.rows(range(100)))
    measured("100 decisions", one.decisions)
    measured("a trial", lambda: one.trial("5"))
    measured("curves of 10 trials", lambda: one.curves([str(i) for i in range(10)]))
    measured("machines", one.machines)
    for name in found["plots"]:
        measured(name, partial(one.plot, name), 3)
    experiments.close()
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        for name in ("VmRSS", "VmHWM"):
            print(next(f"{name} {int(one.split()[1]) // 1000} MB" for one in lines if one.startswith(name)))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    base = args.keep or Path(tempfile.mkdtemp())
    folder = (base / "big").absolute()
    os.environ.setdefault("XDG_CACHE_HOME", str(base / "cache"))
    if not (folder / JOURNAL).exists():
        write_journal(folder, args.trials)
    answers(folder)
    with tempfile.TemporaryDirectory() as copy:
        updates(folder / JOURNAL, Path(copy))
    if args.keep is None:
        shutil.rmtree(base)


if __name__ == "__main__":
    main()
