"""What share of the driver's instructions each phase of a trial or a result takes, counted by valgrind.

    PYTHON_3_12 benchmarks/phases.py reused          or fresh, or result
    PYTHON_3_12 benchmarks/phases.py result --functions 40

Python 3.12 or newer gives each function a symbol (`-X perf`), by which callgrind counts. That makes calls
dearer, so these are shares; `instructions.py` has the numbers. As there, two sizes cancel the start-up.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections import Counter
from pathlib import Path

from instructions import HERE, PATIENCE_S, SIZES

PHASES = {
    "the searcher: suggestions": ["InlineHost.submit"],
    "the controller": ["Controller.handle"],
    "the journal": ["Loop._write:"],
    "what people see, and the table of trials": ["Loop._show"],
    "the engine: messages are read and checked": ["Local.poll"],
    "the engine: orders are sent": ["Local.submit"],
    "threads": ["Thread._bootstrap:"],
}
"""Functions that contain no other of these; what is left over is the loop's own."""

_WORK = (
    "import os, shutil, instructions; instructions.work({!r}, {}, {!r}); "
    "shutil.copy(f'/tmp/perf-{{os.getpid()}}.map', {!r})"
)


def counted(name: str, size: int) -> tuple[int, Counter[str]]:
    """Return the instructions of a run, in all and by function with all that it calls."""
    with tempfile.TemporaryDirectory() as folder:
        out, symbols = f"{folder}/out", f"{folder}/map"
        subprocess.run(
            [
                "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--trace-children=no",
                "--child-silent-after-fork=yes", f"--log-file={folder}/log",
                sys.executable, "-X", "perf", "-c", _WORK.format(name, size, folder, symbols),
            ],
            cwd=HERE,
            env={**os.environ, "PYTHONPATH": f"{HERE.parent / 'src'}:{HERE}", "PYTHONHASHSEED": "0"},
            stdout=subprocess.DEVNULL,
            timeout=PATIENCE_S,
            check=True,
        )  # fmt: skip
        return _parsed(Path(out).read_text(), Path(symbols).read_text())


def _parsed(profile: str, symbols: str) -> tuple[int, Counter[str]]:
    rows = sorted(
        (int(at, 16), name) for at, _, name in (line.split(" ", 2) for line in symbols.splitlines())
    )
    starts = [at for at, _ in rows]
    names: dict[str, str] = {}
    found: Counter[str] = Counter()
    total, callee = 0, ""
    is_call = False
    for line in profile.splitlines():
        if line.startswith(("fn=", "cfn=")):
            key, _, name = line.partition("=")[2].partition(" ")
            names[key] = name or names[key]
            callee = names[key].partition("'")[0]  # without the depth of a recursion
        elif line.startswith("calls="):
            is_call = True
        elif line and line[0] in "0123456789+-*":
            cost = int(line.split()[1])
            if is_call and callee.startswith("0x"):
                found[rows[bisect_right(starts, int(callee[2:], 16)) - 1][1].removeprefix("py::")] += cost
            total += 0 if is_call else cost
            is_call = False
    return total, found


def main() -> None:
    options = argparse.ArgumentParser(description="Where the driver's instructions go, by phase.")
    options.add_argument("name", choices=SIZES)
    options.add_argument("--functions", type=int, default=0, help="list so many functions, too")
    given = options.parse_args()
    if sys.version_info < (3, 12):
        options.error("Python 3.12 or newer is needed, for -X perf")
    few, many = SIZES[given.name]
    (total, by_name), (before, by_name_before) = counted(given.name, many), counted(given.name, few)
    by_name.subtract(by_name_before)
    total -= before
    rest = 1.0
    for phase, parts in PHASES.items():
        share = sum(cost for name, cost in by_name.items() if name.startswith(tuple(parts))) / total
        rest -= share
        print(f"{phase:<48}{share:>7.1%}")
    print(f"{'the rest of the loop':<48}{rest:>7.1%}")
    for name, cost in by_name.most_common(given.functions):
        print(f"{cost / (many - few):>12,.0f}  {re.sub(r':.*/src/', ':', name)}")


if __name__ == "__main__":
    main()
