"""What the dashboard costs: 100,000 trials, a run with 500 results a second, and minutes of following it.

    python benchmarks/dashboard.py scale                  100,000 trials with ten hyperparameters
    python benchmarks/dashboard.py scale --keep FOLDER    keeps the journal there, and uses it again
    python benchmarks/dashboard.py live                   from report to paint, and the driver's throughput
    python benchmarks/dashboard.py follow --minutes 30    heap, and records missed over reconnects

Needs the extra `ui`, playwright and Chromium. "scale" measures from the navigation to the painted mark, in a
tab of its own each time: history (a canvas with marks), trials (rows), overview (counts). Heap is the page's,
with its array buffers, after a garbage collection. Tasks are those of the main thread that the browser
reports as long. "live" runs the same search with and without an open page, in turns. Each result is a time
stamp, in hundredths of a second. When a cell of the table of trials changes, the delays of all results since
its value before are counted.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from dashboard_browser import Page, browser, server
from trial_columns import write_journal

SEARCH = """
import sys, time
from overtone import tune

def train(config):
    pace, until = float(sys.argv[2]), time.monotonic() + float(sys.argv[3])
    due = time.monotonic()
    while time.monotonic() < until:
        due += pace
        time.sleep(max(0.0, due - time.monotonic()))
        tune.report({"stamp": int(time.time() % 1000 * 100)})

tune.run(train, name=sys.argv[5], config={"x": tune.uniform(0, 1)}, num_samples=int(sys.argv[4]), verbose=0,
         metric="stamp", mode="max", storage_path=sys.argv[1],
         resources_per_trial={"cpu": 0.01}, max_concurrent_trials=int(sys.argv[4]))
"""
"""Arguments: folder, seconds between two results of a trial, seconds, trials, name."""

TRIALS = 20
"""Trials of a search, all at the same time."""


def scale(folder: Path, trials: int) -> None:
    """Print times, memory and long tasks with many trials."""
    if not (folder / "big").exists():
        write_journal(folder / "big", trials)
    with browser() as chromium, server(folder) as (process, address):
        views: dict[str, tuple[str, str]] = {
            "history": ("history", "canvas"),
            "trials": ("trials", ".grid-body .grid-row"),
            "overview": ("overview", f"text={trials:,}"),
        }
        print(f"{trials:,} trials; the first opening reads the journal")
        for name, (view, mark) in views.items():
            times = []
            for i in range(6):
                page = Page(chromium, address, "big", view)
                times.append(page.open_until(mark))
                if i == 5:
                    print(f"{name}: {page.n_requests} requests, heap {page.heap_bytes() / 1e6:.0f} MB, "
                          f"longest task while loading {page.longest_task_ms():.0f} ms")  # fmt: skip
                page.close()
            first = f" (the first {times[0]:.2f} s)" if name == "history" else ""
            print(f"{name}: painted after {median(times[1:]):.2f} s, "
                  f"of 5: {', '.join(f'{one:.2f}' for one in times[1:])}{first}")  # fmt: skip
        interact(chromium, address)
        print(f"server: {memory(process) / 1e6:.0f} MB")


def interact(chromium: Any, address: str) -> None:
    """Print the longest task of each kind of interaction."""
    page = Page(chromium, address, "big", "history")
    page.open_until("canvas")
    page.settle()
    tasks: dict[str, float] = {}
    box = page.tab.locator("canvas").first.bounding_box()
    x, y, width, height = box["x"], box["y"], box["width"], box["height"]

    def hover() -> None:
        for i in range(60):
            page.tab.mouse.move(x + width * (0.1 + 0.8 * i / 60), y + height * (0.2 + 0.5 * (i % 7) / 7))

    def brush() -> None:
        page.tab.mouse.move(x + width * 0.3, y + height * 0.3)
        page.tab.mouse.down()
        for i in range(20):
            page.tab.mouse.move(x + width * (0.3 + 0.02 * i), y + height * (0.3 + 0.02 * i))
        page.tab.mouse.up()

    tasks["hover over the history"] = page.longest_task_of(hover)
    tasks["brush the history"] = page.longest_task_of(brush)
    page.go("parallel")
    tasks["open parallel coordinates"] = page.longest_task_of(page.settle)
    body = page.tab.locator(".plot-body").first.bounding_box()
    axis = page.tab.locator(".axis-handle").nth(1).bounding_box()
    middle = axis["x"] + axis["width"] / 2

    def brush_axis() -> None:
        page.tab.mouse.move(middle, body["y"] + body["height"] * 0.3)
        page.tab.mouse.down()
        for i in range(20):
            page.tab.mouse.move(middle, body["y"] + body["height"] * (0.3 + 0.02 * i))
        page.tab.mouse.up()
        page.tab.locator(".plot-says code").first.wait_for()

    tasks["brush parallel coordinates"] = page.longest_task_of(brush_axis)
    page.tab.keyboard.press("Escape")
    page.go("trials")
    page.settle()
    sort = page.tab.locator(".grid-head button.sort").nth(3)
    tasks["sort the trials"] = page.longest_task_of(sort.click)
    field = page.tab.locator(".filter-field input")
    tasks["filter the trials"] = page.longest_task_of(
        lambda: (field.fill("loss < 0.3 and "), field.fill("loss < 0.3"))
    )
    tasks["scroll the trials"] = page.longest_task_of(
        lambda: page.tab.locator("[role=grid]").evaluate(
            "grid => { grid.scrollTop = grid.scrollHeight / 2; }"
        )
    )
    for name, longest in tasks.items():
        print(f"{name}: longest task {longest:.0f} ms" if longest else f"{name}: no task over 50 ms")
    print(f"heap after all views: {page.heap_bytes() / 1e6:.0f} MB")
    page.close()


def live(folder: Path, rate: float, seconds: float, rounds: int) -> None:
    """Print the delay from report to paint, and the driver's throughput with and without a page."""
    pace_s = TRIALS / rate
    delays: list[float] = []
    counts: dict[bool, list[float]] = {True: [], False: []}
    with browser() as chromium, server(folder) as (_, address):
        for i in range(2 * rounds):
            is_watched, name = i % 2 == 0, f"live-{i}"
            with search(folder, pace_s, seconds, TRIALS, name) as run:
                if is_watched:
                    wait_for_journal(folder / name)
                    page = Page(chromium, address, name, "trials")
                    page.open_until(".grid-body .grid-row")
                    for before, after, at in page.watch("stamp", seconds / 2):
                        delays += delays_of(before, after, at, pace_s)
                    page.close()
                run.wait()
            counts[is_watched].append(n_results(folder / name) / seconds)
    delays.sort()
    p50, p99 = (delays[int(len(delays) * q)] for q in (0.5, 0.99))
    print(f"{rate:.0f} results a second: from report to paint p50 {p50:.2f} s, p99 {p99:.2f} s "
          f"({len(delays):,} results)")  # fmt: skip
    watched, alone = median(counts[True]), median(counts[False])
    print(f"results a second with a page {watched:.1f}, without {alone:.1f}: {watched / alone:.3f}")


