"""How far off the display's estimate of the remaining time is, over the course of recorded runs.

    python benchmarks/remaining_time.py DATA       simulated runs on LCBench, TaskSet and AlgoPerf
    python benchmarks/remaining_time.py FOLDER...  experiments that were run, from their journals

The records are shown to the display's `Progress` in their order, which is asked four times a second or a
thousand times a run, whichever is rarer. The error at a share of the run is (estimated end - end) / end; a
cell is the median over tasks. "jump" is the largest change of the estimated end between two questions, over
the end. "elapsed over ended" is the rule of three: the time per ended trial, times the number of trials.
The rule was chosen on the first two tasks of LCBench, which have lines of their own, and is judged on the
others. The last lines are the medians of the absolute errors, over schedulers and tasks.
"""

from __future__ import annotations

import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path
from statistics import median

from curves import tables

from overtone import tune
from overtone.core.messages import Added
from overtone.core.protocols import TrialScheduler
from overtone.core.table import TrialTable
from overtone.journal.lines import header
from overtone.journal.reader import as_record, read
from overtone.observers.display.display_context import ConsoleFacts
from overtone.observers.display.progress import Progress
from overtone.reading.recorded_goal import recorded_goal
from overtone.tune.schedulers import (
    ASHAScheduler,
    FIFOScheduler,
    HyperBandScheduler,
    MedianStoppingRule,
)

_CHOSEN = ", chosen on"
SHARES = (0.15, 0.25, 0.5, 0.75, 0.9)


def simulated(data: Path, folder: Path) -> Iterator[tuple[str, Path, int | None]]:
    """Yield the name, folder and longest length of simulated runs, which are recorded."""
    families = {
        name: list(tables(data, name))[:n] for name, n in (("lcbench", 8), ("taskset", 4), ("algoperf", 4))
    }
    chosen_on, lcbench = families["lcbench"][:2], families["lcbench"][2:]
    groups = {f"lcbench{_CHOSEN}": chosen_on, **families, "lcbench": lcbench}
    makers: dict[str, Callable[[int], TrialScheduler]] = {
        "asha": lambda max_t: ASHAScheduler(
            max_t=max_t, grace_period=max(1, max_t // 50), reduction_factor=3
        ),
        "asha promote": lambda max_t: ASHAScheduler(
            max_t=max_t, grace_period=max(1, max_t // 50), reduction_factor=3, rule="promote"
        ),
        "hyperband": lambda max_t: HyperBandScheduler(max_t=max_t),
        "median": lambda max_t: MedianStoppingRule(grace_period=5),
        "fifo": lambda max_t: FIFOScheduler(),
    }
    for (group, tasks), kind, workers in product(groups.items(), makers, (4, 32)):
        if kind == "asha promote" and tasks[0].family != "lcbench":
            continue
        for i, task in enumerate(tasks):
            name = f"{group}-{kind}-{workers}-{i}".replace(" ", "_").replace(",", "")
            tune.run(
                task.table, engine=tune.Simulated(workers), scheduler=makers[kind](task.max_t), seed=i,
                num_samples=128, metric=task.metric, mode=task.mode, storage_path=str(folder), name=name,
                verbose=0,
            )  # fmt: skip
            yield (
                f"{group}: {kind}, {workers}",
                folder / name,
                None if kind in ("median", "fifo") else task.max_t,
            )


def errors(
    journal: Path, longest: int | None
) -> tuple[dict[float, float | None], dict[float, float | None], float]:
    """Return the relative errors at each share, of the estimate and of the rule of three, and the jump."""
    metric, mode = recorded_goal(header(journal))
    records = [as_record(entry) for entry in read(journal)]
    end = records[-1].event.time
    now = 0.0
    n = sum(type(choice) is Added for record in records for choice in record.choices)
    facts = ConsoleFacts(
        "exp", "", "", clock=lambda: now, metric=metric, mode=mode, total=lambda: n, longest=longest
    )
    progress = Progress(facts, TrialTable())
    ours: list[tuple[float, float]] = []
    plain: list[tuple[float, float]] = []
    waiting = deque(records)
    step = max(0.25, end / 1000)
    for k in range(1, int(end / step)):
        now = k * step
        while waiting[0].event.time <= now:
            record = waiting.popleft()
            progress.table.apply(record)
            progress.apply(record)
        progress.clear_news()
        left = progress.seconds_left()
        if left is not None:
            ours.append((now, now + left))
        if 2 <= progress.n_ended < n:
            plain.append((now, now / progress.n_ended * n))
    jump = max((abs(b[1] - a[1]) / end for a, b in pairwise(ours)), default=0.0)
    return _at_shares(ours, end), _at_shares(plain, end), jump


def _at_shares(known: list[tuple[float, float]], end: float) -> dict[float, float | None]:
    return {share: _at(known, share, end) for share in SHARES}


def _at(known: list[tuple[float, float]], share: float, end: float) -> float | None:
    before = [estimate for time, estimate in known if time <= share * end]
    return (before[-1] - end) / end if before else None


def _shown(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{100 * median(known):5.0f} %" if known else "      -"


def main() -> None:
    places = [Path(one) for one in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        if (places[0] / "curves").is_dir():
            runs = list(simulated(places[0], Path(folder)))
        else:
            runs = [(one.name, one, None) for one in places]
        print(
            f"{'tasks, scheduler, workers':<40} {'rule':<20} "
            + "  ".join(f"{100 * one:3.0f} %  " for one in SHARES)
            + "  jump"
        )
        together: dict[tuple[str, str], list[dict[float, float | None]]] = {}
        for name in dict.fromkeys(name for name, _, _ in runs):
            found = [errors(one / "journal.jsonl", longest) for other, one, longest in runs if other == name]
            rules = {"estimate": [one[0] for one in found], "elapsed over ended": [one[1] for one in found]}
            for rule, estimates in rules.items():
                cells = "  ".join(_shown([one[share] for one in estimates]) for share in SHARES)
                jump = f"{100 * max(one[2] for one in found):5.1f} %" if rule == "estimate" else ""
                print(f"{name:<40} {rule:<20} {cells}  {jump}", flush=True)
                group = f"{'chosen on' if _CHOSEN in name else 'judged on'}, {name.rpartition(', ')[2]}"
                together.setdefault((group, rule), []).extend(estimates)
        for (group, rule), each in sorted(together.items()):
            sizes = [[abs(size) for one in each if (size := one[share]) is not None] for share in SHARES]
            print(f"{group + ': absolute':<40} {rule:<20} {'  '.join(map(_shown, sizes))}")


if __name__ == "__main__":
    main()