def delays_of(before: float, after: float, at: float, pace_s: float) -> list[float]:
    """Return the seconds from report to paint of all results of a trial since the stamp `before`."""
    age_s = (at % 1000 - after / 100) % 1000
    n = max(1, round((after - before) % 100_000 / 100 / pace_s))
    return [age_s + k * pace_s for k in range(n)]


def follow(folder: Path, minutes: float, rate: float) -> None:
    """Print the growth of the heap, and compare the page with the journal, over lost connections."""
    token = folder / "token"
    token.write_text(secrets.token_urlsafe(32))
    token.chmod(0o600)
    heaps: list[float] = []
    options = ("--token-file", str(token))
    port = 0
    with browser() as chromium, search(folder, TRIALS / rate, minutes * 60, TRIALS, "long") as run:
        wait_for_journal(folder / "long")
        page = None
        for half in range(2):
            with server(folder, *options, port=port) as (_, address):
                if page is None:
                    port = int(address.split("/")[2].rpartition(":")[2])
                    page = Page(chromium, address, "long", "trials")
                    page.open_until(".grid-body .grid-row")
                    page.settle()
                until = time.monotonic() + minutes * 30 * (1 if half == 0 else 1.2)
                while time.monotonic() < until:
                    heaps.append(page.heap_bytes())
                    page.tab.wait_for_timeout(1000 * minutes * 30 / 4)
                    page.cut_connection()
                if half == 1:
                    run.wait()
                    page.tab.wait_for_timeout(8000)
                    shown = page.cells("Results")
                    heaps.append(page.heap_bytes())
        if page is not None:
            page.close()
    recorded = n_results(folder / "long")
    print(f"heap: {', '.join(f'{one / 1e6:.1f}' for one in heaps)} MB over {minutes:g} minutes, "
          f"{len(heaps) - 1} cut connections, one restart of the server")  # fmt: skip
    print(f"results on the page {sum(shown.values()):,.0f}, in the journal {recorded:,}")


@contextmanager
def search(
    folder: Path, pace_s: float, seconds: float, trials: int, name: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a search in a process of its own."""
    script = folder / "search.py"
    script.write_text(SEARCH)
    arguments = [str(folder), str(pace_s), str(seconds), str(trials), name]
    process = subprocess.Popen([sys.executable, str(script), *arguments], start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)


def wait_for_journal(experiment: Path) -> None:
    while not (experiment / "journal.jsonl").exists():
        time.sleep(0.05)


def n_results(experiment: Path) -> int:
    with open(experiment / "journal.jsonl", "rb") as file:
        return sum(b'"e":"reported"' in line[:60] for line in file)


def memory(process: subprocess.Popen[bytes]) -> int:
    """Return the memory of a process and its children that no other process shares, in bytes."""
    one = psutil.Process(process.pid)
    return sum(p.memory_full_info().uss for p in [one, *one.children(recursive=True)])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("scale", "live", "follow"))
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="folder of the journal")
    parser.add_argument("--rate", type=float, default=500.0, help="results a second (%(default)s)")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each run of live (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=3.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["XDG_CACHE_HOME"] = str(Path(temporary) / "cache")  # the same seed writes the same journal
        folder = args.keep or Path(temporary) / "results"
        folder.mkdir(parents=True, exist_ok=True)
        parts: dict[str, Callable[[], None]] = {
            "scale": lambda: scale(folder, args.trials),
            "live": lambda: live(folder, args.rate, args.seconds, args.rounds),
            "follow": lambda: follow(folder, args.minutes, args.rate),
        }
        parts[args.what]()


if __name__ == "__main__":
    main()
